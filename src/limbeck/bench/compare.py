"""Any models on one set of texts: how good, how long all of them take, how long one takes, how large."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from limbeck.bench.efficiency import time_calls
from limbeck.bench.outsiders import SPACY_TYPES, SpacyTagger
from limbeck.data.dataset import Dataset
from limbeck.data.prepare import Prepared
from limbeck.data.sentences import Sentence, without_other_types
from limbeck.data.splits import JUDGING
from limbeck.data.tagged import PreparedSentences
from limbeck.errors import BadSetting, ExtraMissing, RunError
from limbeck.measure import evaluate
from limbeck.measure.entities import evaluate_entities
from limbeck.measure.taggers import token_accuracy
from limbeck.pipeline import Pipeline
from limbeck.progress import progress
from limbeck.runtime.bundle import FACTS, read_bundle
from limbeck.runtime.load import classifier, tagger
from limbeck.scorer import Span

Answers = Callable[[list[str]], Any]
# Single texts that are timed, each after the others.
TIMED = 200


@dataclass(frozen=True)
class Compared:
    """A model: its name, its form, its bytes, and what answers; `types` are the entity types that it knows, if few."""

    name: str
    form: str
    bytes: int
    answer: Answers
    types: tuple[str, ...] = ()


def compare_models(
    pipeline: Pipeline, models: Sequence[str], on: str = "test", limit: int = 0, batch: int = 1, threads: int = 1
) -> list[dict[str, Any]]:
    """Let models, named or those of the project, answer the same texts; give a row each.

    A model is a folder (a bundle, a teacher's, a student's or a baseline's result, a transformers classifier of texts
    or words), spacy:PACKAGE, or one of the project's own by its name.
    """
    torch.set_num_threads(threads)
    folder = pipeline.folder("data")
    if folder is None:
        raise RunError("The step data hasn't run for these files and settings.", "Run: limbeck run")
    ner = pipeline.project.config.task == "ner"
    rows = _sentences(folder, on, limit) if ner else _rows(folder, on, limit)
    texts = [s.text for s in rows] if isinstance(rows, list) else list(rows.texts)
    if not texts:
        raise RunError(f"There are no texts in {on}.", "Name another part with --on.")
    own = own_models(pipeline, threads)
    unknown = [name for name in models if name not in own and not name.startswith("spacy:") and not Path(name).is_dir()]
    if unknown:
        there = f"Name a folder, or one of {', '.join(own)}." if own else "Name a folder, or make models: limbeck run"
        raise BadSetting(f"There is no model '{unknown[0]}'.", there)
    found = []
    for name in progress(list(models) or list(own), "comparing", len(models) or len(own)):
        model = own[name]() if name in own else open_model(name, pipeline, threads)
        found.append(_row(model, rows, texts, batch))
    return found


def _row(model: Compared, rows: list[Sentence] | Dataset, texts: list[str], batch: int) -> dict[str, Any]:
    groups = [texts[at : at + batch] for at in range(0, len(texts), batch)]
    model.answer(groups[0])
    began = time.perf_counter()
    answers = [answer for group in groups for answer in model.answer(group)]
    seconds = time.perf_counter() - began
    alone = time_calls(model.answer, [[text] for text in texts[:TIMED]], 10.0)
    quality = _of_entities(rows, answers, model.types) if isinstance(rows, list) else _of_labels(rows, answers)
    return {
        "model": model.name,
        "form": model.form,
        **quality,
        "seconds": seconds,
        "samples a second": len(texts) / seconds,
        "latency ms": alone.p50,
        "p99 ms": alone.p99,
        "MB": model.bytes / 1e6,
    }


def _of_entities(rows: list[Sentence], answers: list[list[Span]], types: tuple[str, ...]) -> dict[str, float]:
    """Give exact match, over the types that the model knows if it doesn't know all."""
    known = types or tuple(sorted({span.type for row in rows for span in row.spans()}))
    asked = [without_other_types(row, known) for row in rows]
    mine = [[span for span in spans if span.type in known] for spans in answers]
    found = evaluate_entities([row.spans() for row in asked], mine, known).exact
    accuracy = token_accuracy(asked, mine)
    return {"accuracy": accuracy, "precision": found.precision, "recall": found.recall, "F1": found.f1}


