"""Precision and recall over all thresholds of one label."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from limbeck.measure.checks import known_cells

Floats = NDArray[np.float64]


def precision_recall_curve(truth: ArrayLike, proba: ArrayLike) -> tuple[Floats, Floats, Floats]:
    """Give precision, recall and the thresholds they hold at (yes iff proba >= threshold), thresholds rising.

    As in scikit-learn, precision and recall have one more entry, 1 and 0, for the threshold that nothing reaches.
    Unknown cells are skipped; without a known positive, recall is NaN except for that last entry.
    """
    yes, scores = known_cells(truth, proba)
    cuts, tp, fp = cumulative_counts(yes, scores)
    positives = tp[-1]
    precision = tp / (tp + fp)
    recall = tp / positives if positives else np.full_like(tp, np.nan)
    return np.append(precision[::-1], 1.0), np.append(recall[::-1], 0.0), cuts[::-1].copy()


def average_precision(truth: ArrayLike, proba: ArrayLike) -> float:
    """Give the precision averaged over the steps of recall, without interpolation; NaN without a known positive."""
    yes, scores = known_cells(truth, proba)
    return average_precision_of(yes, scores)


def average_precision_of(yes: NDArray[np.bool_], scores: Floats) -> float:
    """Give the average precision of answers that are all known and checked; NaN without a positive."""
    if not yes.any():
        return float("nan")
    _, tp, fp = cumulative_counts(yes, scores)
    return float(np.sum(np.diff(tp, prepend=0.0) * tp / (tp + fp)) / tp[-1])


def cumulative_counts(yes: NDArray[np.bool_], scores: Floats) -> tuple[Floats, Floats, Floats]:
    """Give the distinct scores, falling, with the true and false positives of saying yes from each upwards."""
    order = np.argsort(-scores, kind="stable")
    falling = scores[order]
    last_of_tie = np.append(np.flatnonzero(np.diff(falling)), len(falling) - 1)
    tp = np.cumsum(yes[order], dtype=np.float64)[last_of_tie]
    return falling[last_of_tie], tp, last_of_tie + 1.0 - tp
