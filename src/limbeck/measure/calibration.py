"""How far probabilities can be taken at their word."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from limbeck.errors import MeasureError
from limbeck.measure.checks import as_proba, as_truth, known_cells

Floats = NDArray[np.float64]
Strategy = Literal["width", "mass"]


@dataclass(frozen=True)
class Bin:
    """The known cells with a probability from `lower` up to, but without, `upper` (the last bin includes it).

    `mean_probability` and `observed_rate` are NaN in an empty bin.
    """

    lower: float
    upper: float
    count: int
    mean_probability: float
    observed_rate: float


def reliability(truth: ArrayLike, proba: ArrayLike, bins: int = 15, strategy: Strategy = "width") -> tuple[Bin, ...]:
    """Give one label's reliability table: what was promised and what happened, bin by bin.

    "width" cuts [0, 1] into equal parts, "mass" into parts of about equally many cells; equal probabilities share a
    bin, so "mass" can give fewer bins than asked.
    """
    yes, scores = known_cells(truth, proba)
    inner = _inner_edges(scores, bins, strategy)
    counts, promised, happened = _binned(yes, scores, inner)
    edges = np.concatenate([[0.0], inner, [1.0]])
    some = np.maximum(counts, 1)
    means = np.where(counts > 0, promised / some, np.nan)
    rates = np.where(counts > 0, happened / some, np.nan)
    return tuple(
        Bin(float(edges[i]), float(edges[i + 1]), int(counts[i]), float(means[i]), float(rates[i]))
        for i in range(len(counts))
    )


def expected_calibration_error(
    truth: ArrayLike, proba: ArrayLike, bins: int = 15, strategy: Strategy = "width"
) -> float:
    """Give the mean gap between probability and observed rate: over bins by their cells, then over labels equally.

    Labels without a known cell are left out. The probability of yes is binned, not the confidence in the decision.
    """
    answers = as_truth(truth)
    scores = as_proba(proba, answers.shape)
    errors = []
    for column, column_scores in zip(answers.T, scores.T, strict=True):
        known = ~np.isnan(column)
        if known.any():
            errors.append(_error(column[known] == 1, column_scores[known], bins, strategy))
    return float(np.mean(errors))


def _error(yes: NDArray[np.bool_], scores: Floats, bins: int, strategy: Strategy) -> float:
    _, promised, happened = _binned(yes, scores, _inner_edges(scores, bins, strategy))
    return float(np.abs(promised - happened).sum() / len(scores))


def _inner_edges(scores: Floats, bins: int, strategy: Strategy) -> Floats:
    """Give where each bin but the first begins, rising."""
    if bins < 1:
        raise MeasureError(f"{bins} bins can't hold anything.", "Ask for at least one bin; 15 is usual.")
    if strategy == "width":
        return np.arange(1, bins) / bins
    if strategy != "mass":
        raise MeasureError(f"There is no binning strategy '{strategy}'.", "Use 'width' or 'mass'.")
    rising = np.sort(scores)
    starts = np.unique(rising[np.arange(1, bins) * len(rising) // bins])
    return np.asarray(starts[starts > rising[0]], dtype=np.float64)


def _binned(yes: NDArray[np.bool_], scores: Floats, inner: Floats) -> tuple[Floats, Floats, Floats]:
    """Give each bin's number of cells, sum of probabilities and number of positives."""
    place = np.searchsorted(inner, scores, side="right")
    counts, promised, happened = (
        np.bincount(place, weights=weights, minlength=len(inner) + 1).astype(np.float64)
        for weights in (np.ones_like(scores), scores, yes)
    )
    return counts, promised, happened
