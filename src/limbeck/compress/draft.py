"""A trained student as a float bundle, which the recipes then make smaller."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from torch import nn

import limbeck
from limbeck.compress.export import FARTHEST, export
from limbeck.compress.fuse import fold, fuse_transformer
from limbeck.compress.recipes import FLOAT, backend_of
from limbeck.compress.tables import keep_rows
from limbeck.compress.teachers import network_of
from limbeck.compress.vocabulary import cut_vocabulary, read_differently
from limbeck.compress.work import multiply_adds
from limbeck.config import CompressSettings
from limbeck.errors import RunError
from limbeck.runtime.bundle import Bundle
from limbeck.runtime.manifest import Label, Manifest, Model, Reading
from limbeck.runtime.predictor import Predictor
from limbeck.scorer import Floats, Scorer
from limbeck.students.pieces import Pieces, pieces_of_encoder
from limbeck.students.scorer import StudentScorer
from limbeck.students.transformer import Transformer
from limbeck.teach.calibrate import CalibratedTeacher
from limbeck.teach.lessons import Teacher
from limbeck.teach.network import Encoder
from limbeck.text import Cleaner

# Real texts that graph and network are compared on.
COMPARED = 200
# Real texts that recipes may look at.
SAMPLES = 600
# The share of unseen texts that may be read differently after the vocabulary was cut.
READ_DIFFERENTLY = 0.01


@dataclass(frozen=True)
class Trained:
    """A trained model with its float graph and all that a bundle has to know of it.

    `scorer` is the model itself, `network` what was exported, if it is one; `longest` says how many tokens it can read.
    """

    kind: str
    labels: tuple[str, ...]
    clean: tuple[str, ...]
    one_class: bool
    parameters: int
    pieces: Pieces
    graph: bytes
    scorer: Scorer
    network: nn.Module | None
    longest: int = sys.maxsize

    def multiply_adds(self, tokens: int) -> int:
        """Count the multiplications that a text of so many tokens takes; 0 for a model that counts words."""
        return multiply_adds(export(self.network, self.one_class), tokens) if self.network else 0


@dataclass(frozen=True)
class Draft:
    """A bundle in memory, with how far its probabilities are from the network's own, at most.

    `whole` is the bundle with all of the vocabulary, which is what others are judged by. `samples` are the graph's
    inputs for real texts, one a text.
    """

    bundle: Bundle
    whole: Bundle
    gap: float
    tokens: int
    samples: tuple[Mapping[str, Any], ...] = ()

    def with_graph(self, graph: bytes, recipe: str) -> Bundle:
        """Give the bundle with another graph, for what the recipe's name says to run it."""
        manifest = self.bundle.manifest
        model = replace(manifest.model, recipe=recipe, backend=backend_of(recipe))
        return replace(self.bundle, graph=graph, manifest=replace(manifest, model=model))


def student_graph(student: StudentScorer) -> Trained:
    """Export a student and fuse its graph."""
    network, longest = student.network.cpu().eval(), sys.maxsize
    if isinstance(network, Transformer):
        graph, longest = fused_transformer(network, network.encoder, student.one_class), network.encoder.longest
    else:
        graph = fold(export(network, student.one_class))
    return Trained(
        student.kind,
        student.labels,
        student.clean,
        student.one_class,
        student.parameters,
        student.pieces,
        graph,
        student,
        network,
        longest,
    )


def teacher_graph(teacher: Teacher | CalibratedTeacher) -> Trained:
    """Export a teacher, all its members and its calibration, as one graph."""
    card = teacher.teacher.card if isinstance(teacher, CalibratedTeacher) else teacher.card
    network = network_of(teacher)
    encoder = Encoder(card.encoder.folder)
    graph = fused_transformer(network, encoder, card.one_class)
    pieces = pieces_of_encoder(card.encoder.folder, min(card.max_tokens, encoder.longest))
    parameters = sum(parameter.numel() for parameter in network.parameters())
    return Trained(
        "teacher",
        card.labels,
        card.clean,
        card.one_class,
        parameters,
        pieces,
        graph,
        teacher,
        network,
        encoder.longest,
    )


def fused_transformer(network: nn.Module, encoder: Encoder, one_class: bool) -> bytes:
    """Export a network that reads with an encoder, and fuse what can be fused."""
    for module in network.modules():
        if isinstance(module, Encoder):
            # Fusion knows attention as it is written out.
            module.model.set_attn_implementation("eager")
    config = encoder.model.config
    heads = int(getattr(config, "num_attention_heads", 0) or getattr(config, "n_heads", 0))
    return fuse_transformer(export(network, one_class), heads, encoder.width)


