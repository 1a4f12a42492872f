"""Refuse arrays that don't fit together before a figure is made of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from limbeck.errors import MeasureError

# Weighted means of float32 probabilities can pass 1 by a few units in the last place.
_SLACK = 1e-6


def as_truth(truth: ArrayLike, ndim: int = 2) -> NDArray[np.float64]:
    """Give `truth` as an array of 1, 0 and NaN in which at least one cell is known."""
    array = _floats(truth, "truth")
    if array.ndim != ndim:
        fix = "Pass [rows, labels]; one label's column is truth[:, None]." if ndim == 2 else "Pass one label's column."
        raise MeasureError(f"truth has shape {array.shape}; {ndim} dimension(s) are needed.", fix)
    known = ~np.isnan(array)
    _refuse(known & (array != 0) & (array != 1), array, "truth", "Use 1 for yes, 0 for no and NaN for unknown.")
    if not known.any():
        raise MeasureError(
            f"No label of the {len(array)} rows is known.", "Measure on rows that somebody labelled; NaN is unknown."
        )
    return array


def as_proba(proba: ArrayLike, shape: tuple[int, ...] | None = None) -> NDArray[np.float64]:
    """Give `proba` as numbers from 0 to 1 in the given shape (any [rows, labels] if there is none)."""
    array = _floats(proba, "proba")
    if shape is None and array.ndim != 2:
        raise MeasureError(f"proba has shape {array.shape}.", "Pass probabilities as [rows, labels].")
    if shape is not None:
        _same_shape(array, shape, "proba", "Score the same rows and labels, in the same order.")
    _refuse(np.isnan(array), array, "proba", "Look for broken weights or a division by zero in the model.")
    outside = (array < -_SLACK) | (array > 1 + _SLACK)
    _refuse(outside, array, "proba", "Probabilities lie from 0 to 1: apply the sigmoid or softmax to logits first.")
    return np.clip(array, 0.0, 1.0)


def as_thresholds(thresholds: ArrayLike, labels: int) -> NDArray[np.float64]:
    """Give `thresholds` as one number from 0 to 1 a label."""
    array = _floats(thresholds, "thresholds")
    _same_shape(array, (labels,), "thresholds", "Pass one threshold a label.")
    _refuse(~((array >= 0) & (array <= 1)), array, "thresholds", "Thresholds lie from 0 to 1.")
    return array


def as_decisions(decisions: ArrayLike, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """Give 0/1 `decisions` in the given shape as booleans."""
    array = _floats(decisions, "decisions")
    _same_shape(array, shape, "decisions", "Decide on the same rows and labels, in the same order.")
    fix = "Decisions are 0 or 1: turn probabilities into them with decide(proba, thresholds)."
    _refuse((array != 0) & (array != 1), array, "decisions", fix)
    return array.astype(np.bool_)


def as_names(names: Sequence[str], labels: int) -> tuple[str, ...]:
    """Give `names` as a tuple of one name a label."""
    if isinstance(names, str) or len(names) != labels:
        raise MeasureError(f"{len(names)} names for {labels} labels.", "Pass one name a label, in their order.")
    return tuple(names)


def known_cells(truth: ArrayLike, proba: ArrayLike) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Give one label's known answers and the probabilities beside them."""
    column = as_truth(truth, ndim=1)
    scores = as_proba(proba, column.shape)
    known = ~np.isnan(column)
    return column[known] == 1, scores[known]


def _floats(values: ArrayLike, what: str) -> NDArray[np.float64]:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise MeasureError(f"{what} can't be read: {error}.", "Pass a rectangular array of numbers.") from error


def _same_shape(array: NDArray[np.float64], shape: tuple[int, ...], what: str, fix: str) -> None:
    if array.shape != shape:
        raise MeasureError(f"{what} has shape {array.shape}, but {shape} is needed.", fix)


def _refuse(bad: NDArray[np.bool_], array: NDArray[np.float64], what: str, fix: str) -> None:
    if bad.any():
        first = tuple(int(i) for i in np.argwhere(bad)[0])
        place = ", ".join(map(str, first))
        raise MeasureError(f"{what}[{place}] is {array[first]:g} ({int(bad.sum())} such value(s)).", fix)
