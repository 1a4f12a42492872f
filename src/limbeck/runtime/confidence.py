"""How certain a guess is: its distance from the threshold, scaled so that every category's reaches from 0.5 to 1."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Doubles = NDArray[np.float64]

_TINY = 1e-12


def scaled(proba: ArrayLike, thresholds: ArrayLike) -> Doubles:
    """Move a probability so that its threshold comes to 0.5 while 0 and 1 stay; NaN stays NaN.

    Linear on both sides of the threshold and continuous at it, unlike the form that is often printed. A threshold of 0
    says yes to all and one of 1 to nothing below 1: the side that is left has no length, its one point gives 0.5.
    """
    given, limits = np.asarray(proba, dtype=np.float64), np.asarray(thresholds, dtype=np.float64)
    below = given / np.maximum(2 * limits, _TINY)
    above = 0.5 + (given - limits) / np.maximum(2 * (1 - limits), _TINY)
    return np.where(given < limits, below, above)


def confidence(proba: ArrayLike, thresholds: ArrayLike) -> Doubles:
    """Give the confidence of the guess that a probability stands for: 0.5 at the threshold, 1 at 0 and at 1."""
    moved = scaled(proba, thresholds)
    return np.maximum(moved, 1 - moved)
