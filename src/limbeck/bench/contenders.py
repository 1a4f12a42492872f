"""The models of a project in every form in which they can answer: torch, ONNX, 8 bits."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol

import numpy as np
import onnx
import torch
from torch import nn

from limbeck.baselines import BaselineScorer
from limbeck.baselines.kinds import KINDS as BASELINES
from limbeck.bench.efficiency import A_BASELINE, A_BUNDLE, A_STUDENT, A_TEACHER, Serving, serving_process
from limbeck.compress.draft import Draft, Trained, draft, student_graph, teacher_graph
from limbeck.compress.recipes import RECIPES, Circumstances
from limbeck.config import CompressSettings
from limbeck.data.prepare import Prepared
from limbeck.measure.compare import load_measured
from limbeck.pipeline import Pipeline
from limbeck.runtime.bundle import CARD, GRAPH, TOKENISER, Bundle, read_bundle, write_facts
from limbeck.runtime.predictor import Predictor
from limbeck.runtime.processor import saturates
from limbeck.scorer import Floats, Scorer
from limbeck.steps.compressing import folder_of
from limbeck.students.network import Reading
from limbeck.students.scorer import load_student
from limbeck.teach.calibrate import CalibratedTeacher, load_calibrated
from limbeck.teach.fine_tuned import FineTunedTeacher
from limbeck.teach.lessons import Teacher

# The recipe of a teacher's 8-bit form; students have the one that the gate took.
TEACHERS_RECIPE = "int8-channels"
# Texts that torch works on at a time when there are very many.
AT_ONCE = 128
# A bundle is loaded so many times, for the median.
LOADS = 5
# Exported models are compared with their networks on so many texts.
COMPARED = 200


class Answering(Protocol):
    """What is timed: from raw texts to labels."""

    def predict(self, texts: Sequence[str]) -> list[list[str]]:
        """Give each text's labels."""
        ...

    def predict_proba(self, texts: Sequence[str]) -> Floats:
        """Give probabilities [texts, labels]."""
        ...


@dataclass(frozen=True)
class Contender:
    """A model in one form; `start` makes it ready to answer with so many threads.

    `measured` is macro-F1 by part of the data, of forms that the step measure knows. `loading` and `folders` say how
    another process gets it; a `bundle` in memory can be written for that.
    """

    model: str
    form: str
    start: Callable[[int], Answering]
    thresholds: Floats
    bytes: int
    parameters: int
    measured: dict[str, float] = field(default_factory=dict)
    multiply_adds: Callable[[int], int] | None = None
    loading: str = A_BUNDLE
    folders: tuple[Path | None, ...] = ()
    bundle: Bundle | None = None

    @property
    def served(self) -> bool:
        """Whether it is what would be served: a bundle on disk."""
        return self.loading == A_BUNDLE and bool(self.folders)

    def serving(self, texts: Sequence[str]) -> Serving | None:
        """Say what a process needs that does nothing but answer; None where no process could load it."""
        if self.folders:
            return serving_process(self.loading, self.folders, texts, LOADS if self.served else 1)
        if self.bundle is None:
            return None
        with TemporaryDirectory() as folder:
            return serving_process(self.loading, [_written(self.bundle, Path(folder))], texts)


class InTorch:
    """A network that reads, as torch runs it, with a bundle's tokeniser and thresholds."""

    def __init__(self, network: nn.Module, like: Predictor, threads: int) -> None:
        """Take the reading of texts from a predictor with the same tokeniser."""
        torch.set_num_threads(threads)
        self.network, self.like = network.eval(), like

    @torch.inference_mode()
    def predict_proba(self, texts: Sequence[str]) -> Floats:
        """Give probabilities [texts, labels]; long texts are cut."""
        some = [texts[at : at + AT_ONCE] for at in range(0, len(texts), AT_ONCE)]
        return np.concatenate([self._together(batch) for batch in some])

    def _together(self, texts: Sequence[str]) -> Floats:
        windows = [self.like.read(text).windows[0] for text in texts]
        ids = torch.full((len(windows), max(map(len, windows))), self.like.manifest.reading.pad_id)
        mask = torch.zeros_like(ids)
        for row, window in enumerate(windows):
            ids[row, : len(window)] = torch.tensor(window)
            mask[row, : len(window)] = 1
        seen: Reading = self.network.read(ids, mask)  # type: ignore[operator]
        one_class = self.like.manifest.task == "multiclass"
        proba = torch.softmax(seen.logits, dim=1) if one_class else torch.sigmoid(seen.logits)
        found: Floats = proba.numpy()
        return found

    def predict(self, texts: Sequence[str]) -> list[list[str]]:
        """Give each text's labels."""
        return self.like.chosen(self.predict_proba(texts))


@dataclass(frozen=True)
class Counting:
    """A scorer without a network, with thresholds."""

    scorer: Scorer
    thresholds: Floats

    def predict_proba(self, texts: Sequence[str]) -> Floats:
        """Give probabilities [texts, labels]."""
        return self.scorer.predict_proba(texts)

    def predict(self, texts: Sequence[str]) -> list[list[str]]:
        """Give each text's labels."""
        names = np.array(self.scorer.labels)
        return [names[row >= self.thresholds].tolist() for row in self.predict_proba(texts)]


