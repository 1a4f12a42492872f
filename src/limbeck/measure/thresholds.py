"""One threshold a label, by line search for F1 (the sCut method)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from limbeck.measure.checks import as_proba, as_thresholds, as_truth
from limbeck.measure.curves import cumulative_counts

Floats = NDArray[np.float64]


def tune_thresholds(
    truth: ArrayLike, proba: ArrayLike, min_positives: int = 5, fallback: float = 0.5
) -> NDArray[np.float64]:
    """Give the threshold with the highest F1 for each label, over every cut between distinct probabilities.

    A threshold stands midway between its neighbours (the lowest cut midway to 0); of equally good cuts the one closest
    to 0.5 wins. A label with fewer than `min_positives` known positives, or with no known negative, gets `fallback`.
    Tune on the tuning half of dev, never on test.
    """
    answers = as_truth(truth)
    scores = as_proba(proba, answers.shape)
    thresholds = as_thresholds(np.full(answers.shape[1], fallback), answers.shape[1])
    for label, column in enumerate(answers.T):
        positives = int((column == 1).sum())
        if positives >= max(min_positives, 1) and (column == 0).any():
            known = ~np.isnan(column)
            thresholds[label] = _best_cut(column[known] == 1, scores[known, label])
    return thresholds


def _best_cut(yes: NDArray[np.bool_], scores: Floats) -> float:
    falling, tp, fp = cumulative_counts(yes, scores)
    # 2tp + fp + fn is the number of predictions plus the number of positives.
    f1 = 2 * tp / (tp + fp + tp[-1])
    cuts = _between(np.append(falling[1:], 0.0), falling)
    best = np.flatnonzero(f1 == f1.max())
    return float(cuts[best[np.argmin(np.abs(cuts[best] - 0.5))]])


def _between(below: Floats, at: Floats) -> Floats:
    """Give the midpoints, or the upper neighbour where a midpoint would not separate the two, also in float32."""
    middle = (below + at) / 2
    served = middle.astype(np.float32).astype(np.float64)
    separates = (middle > below) & (served > below) & (served <= at)
    return np.where(separates, middle, at)
