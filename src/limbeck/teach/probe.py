"""The probe: a frozen encoder whose features are computed once, and a small head a category and fold."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file

from limbeck.scorer import Floats
from limbeck.teach.encoders import EncoderFiles, find_encoder
from limbeck.teach.features import FeatureCache, Featuriser, encoder_key
from limbeck.teach.heads import Head
from limbeck.text import Cleaner

SCORED_AT_ONCE = 4096


@dataclass(frozen=True)
class ProbeTeacher:
    """A head for each label and fold; a label without heads gets its known rate."""

    labels: tuple[str, ...]
    clean: tuple[str, ...]
    thresholds: NDArray[np.float64]
    heads: tuple[tuple[Head, ...], ...]
    rates: tuple[float, ...]
    encoder: EncoderFiles
    max_tokens: int
    one_class: bool = False
    cache: FeatureCache | None = None

    def with_cache(self, cache: FeatureCache) -> ProbeTeacher:
        """Give the same teacher, reading features of known texts from `cache` and keeping those of new ones there."""
        return replace(self, cache=cache)

    def predict_proba(self, texts: Sequence[str]) -> Floats:
        """Give probabilities [texts, labels], the mean over the folds."""
        return np.asarray(self.committee(texts).mean(axis=0), dtype=np.float32)

    def committee(self, texts: Sequence[str]) -> Floats:
        """Give every fold's probabilities [folds, texts, labels]."""
        cleaner = Cleaner(self.clean)
        read = self.cache or Featuriser(self.encoder.folder, self.max_tokens)
        parts = [np.zeros((self.folds, 0, len(self.labels)), dtype=np.float32)]
        for start in range(0, len(texts), SCORED_AT_ONCE):
            vectors = read([cleaner(text) for text in texts[start : start + SCORED_AT_ONCE]])
            parts.append(self.score_vectors(vectors))
        return np.concatenate(parts, axis=1)

    @property
    def folds(self) -> int:
        """How many heads a label has."""
        return max((len(heads) for heads in self.heads), default=1) or 1

    def score_vectors(self, vectors: Floats) -> Floats:
        """Give every fold's probabilities [folds, texts, labels] of features that are already there."""
        proba = np.zeros((self.folds, len(vectors), len(self.labels)), dtype=np.float32)
        for column, heads in enumerate(self.heads):
            for fold in range(self.folds):
                proba[fold, :, column] = heads[fold].predict(vectors) if heads else self.rates[column]
        if self.one_class:
            proba /= np.maximum(proba.sum(axis=2, keepdims=True), 1e-12)
        return proba

    def save(self, folder: Path) -> None:
        """Write the heads; the encoder stays where it is, named and hashed."""
        arrays = {
            f"{column}.{fold}.{name}": array
            for column, heads in enumerate(self.heads)
            for fold, head in enumerate(heads)
            for name, array in head.arrays().items()
        }
        save_file({name: np.ascontiguousarray(array) for name, array in arrays.items()}, folder / "heads.safetensors")
        about = {
            "kind": "probe",
            "labels": self.labels,
            "clean": self.clean,
            "thresholds": self.thresholds.tolist(),
            "rates": self.rates,
            "heads": [len(heads) for heads in self.heads],
            "encoder": self.encoder.name,
            "encoder_key": encoder_key(self.encoder),
            "max_tokens": self.max_tokens,
            "one_class": self.one_class,
        }
        (folder / "teacher.json").write_text(json.dumps(about, indent=1, ensure_ascii=False), encoding="utf-8")

    @staticmethod
    def load(folder: Path, root: Path = Path()) -> ProbeTeacher:
        """Read what `save` wrote; the encoder is looked for again from `root`."""
        about = json.loads((folder / "teacher.json").read_text(encoding="utf-8"))
        arrays = load_file(folder / "heads.safetensors")
        heads = tuple(
            tuple(_head(arrays, column, fold) for fold in range(count)) for column, count in enumerate(about["heads"])
        )
        return ProbeTeacher(
            labels=tuple(about["labels"]),
            clean=tuple(about["clean"]),
            thresholds=np.array(about["thresholds"]),
            heads=heads,
            rates=tuple(about["rates"]),
            encoder=find_encoder(about["encoder"], root),
            max_tokens=about["max_tokens"],
            one_class=about["one_class"],
        )


def _head(arrays: dict[str, Floats], column: int, fold: int) -> Head:
    prefix = f"{column}.{fold}."
    return Head.from_arrays({k.removeprefix(prefix): v for k, v in arrays.items() if k.startswith(prefix)})
