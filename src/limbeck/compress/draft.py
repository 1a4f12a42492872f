"""A trained student as a float bundle, which the recipes then make smaller."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import onnx

from limbeck.compress.export import FARTHEST, export
from limbeck.compress.fuse import fold, fuse_transformer
from limbeck.compress.tables import keep_rows
from limbeck.compress.vocabulary import cut_vocabulary
from limbeck.config import CompressSettings
from limbeck.errors import RunError
from limbeck.runtime.bundle import Bundle
from limbeck.runtime.manifest import Label, Manifest, Model, Reading
from limbeck.runtime.predictor import Predictor
from limbeck.scorer import Floats
from limbeck.students.scorer import StudentScorer
from limbeck.students.transformer import Transformer
from limbeck.text import Cleaner

# Real texts that graph and network are compared on.
COMPARED = 200


@dataclass(frozen=True)
class Draft:
    """A bundle in memory, with how far its probabilities are from the network's own, at most."""

    bundle: Bundle
    gap: float
    tokens: int

    def with_graph(self, graph: bytes, recipe: str) -> Bundle:
        """Give the bundle with another graph."""
        manifest = self.bundle.manifest
        model = manifest.model.model_copy(update={"recipe": recipe})
        return replace(self.bundle, graph=graph, manifest=manifest.model_copy(update={"model": model}))


def draft(
    student: StudentScorer,
    about: Manifest,
    thresholds: Floats,
    texts: Sequence[str],
    settings: CompressSettings,
) -> Draft:
    """Export a student, fuse its graph and cut its vocabulary to that of `texts`; compare it with the network.

    `about` tells what the bundle shall say of itself; labels, reading and model are filled in.
    """
    graph = _graph(student)
    tokeniser, kept = student.pieces.tokenizer.to_str().encode(), np.arange(student.pieces.size)
    pad_id = student.pieces.pad_id
    if settings.vocabulary == "corpus":
        clean = Cleaner(student.clean)
        cut = cut_vocabulary(tokeniser, [clean(text) for text in texts])
        model = onnx.load_from_string(graph)
        keep_rows(model, cut.kept)
        graph, tokeniser, kept = bytes(model.SerializeToString()), cut.tokeniser, cut.kept
        pad_id = int(np.searchsorted(kept, pad_id))
    manifest = about.model_copy(
        update={
            "labels": [
                Label(name=name, title=next((k.title for k in about.labels if k.name == name), name), threshold=limit)
                for name, limit in zip(student.labels, thresholds.tolist(), strict=True)
            ],
            "reading": Reading(
                clean=list(student.clean),
                max_tokens=student.pieces.max_tokens,
                long_texts=settings.long_texts,
                overlap=settings.overlap,
                max_windows=settings.max_windows,
                combine=settings.combine,
                pad_id=pad_id,
            ),
            "model": Model(kind=student.kind, recipe="float", parameters=student.parameters, embedding=_width(graph)),
        }
    )
    made = Draft(Bundle(Path(), manifest, graph, tokeniser), 0.0, len(kept))
    return replace(made, gap=_compare(student, made.bundle, list(texts)[:COMPARED]))


def _graph(student: StudentScorer) -> bytes:
    network = student.network.cpu().eval()
    if isinstance(network, Transformer):
        return fused_transformer(network, student.one_class)
    return fold(export(network, student.one_class))


def fused_transformer(network: Transformer, one_class: bool) -> bytes:
    """Export a transformer and fuse what can be fused."""
    config = network.encoder.model.config
    # Fusion knows attention as it is written out.
    network.encoder.model.set_attn_implementation("eager")
    heads = int(getattr(config, "num_attention_heads", 0) or getattr(config, "n_heads", 0))
    return fuse_transformer(export(network, one_class), heads, network.encoder.width)


def _width(graph: bytes) -> int:
    import onnxruntime  # type: ignore[import-untyped]

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
    ids = np.ones((1, 4), dtype=np.int64)
    [found] = session.run(["embedding"], {"input_ids": ids, "attention_mask": ids})
    return int(found.shape[1])


def _compare(student: StudentScorer, bundle: Bundle, texts: list[str]) -> float:
    """Give the largest difference of a probability; one that is no rounding is an error."""
    # Windows are the bundle's own; the network reads what fits.
    short = replace(bundle, manifest=_truncating(bundle.manifest))
    found = Predictor(short).predict_proba(texts) - student.predict_proba(texts)
    gap = float(np.abs(found).max(initial=0))
    if not gap <= FARTHEST:
        raise RunError(
            f"The exported {student.kind} says something else than the network: probabilities are off by {gap:.2g}.",
            "This is a fault of Limbeck or of a library; please report it.",
        )
    return gap


def _truncating(manifest: Manifest) -> Manifest:
    return manifest.model_copy(update={"reading": manifest.reading.model_copy(update={"long_texts": "truncate"})})
