"""Strategies that ask for what is taken for positive, which few texts of a rare category are."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from limbeck.annotate.strategies.pool import Chunk, Doubles, Known, mean_of_known, nearness
from limbeck.annotate.strategies.strategy import Strategy, best_label
from limbeck.runtime.confidence import scaled


class LikelyPositives(Strategy[Chunk]):
    """Most likely positive: finds positives of a rare category, and the errors that models are surest of."""

    name: ClassVar[str] = "likely-positives"
    about: ClassVar[str] = "most likely positive"

    def score(self, chunk: Chunk, known: Known) -> Doubles:
        """Give the scaled probability."""
        return best_label(_comparable(chunk.probabilities, chunk))


class FalsePositives(Strategy[Chunk]):
    """Taken for positive, though members disagree and labelled negatives are near."""

    name: ClassVar[str] = "false-positives"
    about: ClassVar[str] = "likely false positives: predicted positive, low agreement, near labelled negatives"

    def score(self, chunk: Chunk, known: Known) -> Doubles:
        """Give disagreement plus how much nearer the nearest negative is than the nearest positive."""
        members = _comparable(chunk.members, chunk)
        # Twice the deviation, which like a difference of cosines seldom leaves the range from 0 to 1.
        apart = 2 * np.sqrt(mean_of_known((members - mean_of_known(members)) ** 2))
        scores = np.full(apart.shape, np.nan)
        for label, taken in enumerate(chunk.decisions.T):
            rows = np.flatnonzero(taken)
            vectors = chunk.directions[rows]
            nearer = nearness(vectors, known.with_answer(label, 0)) - nearness(vectors, known.with_answer(label, 1))
            scores[rows, label] = apart[rows, label] + nearer
        return best_label(scores)


def _comparable(probabilities: Doubles, chunk: Chunk) -> Doubles:
    """Give probabilities that mean the same for every label."""
    return probabilities if chunk.one_class else scaled(probabilities, chunk.thresholds)
