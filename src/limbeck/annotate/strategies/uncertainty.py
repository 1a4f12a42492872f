"""Strategies that ask for what the models are not sure of."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from limbeck.annotate.strategies.pool import Chunk, Doubles, Known, mean_of_known
from limbeck.annotate.strategies.strategy import Strategy, best_label
from limbeck.runtime.confidence import confidence


class LeastConfident(Strategy[Chunk]):
    """Closest to the threshold, each side scaled to the same length."""

    name: ClassVar[str] = "confidence"
    about: ClassVar[str] = "least scaled confidence: closest to the threshold"

    def score(self, chunk: Chunk, known: Known) -> Doubles:
        """Give what confidence lacks to 1."""
        if chunk.one_class:
            return best_label(1 - chunk.probabilities.max(axis=1, keepdims=True, initial=0))
        return best_label(1 - confidence(chunk.probabilities, chunk.thresholds))


class Entropy(Strategy[Chunk]):
    """Closest to even odds, whatever the threshold."""

    name: ClassVar[str] = "entropy"
    about: ClassVar[str] = "highest entropy: closest to even odds, whatever the threshold"

    def score(self, chunk: Chunk, known: Known) -> Doubles:
        """Give bits."""
        return best_label(_entropy(chunk.probabilities, chunk.one_class))


class SmallestMargin(Strategy[Chunk]):
    """The shortest way to another answer: over the threshold, or to the second best class."""

    name: ClassVar[str] = "margin"
    about: ClassVar[str] = "smallest margin: the shortest way to another answer"

    def score(self, chunk: Chunk, known: Known) -> Doubles:
        """Give 1 less the difference."""
        if chunk.one_class and chunk.probabilities.shape[1] > 1:
            first, second = np.sort(chunk.probabilities, axis=1)[:, :-3:-1].T
            return best_label(1 - (first - second)[:, None])
        return best_label(1 - np.abs(chunk.probabilities - chunk.thresholds))


class Disagreement(Strategy[Chunk]):
    """Where the members of the committee are sure of different answers; with one member, any text."""

    name: ClassVar[str] = "committee"
    about: ClassVar[str] = "the folds' models disagree: each is surer than all together"

    def score(self, chunk: Chunk, known: Known) -> Doubles:
        """Give the bits that an answer would tell of the members: entropy of their mean less their mean entropy."""
        return best_label(
            _entropy(chunk.probabilities, chunk.one_class) - mean_of_known(_entropy(chunk.members, chunk.one_class))
        )


def _entropy(probabilities: Doubles, one_class: bool) -> Doubles:
    """Give bits a label [..., labels], or of all classes together [..., 1]."""
    if one_class:
        return np.asarray(_bits(probabilities).sum(axis=-1, keepdims=True))
    return _bits(probabilities) + _bits(1 - probabilities)


def _bits(probabilities: Doubles) -> Doubles:
    inside = np.clip(probabilities, 1e-12, 1)
    return np.asarray(-inside * np.log2(inside))
