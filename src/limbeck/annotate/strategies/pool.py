"""What a query strategy is told: texts of the pool with what the models say of them, and what is labelled already."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from limbeck.errors import MeasureError

Rows = NDArray[np.int64]
Floats = NDArray[np.floating[Any]]
Doubles = NDArray[np.float64]
Vectors = NDArray[np.float32]
Words = NDArray[np.intp]

# Rows that are compared with all labelled texts at once.
_BLOCK = 1024


class Texts(Protocol):
    """Some texts of the pool, whatever a model says of them."""

    @property
    def rows(self) -> Rows:
        """The caller's numbers of the texts."""
        ...

    @property
    def directions(self) -> Vectors:
        """Embeddings of length 1; one that is all 0 says nothing."""
        ...


@dataclass(frozen=True)
class Chunk:
    """Texts with the caller's numbers of them, and what the models say.

    `committee` holds the probabilities by each fold's model [members, texts, labels], NaN for no answer; one member is
    fine. `thresholds` are [labels]; if `one_class`, exactly one label of a text is right, and they say nothing.
    `vectors` are unit-length embeddings [texts, width]; one that is all 0, or not finite, says nothing.
    """

    rows: Rows
    committee: Floats
    thresholds: Floats
    vectors: Floats
    one_class: bool = False

    def __post_init__(self) -> None:
        """Check that the arrays fit together."""
        texts, shape = len(self.rows), np.shape(self.committee)
        _check(len(shape) == 3 and shape[0] > 0, f"The committee has the shape {shape}, not [members, texts, labels].")
        _check(shape[1] == texts, f"The committee speaks of {shape[1]} texts, of {texts}.")
        _check(np.shape(self.thresholds) == shape[2:], f"{np.size(self.thresholds)} thresholds, {shape[2]} labels.")
        _check_vectors(self.vectors, texts)

    @cached_property
    def directions(self) -> Vectors:
        """Vectors of length 1, 0 where they say nothing."""
        return usable(self.vectors)

    @cached_property
    def members(self) -> Doubles:
        """The committee's probabilities, NaN where there is no answer."""
        return finite(self.committee)

    @cached_property
    def probabilities(self) -> Doubles:
        """The committee's mean [texts, labels]; members without an answer don't count."""
        return mean_of_known(self.members)

    @property
    def decisions(self) -> NDArray[np.bool_]:
        """What the models take for positive [texts, labels]."""
        if self.one_class:
            best = self.probabilities.max(axis=1, keepdims=True, initial=0)
            return np.asarray(self.probabilities == best)
        return np.asarray(self.probabilities >= self.thresholds)


@dataclass(frozen=True)
class TaggedChunk:
    """Sentences with the probabilities of each word's BIO tags, [words, tags] a sentence; the rest as in `Chunk`."""

    rows: Rows
    tags: Sequence[Floats]
    vectors: Floats

    def __post_init__(self) -> None:
        """Check that there is as much of everything."""
        _check(len(self.tags) == len(self.rows), f"{len(self.tags)} sentences have tags, of {len(self.rows)}.")
        _check_vectors(self.vectors, len(self.rows))

    @cached_property
    def directions(self) -> Vectors:
        """Vectors of length 1, 0 where they say nothing."""
        return usable(self.vectors)

    @cached_property
    def sentence(self) -> Words:
        """The place of each word's sentence; words stand one after the other."""
        return np.repeat(np.arange(len(self.tags)), [len(words) for words in self.tags])

    @cached_property
    def doubts(self) -> Doubles:
        """What each word's best tag lacks to certainty; NaN where there is no answer."""
        best = [finite(words).max(axis=1) for words in self.tags if len(words)]
        return 1 - np.concatenate(best, dtype=np.float64) if best else np.zeros(0)


@dataclass(frozen=True)
class Known:
    """What is labelled already: vectors [texts, width] and labels [texts, labels], NaN for those nobody looked at."""

    vectors: Floats
    labels: Floats

    def __post_init__(self) -> None:
        """Check that there is as much of both."""
        _check(np.ndim(self.labels) == 2, f"Known labels have {np.ndim(self.labels)} dimensions, not [texts, labels].")
        _check_vectors(self.vectors, len(self.labels))

    @staticmethod
    def nothing(width: int, labels: int = 1) -> Known:
        """Begin with no label at all."""
        return Known(np.zeros((0, width), dtype=np.float32), np.zeros((0, labels), dtype=np.float32))

    @cached_property
    def directions(self) -> Vectors:
        """Vectors of length 1, 0 where they say nothing."""
        return usable(self.vectors)

    def with_answer(self, label: int, answer: int) -> Vectors:
        """Give the vectors of texts that have this answer, 0 or 1, for a label."""
        columns = self.labels.shape[1]
        _check(label < columns, f"The pool has at least {label + 1} labels, what is known {columns}.")
        return self.directions[np.equal(self.labels[:, label], answer)]


def finite(values: Floats) -> Doubles:
    """Give NaN for what is not finite."""
    given = np.asarray(values, dtype=np.float64)
    return np.where(np.isfinite(given), given, np.nan)


def mean_of_known(values: Doubles) -> Doubles:
    """Give the mean over the first axis of what is not NaN; NaN where all is."""
    given = ~np.isnan(values)
    count = given.sum(axis=0)
    total = np.where(given, values, 0).sum(axis=0)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def usable(vectors: Floats) -> Vectors:
    """Give vectors of length 1; those with a number that is not finite are 0, which is like nothing else."""
    given = np.asarray(vectors, dtype=np.float32)
    given = np.where(np.isfinite(given).all(axis=1, keepdims=True), given, np.float32(0))
    lengths = np.linalg.norm(given, axis=1, keepdims=True)
    return np.asarray(given / np.where(lengths > 0, lengths, 1), dtype=np.float32)


def nearness(vectors: Vectors, others: Vectors) -> Doubles:
    """Give each vector's highest cosine with any of the others; 0 if there is none."""
    found = np.zeros(len(vectors))
    if len(others):
        for start in range(0, len(vectors), _BLOCK):
            found[start : start + _BLOCK] = (vectors[start : start + _BLOCK] @ others.T).max(axis=1)
    return found


def _check_vectors(vectors: Floats, texts: int) -> None:
    shape = np.shape(vectors)
    _check(len(shape) == 2 and shape[0] == texts, f"Vectors have the shape {shape}, for {texts} texts.")


def _check(fits: bool, message: str) -> None:
    if not fits:
        raise MeasureError(message, "Give arrays that fit together.")