def _of_labels(rows: Dataset, answers: list[list[str]]) -> dict[str, float]:
    """Give the share of texts whose labels are all right, and the means over categories."""
    given = np.array([[float(name in answer) for name in rows.names] for answer in answers], dtype=np.float32)
    found = evaluate(rows.labels, given, np.full(len(rows.names), 0.5), rows.names)
    return {
        "accuracy": 1 - found.subset_loss,
        "precision": found.macro_precision,
        "recall": found.macro_recall,
        "F1": found.macro_f1,
    }


def own_models(pipeline: Pipeline, threads: int) -> dict[str, Callable[[], Compared]]:
    """Give the models of a project by their names."""
    found: dict[str, Callable[[], Compared]] = {}
    teach, distill, compress = (pipeline.folder(name) for name in ("teach", "distill", "compress"))
    if teach is not None:
        found["teacher"] = partial(open_model, str(teach), pipeline, threads, "teacher")
    for title, folder in (("student", distill), ("bundle", compress)):
        for inside in sorted(folder.iterdir()) if folder is not None else []:
            if inside.is_dir():
                name = f"{title}-{inside.name}"
                found[name] = partial(open_model, str(inside), pipeline, threads, name)
    return found


def open_model(told: str, pipeline: Pipeline, threads: int, name: str = "") -> Compared:
    """Open whatever stands in a folder."""
    if told.startswith("spacy:"):
        return _spacy(told.removeprefix("spacy:"))
    folder = Path(told)
    for file, opens in _OPENERS.items():
        if (folder / file).is_file():
            return opens(folder, pipeline, threads, name or folder.name)
    raise BadSetting(
        f"{folder} holds no model that can be compared.",
        "Name a bundle, a result of teach or distill, or a transformers model with its config.json.",
    )


def _bundle(folder: Path, pipeline: Pipeline, threads: int, name: str) -> Compared:
    bundle = read_bundle(folder)
    form, size = bundle.manifest.model.recipe, _size(folder)
    if bundle.manifest.task == "ner":
        return Compared(name, form, size, tagger(bundle, threads).tag)
    return Compared(name, form, size, classifier(bundle, threads, warn=False).predict)


def _tagger(folder: Path, pipeline: Pipeline, threads: int, name: str) -> Compared:
    from limbeck.tagging.student import load_tagger_student
    from limbeck.tagging.teacher import load_tagger_teacher

    if (folder / "tokenizer.json").is_file():
        student = load_tagger_student(folder)
        return Compared(name, "torch", _size(folder), student.tag)
    teacher = load_tagger_teacher(folder, pipeline.project.root)
    return Compared(name, "torch", _size(folder), teacher.tag)


def _teacher(folder: Path, pipeline: Pipeline, threads: int, name: str) -> Compared:
    from limbeck.bench.contenders import Counting
    from limbeck.teach.kinds import load_teacher

    teacher = load_teacher(folder, pipeline.project.root)
    limits = teacher.card.thresholds.astype(np.float32)
    return Compared(name, "torch", _size(folder), Counting(teacher, limits).predict)


def _student(folder: Path, pipeline: Pipeline, threads: int, name: str) -> Compared:
    from limbeck.bench.contenders import Counting
    from limbeck.measure.compare import load_measured
    from limbeck.students.scorer import load_student

    student, measure = load_student(folder), pipeline.folder("measure")
    told = load_measured(measure).get(f"student-{folder.name}") if measure else None
    limits = np.array(told["thresholds"] if told else [0.5] * len(student.labels), dtype=np.float32)
    return Compared(name, "torch", _size(folder), Counting(student, limits).predict)


def _transformers(folder: Path, pipeline: Pipeline, threads: int, name: str) -> Compared:
    """Open a transformers model by what its configuration says that it is."""
    told = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    kinds = " ".join(told.get("architectures") or [])
    if "TokenClassification" in kinds:
        from limbeck.tagging.ready import ReadyTagger

        tagger = ReadyTagger(folder)
        return Compared(name, "torch", _size(folder), tagger.tag, tagger.labels)
    if "SequenceClassification" in kinds:
        return Compared(name, "torch", _size(folder), _Classifier(folder).predict)
    raise BadSetting(
        f"{folder} holds no classifier of texts or of words: config.json says {kinds or 'nothing'}.", "Name another."
    )


