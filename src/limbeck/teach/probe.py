"""The probe: a frozen encoder whose features are computed once, and a small head a category and fold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save_file

from limbeck.scorer import Floats, fields_alone
from limbeck.teach.card import Card, read_card
from limbeck.teach.features import FeatureCache, Featuriser
from limbeck.teach.heads import Head, hash_of, predict_all

SCORED_AT_ONCE = 4096


@dataclass(frozen=True)
class ProbeTeacher:
    """A head for each label and fold; a label without heads gets its known rate."""

    card: Card
    heads: tuple[tuple[Head, ...], ...]
    cache: FeatureCache | None = None

    __getstate__ = fields_alone

    @property
    def labels(self) -> tuple[str, ...]:
        """The label names."""
        return self.card.labels

    def with_cache(self, cache: FeatureCache) -> ProbeTeacher:
        """Give the same teacher, reading features of known texts from `cache` and keeping those of new ones there."""
        return replace(self, cache=cache)

    def only(self, labels: Sequence[str]) -> ProbeTeacher:
        """Give the heads of just these labels; if one class is right, all of them."""
        if self.card.one_class or tuple(labels) == self.labels:
            return self
        heads = dict(zip(self.labels, self.heads, strict=True))
        return replace(self, card=self.card.only(labels), heads=tuple(heads[label] for label in labels))

    def identity(self) -> dict[str, str]:
        """Give every label the hash of its heads and of all that they read."""
        return self.card.identity([[hash_of(head) for head in heads] for heads in self.heads])

    def predict_proba(self, texts: Sequence[str]) -> Floats:
        """Give probabilities [texts, labels], the mean over the folds."""
        return np.asarray(self.committee(texts).mean(axis=0), dtype=np.float32)

    def committee(self, texts: Sequence[str]) -> Floats:
        """Give every fold's probabilities [folds, texts, labels]."""
        read = self.cache or self._featuriser
        parts = [np.zeros((self.folds, 0, len(self.labels)), dtype=np.float32)]
        for start in range(0, len(texts), SCORED_AT_ONCE):
            vectors = read(self.card.cleaned(texts[start : start + SCORED_AT_ONCE]))
            parts.append(self.score_vectors(vectors))
        return np.concatenate(parts, axis=1)

    @cached_property
    def _featuriser(self) -> Featuriser:
        return Featuriser(self.card.encoder.folder, self.card.max_tokens)

    @property
    def folds(self) -> int:
        """How many heads a label has."""
        return max((len(heads) for heads in self.heads), default=1) or 1

    def score_vectors(self, vectors: Floats) -> Floats:
        """Give every fold's probabilities [folds, texts, labels] of features that are already there."""
        proba = np.empty((self.folds, len(vectors), len(self.labels)), dtype=np.float64)
        proba[:] = self.card.rates
        places = [(column, fold) for column, heads in enumerate(self.heads) for fold in range(len(heads))]
        found = predict_all([self.heads[column][fold] for column, fold in places], vectors)
        for (column, fold), mine in zip(places, found, strict=True):
            proba[fold, :, column] = mine
        return self.card.finish(proba)

    def save(self, folder: Path) -> None:
        """Write the heads and the card."""
        arrays = {
            f"{column}.{fold}.{name}": array
            for column, heads in enumerate(self.heads)
            for fold, head in enumerate(heads)
            for name, array in head.arrays().items()
        }
        save_file({name: np.ascontiguousarray(array) for name, array in arrays.items()}, folder / "heads.safetensors")
        self.card.save(folder, {"heads": [len(heads) for heads in self.heads]})

    @staticmethod
    def load(folder: Path, root: Path = Path()) -> ProbeTeacher:
        """Read what `save` wrote; the encoder is looked for again from `root`."""
        card, about = read_card(folder, root)
        arrays = load_file(folder / "heads.safetensors")
        named: dict[tuple[int, int], dict[str, Floats]] = {}
        for key, array in arrays.items():
            column, fold, name = key.split(".")
            named.setdefault((int(column), int(fold)), {})[name] = array
        heads = tuple(
            tuple(Head.from_arrays(named[column, fold]) for fold in range(count))
            for column, count in enumerate(about["heads"])
        )
        return ProbeTeacher(card, heads)
