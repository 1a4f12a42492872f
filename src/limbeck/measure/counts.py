"""Decisions, how often they were right, and the ratios made of that."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from limbeck.measure.checks import as_proba, as_thresholds

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


def decide(proba: ArrayLike, thresholds: ArrayLike) -> Bools:
    """Say yes, for each row and label, where the probability reaches the label's threshold."""
    scores = as_proba(proba)
    return scores >= as_thresholds(thresholds, scores.shape[1])


def decide_classes(proba: ArrayLike) -> Bools:
    """Say yes to each row's most probable class alone; the first of equals wins."""
    scores = as_proba(proba)
    decisions = np.zeros(scores.shape, dtype=np.bool_)
    if scores.size:
        decisions[np.arange(len(scores)), scores.argmax(axis=1)] = True
    return decisions


@dataclass(frozen=True)
class Counts:
    """True and false positives and negatives among known cells.

    The last axis is the label, where there is one; axes before it (bootstrap rounds) are free. A ratio over nothing is
    0 for a label with a known positive or a prediction, and `undefined` for a label with neither.
    """

    tp: Floats
    fp: Floats
    fn: Floats
    tn: Floats

    @property
    def support(self) -> Floats:
        """Count the known positives."""
        return self.tp + self.fn

    @property
    def known(self) -> Floats:
        """Count the known cells."""
        return self.tp + self.fp + self.fn + self.tn

    def total(self) -> Counts:
        """Add the labels up, for micro figures."""
        return Counts(self.tp.sum(axis=-1), self.fp.sum(axis=-1), self.fn.sum(axis=-1), self.tn.sum(axis=-1))

    def precision(self, undefined: float = np.nan) -> Floats:
        """Give the share of predictions that are right."""
        return self._ratio(self.tp, self.tp + self.fp, undefined)

    def recall(self, undefined: float = np.nan) -> Floats:
        """Give the share of positives that are found."""
        return self._ratio(self.tp, self.support, undefined)

    def f1(self, undefined: float = np.nan) -> Floats:
        """Give the harmonic mean of precision and recall."""
        return self._ratio(2 * self.tp, 2 * self.tp + self.fp + self.fn, undefined)

    def accuracy(self) -> Floats:
        """Give the share of known cells that are right; NaN if none is known."""
        return divide(self.tp + self.tn, self.known)

    def hamming_loss(self) -> Floats:
        """Give the share of known cells that are wrong; NaN if none is known."""
        return divide(self.fp + self.fn, self.known)

    def _ratio(self, part: Floats, whole: Floats, undefined: float) -> Floats:
        seen = self.tp + self.fp + self.fn > 0
        return np.where(seen, divide(part, whole, 0.0), undefined)


def cells(truth: Floats, decisions: Bools) -> tuple[Bools, Bools, Bools, Bools]:
    """Mark each cell as tp, fp, fn or tn; an unknown cell is none of them."""
    yes, no = truth == 1, truth == 0
    return yes & decisions, no & decisions, yes & ~decisions, no & ~decisions


def count(truth: Floats, decisions: Bools) -> Counts:
    """Count each label's right and wrong decisions over the known cells of [rows, labels]."""
    tp, fp, fn, tn = (marks.sum(axis=0, dtype=np.float64) for marks in cells(truth, decisions))
    return Counts(tp, fp, fn, tn)


def wrong_rows(truth: Floats, decisions: Bools) -> tuple[Bools, Bools]:
    """Mark the rows with a wrong known cell, and the rows with a known cell at all."""
    known = ~np.isnan(truth)
    wrong = known & ((truth == 1) != decisions)
    return np.asarray(wrong.any(axis=1)), np.asarray(known.any(axis=1))


def mean_over(values: Floats, chosen: Bools) -> Floats:
    """Average the last axis over the chosen entries; NaN where none is chosen."""
    return divide(np.where(chosen, values, 0.0).sum(axis=-1), chosen.sum(axis=-1, dtype=np.float64))


def divide(part: Floats, whole: Floats, otherwise: float = np.nan) -> Floats:
    """Divide, giving `otherwise` where the divisor is 0."""
    some = whole > 0
    return np.where(some, part / np.where(some, whole, 1.0), otherwise)