class _Classifier:
    """A transformers classifier of texts: labels past 0.5, or the likeliest if one is right."""

    def __init__(self, folder: Path) -> None:
        from transformers import AutoModelForSequenceClassification, AutoTokenizer

        self.tokenizer: Any = AutoTokenizer.from_pretrained(folder)
        self.model: Any = AutoModelForSequenceClassification.from_pretrained(folder, local_files_only=True).eval()
        config = self.model.config
        self.names = [str(config.id2label[number]) for number in range(config.num_labels)]
        self.one = config.problem_type != "multi_label_classification" and config.num_labels > 1

    @torch.inference_mode()
    def predict(self, texts: Sequence[str]) -> list[list[str]]:
        given = self.tokenizer(list(texts), truncation=True, padding=True, return_tensors="pt")
        logits = self.model(**given).logits
        if self.one:
            return [[self.names[number]] for number in logits.argmax(dim=1).tolist()]
        return [[name for name, yes in zip(self.names, row, strict=True) if yes] for row in (logits > 0).tolist()]


def _spacy(package: str) -> Compared:
    tagger = SpacyTagger(package, SPACY_TYPES)
    return Compared(tagger.name, "spaCy", tagger.bytes, tagger.tag, tagger.labels)


_OPENERS: dict[str, Callable[[Path, Pipeline, int, str], Compared]] = {
    FACTS: _bundle,
    "tagger.json": _tagger,
    "teacher.json": _teacher,
    "student.json": _student,
    "config.json": _transformers,
}


def _sentences(folder: Path, on: str, limit: int) -> list[Sentence]:
    prepared = PreparedSentences.load(folder)
    found = {"test": prepared.test, "dev": prepared.dev, "judging": prepared.dev_half(JUDGING)}[on]
    return found[:limit] if limit else found


def _rows(folder: Path, on: str, limit: int) -> Dataset:
    prepared = Prepared.load(folder)
    parts = {"test": prepared.test, "dev": prepared.dev, "judging": prepared.dev_half(JUDGING)}
    found = parts[on]
    if found is None:
        raise RunError("This project has no test set.", "Compare on dev's judging half: --on judging")
    return found.take(range(min(limit, len(found)))) if limit else found


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def draw(rows: Sequence[dict[str, Any]], file: Path) -> None:
    """Draw F1 against samples a second, F1 against the time of all texts, and latencies."""
    try:
        import matplotlib
    except ImportError:
        raise ExtraMissing("report", "Drawing charts") from None
    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    figure, places = plt.subplots(1, 3, figsize=(14, 4.4), width_ratios=(1, 1, 0.8))
    colours = plt.get_cmap("tab10" if len(rows) <= 10 else "tab20")
    for place, column, title in (
        (places[0], "samples a second", "samples a second"),
        (places[1], "seconds", "seconds for all"),
    ):
        for number, row in enumerate(rows):
            place.scatter(row[column], row["F1"], s=160, zorder=3, color=colours(number % colours.N), alpha=0.8)
            place.annotate(str(number + 1), (row[column], row["F1"]), ha="center", va="center", fontsize=8, zorder=4)
        place.set(xscale="log", xlabel=title, ylabel="F1")
        place.grid(alpha=0.3)
        place.margins(x=0.15, y=0.15)
    names = [f"{number}  {row['model']}, {row['form']}" for number, row in enumerate(rows, 1)]
    bars = [colours(number % colours.N) for number in range(len(rows))]
    places[2].barh(names, [row["latency ms"] for row in rows], color=bars)
    places[2].invert_yaxis()
    places[2].set(xscale="log", xlabel="milliseconds a text (p50)")
    places[2].tick_params(axis="y", labelsize=8)
    places[2].grid(alpha=0.3, axis="x")
    figure.tight_layout()
    figure.savefig(file, metadata={"Date": None} if file.suffix == ".svg" else None)
    plt.close(figure)