def draft(
    trained: Trained, thresholds: Floats, texts: Sequence[str], settings: CompressSettings, unseen: Sequence[str] = ()
) -> Draft:
    """Make a float bundle and compare it with the model; its vocabulary is cut to that of `texts`, if it may be.

    With `auto`, that is if nearly all of the `unseen` texts keep their pieces.
    """
    graph, pieces = trained.graph, trained.pieces
    told = pieces.tokenizer.to_str().encode()
    whole = Bundle(Path(), _manifest(trained, thresholds, settings, told, pieces.pad_id), graph, told)
    made = Draft(whole, whole, 0.0, pieces.size)
    # A model that counts words knows only those of its texts.
    if settings.vocabulary != "all" and trained.network:
        clean = Cleaner(trained.clean)
        cut = cut_vocabulary(told, [clean(text) for text in texts])
        if settings.vocabulary == "corpus" or read_differently(told, cut, [*map(clean, unseen)]) <= READ_DIFFERENTLY:
            model = onnx.load_from_string(graph)
            keep_rows(model, cut.kept)
            pad_id = int(np.searchsorted(cut.kept, pieces.pad_id))
            manifest = _manifest(trained, thresholds, settings, cut.tokeniser, pad_id)
            smaller = Bundle(Path(), manifest, bytes(model.SerializeToString()), cut.tokeniser)
            made = Draft(smaller, whole, 0.0, len(cut.kept))
    gap = _compare(trained, made.bundle, list(texts)[:COMPARED])
    # Of all texts, labelled ones and the pool's.
    return replace(
        made, gap=gap, samples=_samples(made.bundle, list(texts)[:: max(1, len(texts) // SAMPLES)][:SAMPLES])
    )


def _manifest(
    trained: Trained, thresholds: Floats, settings: CompressSettings, tokeniser: bytes, pad_id: int
) -> Manifest:
    return Manifest(
        name=trained.kind,
        made_with=limbeck.__version__,
        made_at=datetime.now(UTC).isoformat(timespec="seconds"),
        task="multiclass" if trained.one_class else "multilabel",
        labels=[
            Label(name=name, title=name, threshold=limit)
            for name, limit in zip(trained.labels, thresholds.tolist(), strict=True)
        ],
        reading=Reading(
            clean=list(trained.clean),
            max_tokens=trained.pieces.max_tokens,
            long_texts=settings.long_texts,
            overlap=settings.overlap,
            max_windows=settings.max_windows,
            combine=settings.combine,
            pad_id=pad_id,
            unknown_id=_unknown(tokeniser),
        ),
        model=Model(kind=trained.kind, recipe=FLOAT, parameters=trained.parameters, embedding=_width(trained.graph)),
        files={},
    )


def _unknown(tokeniser: bytes) -> int | None:
    """Give the id that stands for what the vocabulary can't write."""
    model = json.loads(tokeniser)["model"]
    if isinstance(model.get("unk_id"), int):
        return int(model["unk_id"])
    found = model["vocab"].get(model.get("unk_token")) if isinstance(model["vocab"], dict) else None
    return None if found is None else int(found)


def _width(graph: bytes) -> int:
    """Give the width of the vector that the last layer reads, 0 where there is none."""
    import onnxruntime  # type: ignore[import-untyped]

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
    if "embedding" not in [output.name for output in session.get_outputs()]:
        return 0
    ids = np.ones((1, 4), dtype=np.int64)
    [found] = session.run(["embedding"], {"input_ids": ids, "attention_mask": ids})
    return int(found.shape[1])


def _compare(trained: Trained, bundle: Bundle, texts: list[str]) -> float:
    """Give the largest difference of a probability; one that is no rounding is an error."""
    # Windows are the bundle's own; the network reads what fits.
    short = replace(bundle, manifest=_truncating(bundle.manifest))
    found = Predictor(short, warn=False).predict_proba(texts) - trained.scorer.predict_proba(texts)
    gap = float(np.abs(found).max(initial=0))
    if not gap <= FARTHEST:
        raise RunError(
            f"The exported {trained.kind} says something else than the model: probabilities are off by {gap:.2g}.",
            "This is a fault of Limbeck or of a library; please report it.",
        )
    return gap


def _samples(bundle: Bundle, texts: list[str]) -> tuple[Mapping[str, Any], ...]:
    """Give the first window of each text as the graph takes it."""
    reads = Predictor(bundle, warn=False).read
    ids = [np.array([reads(text).windows[0]], dtype=np.int64) for text in texts]
    return tuple({"input_ids": one, "attention_mask": np.ones_like(one)} for one in ids)


def _truncating(manifest: Manifest) -> Manifest:
    return replace(manifest, reading=replace(manifest.reading, long_texts="truncate"))
