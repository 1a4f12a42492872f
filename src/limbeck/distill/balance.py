"""Rare categories made as frequent as the loss needs them, in the teacher's guesses alone.

A category that one text in a hundred has costs a student next to nothing if it is never guessed. Raising the log-odds
of all guesses of a label by one number keeps their order, and can be undone in the student's last layer.
"""

from __future__ import annotations

import numpy as np

from limbeck.distill.losses import EDGE
from limbeck.scorer import Floats


def raised_to(guesses: Floats, rate: float) -> Floats:
    """Say by how much each label's log-odds must rise for it to be in `rate` of the texts; none ever falls."""
    if rate <= 0:
        return np.zeros(guesses.shape[1], dtype=np.float32)
    gap = _logit(np.array(rate)) - _logit(_mean(guesses))
    return np.asarray(np.nan_to_num(np.maximum(gap, 0.0)), dtype=np.float32)


def likelier(labels: Floats, guesses: Floats) -> Floats:
    """Say by how much each label's log-odds are higher in `labels` than in `guesses`; 0 where either knows none."""
    return np.asarray(np.nan_to_num(_logit(_mean(labels)) - _logit(_mean(guesses))), dtype=np.float32)


def shifted(guesses: Floats, by: Floats) -> Floats:
    """Raise the log-odds of probabilities [..., labels]; NaN stays."""
    return np.asarray(1 / (1 + np.exp(-(_logit(guesses) + by))), dtype=np.float32)


def _mean(cells: Floats) -> Floats:
    """Give the mean of each column's known cells, NaN where there are none."""
    known = ~np.isnan(cells)
    counts = known.sum(axis=0)
    return np.asarray(np.where(known, cells, 0.0).sum(axis=0) / np.where(counts > 0, counts, np.nan))


def _logit(proba: Floats) -> Floats:
    inside = np.clip(proba, EDGE, 1 - EDGE)
    return np.asarray(np.log(inside / (1 - inside)))