def contenders(pipeline: Pipeline, max_tokens: int) -> Iterator[Contender]:
    """Give all models in all forms, reading up to `max_tokens` of a text if their networks can."""
    folders = {name: pipeline.folder(name) for name in ("data", "baselines", "teach", "distill", "compress", "measure")}
    measured = load_measured(_there(folders["measure"]))
    known = {name: _Known.of(told) for name, told in measured.items()}
    prepared = Prepared.load(_there(folders["data"]))
    config = pipeline.project.config
    calibrate = pipeline.folder("calibrate")
    teacher = load_calibrated(_there(folders["teach"]), calibrate, pipeline.project.root)
    for name, form in _sizes(teacher).items():
        mine = known[f"teacher-{config.teach.kind}"]
        whole = mine if form is teacher else replace(mine, macro_f1={})
        there = (_there(folders["teach"]), calibrate, pipeline.project.root) if form is teacher else ()
        yield from _of_network(name, teacher_graph(form), whole, prepared, max_tokens, A_TEACHER, there)
    for name, mine in known.items():
        kind = name.removeprefix("student-")
        bundle = _there(folders["compress"]) / folder_of(name)
        made = _there(folders["baselines" if kind == name else "distill"]) / kind if "teacher-" not in name else None
        if made is not None and kind in BASELINES:
            yield from _of_words(f"{kind}, distilled" if kind != name else kind, made, mine, bundle)
        elif made is not None:
            trained = student_graph(load_student(made))
            yield from _of_network(kind, trained, mine, prepared, max_tokens, A_STUDENT, (made,), bundle)


def _of_words(name: str, folder: Path, known: _Known, bundle: Path) -> Iterator[Contender]:
    """Give a model that counts words as Python runs it and, where it became one, as a bundle."""
    scorer = Counting(BaselineScorer.load(folder), known.thresholds)
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    yield Contender(
        name, "python", lambda _: scorer, known.thresholds, size, 0, known.macro_f1, None, A_BASELINE, (folder,)
    )
    if bundle.is_dir():
        small = read_bundle(bundle)
        start = lambda n: Predictor(small, n, warn=False)  # noqa: E731
        held, form = small.manifest.model.parameters, f"onnx {small.manifest.model.recipe}"
        yield Contender(name, form, start, known.thresholds, len(small.graph), held, folders=(bundle,))


@dataclass(frozen=True)
class _Known:
    thresholds: Floats
    macro_f1: dict[str, float]

    @staticmethod
    def of(told: dict[str, Any]) -> _Known:
        parts = {part: float(found["macro_f1"]) for part, found in told["figures"].items()}
        return _Known(np.array(told["thresholds"], dtype=np.float32), parts)


def _there(folder: Path | None) -> Path:
    assert folder is not None
    return folder


def _sizes(teacher: Teacher | CalibratedTeacher) -> dict[str, Teacher | CalibratedTeacher]:
    """Give a teacher whole and, if it has a network a fold, one of these alone."""
    inner = teacher.teacher if isinstance(teacher, CalibratedTeacher) else teacher
    if not isinstance(inner, FineTunedTeacher) or inner.card.kind != "partial" or len(inner.members) < 2:
        return {"teacher": teacher}
    one = replace(inner, members=inner.members[:1])
    alone = replace(teacher, teacher=one) if isinstance(teacher, CalibratedTeacher) else one
    return {f"teacher, {len(inner.members)} networks": teacher, "teacher, 1 network": alone}


def _of_network(
    name: str,
    trained: Trained,
    known: _Known,
    prepared: Prepared,
    max_tokens: int,
    loading: str,
    folders: tuple[Path | None, ...],
    bundle: Path | None = None,
) -> Iterator[Contender]:
    limits = known.thresholds
    whole = draft(trained, limits, prepared.train.texts[:COMPARED], CompressSettings(vocabulary="all"))
    room = min(max(max_tokens, trained.pieces.max_tokens), trained.longest)
    plain = with_room(whole.bundle, room)
    held, work = numbers_of(trained.graph), trained.multiply_adds
    network = trained.network
    assert network is not None
    in_torch = lambda n: InTorch(network, Predictor(plain, warn=False), n)  # noqa: E731
    yield Contender(name, "torch", in_torch, limits, 4 * held, held, known.macro_f1, work, loading, folders)
    small = _small(whole, bundle)
    for form, one in (("onnx", whole.bundle), (small.manifest.model.recipe, small)):
        roomy = with_room(one, room)
        yield Contender(
            name,
            form,
            lambda n, one=roomy: Predictor(one, n, warn=False),  # type: ignore[misc]
            limits,
            len(one.graph),
            held,
            {},
            work,
            folders=() if form == "onnx" or bundle is None else (bundle,),
            bundle=one,
        )


def _small(whole: Draft, bundle: Path | None) -> Bundle:
    if bundle is not None:
        return read_bundle(bundle)
    return whole.with_graph(RECIPES[TEACHERS_RECIPE](whole.bundle.graph, Circumstances(saturates())), TEACHERS_RECIPE)


def numbers_of(graph: bytes) -> int:
    """Count the floating-point numbers that a graph holds: the parameters that it runs with."""
    held = onnx.load_from_string(graph).graph.initializer
    return sum(math.prod(tensor.dims) for tensor in held if tensor.data_type == onnx.TensorProto.FLOAT)


def _written(bundle: Bundle, folder: Path) -> Path:
    (folder / GRAPH).write_bytes(bundle.graph)
    (folder / TOKENISER).write_bytes(bundle.tokeniser)
    (folder / CARD).touch()
    write_facts(folder, bundle.manifest)
    return folder


def with_room(bundle: Bundle, max_tokens: int) -> Bundle:
    """Let a bundle read more of a text."""
    reading = replace(bundle.manifest.reading, max_tokens=max_tokens, long_texts="truncate")
    return replace(bundle, manifest=replace(bundle.manifest, reading=reading))
