"""How sure a figure is: percentile bootstrap over rows, alone and paired.

A round draws as many rows as there are, with replacement. Rows that add the same to a figure are interchangeable, so a
round is one multinomial draw over the distinct kinds of row, and its counts are one row of a matrix product.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from limbeck.errors import MeasureError, nearest
from limbeck.measure.checks import as_decisions, as_truth
from limbeck.measure.counts import Bools, Counts, Floats, cells, divide, mean_over, wrong_rows

# Draws held at once: 16 MB of counts, and as much again for their float copy.
_DRAWS_AT_ONCE = 2**21

Addends = NDArray[np.int32]


@dataclass(frozen=True)
class Interval:
    """A figure with its bootstrap interval."""

    estimate: float
    low: float
    high: float
    level: float
    rounds: int


@dataclass(frozen=True)
class Difference:
    """The figure of a less that of b, its bootstrap interval, and the two-sided p value of 'no difference'."""

    estimate: float
    low: float
    high: float
    p_value: float
    level: float
    rounds: int


def bootstrap_interval(
    truth: ArrayLike,
    decisions: ArrayLike,
    figure: str = "macro_f1",
    rounds: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> Interval:
    """Give a figure of 0/1 decisions with the interval that resampled rows put it in.

    `truth` and `decisions` are [rows, labels]; `decide` or `decide_classes` makes decisions of probabilities. The
    estimate is that of `evaluate`; in each round, too, labels without a known positive are skipped. Rounds in which the
    figure is not defined don't count. The order of rows doesn't matter.
    """
    answers = as_truth(truth)
    taken, read = _figure(figure)
    addends = taken(answers, as_decisions(decisions, answers.shape))
    drawn = read(_resample(addends[_labelled(answers)], rounds, level, seed))
    low, high = _bounds(drawn, level)
    return Interval(float(read(_sum(addends))), low, high, level, rounds)


def paired_bootstrap(
    truth: ArrayLike,
    a: ArrayLike,
    b: ArrayLike,
    figure: str = "macro_f1",
    rounds: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> Difference:
    """Compare two models' 0/1 decisions on the same rows; each round draws the same rows for both.

    The p value is twice the smaller share of rounds on either side of 0, plus one round each, at most 1: with 1000
    rounds it can't fall below 0.002.
    """
    answers = as_truth(truth)
    taken, read = _figure(figure)
    first = taken(answers, as_decisions(a, answers.shape))
    second = taken(answers, as_decisions(b, answers.shape))
    both = np.concatenate([first, second], axis=1)

    def difference(sums: Floats) -> Floats:
        of_a, of_b = np.split(sums, 2, axis=-1)
        return read(of_a) - read(of_b)

    drawn = difference(_resample(both[_labelled(answers)], rounds, level, seed))
    low, high = _bounds(drawn, level)
    return Difference(float(difference(_sum(both))), low, high, _p_value(drawn), level, rounds)


def label_intervals(
    truth: ArrayLike, decisions: ArrayLike, rounds: int = 1000, level: float = 0.95, seed: int = 0
) -> list[Interval]:
    """Give each label's F1 with its interval; all labels see the same rounds."""
    answers = as_truth(truth)
    addends = _label_cells(answers, as_decisions(decisions, answers.shape))
    drawn = _f1_by_label(_resample(addends[_labelled(answers)], rounds, level, seed))
    whole = _f1_by_label(_sum(addends))
    return [
        Interval(float(value), *_bounds(column, level), level, rounds)
        for value, column in zip(whole, drawn.T, strict=True)
    ]


def label_differences(
    truth: ArrayLike, a: ArrayLike, b: ArrayLike, rounds: int = 1000, level: float = 0.95, seed: int = 0
) -> list[Difference]:
    """Compare two models label by label: F1 of a less that of b, with the same rows in each round."""
    answers = as_truth(truth)
    both = np.concatenate([_label_cells(answers, as_decisions(some, answers.shape)) for some in (a, b)], axis=1)

    def difference(sums: Floats) -> Floats:
        of_a, of_b = np.split(sums, 2, axis=-1)
        return _f1_by_label(of_a) - _f1_by_label(of_b)

    drawn = difference(_resample(both[_labelled(answers)], rounds, level, seed))
    whole = difference(_sum(both))
    return [
        Difference(float(value), *_bounds(column, level), _p_value(column), level, rounds)
        for value, column in zip(whole, drawn.T, strict=True)
    ]


def _f1_by_label(sums: Floats) -> Floats:
    tp, fp, fn = np.split(sums, 3, axis=-1)
    return Counts(tp, fp, fn, np.zeros_like(tp)).f1()


def entity_interval(counts: NDArray[np.int64], rounds: int = 1000, level: float = 0.95, seed: int = 0) -> Interval:
    """Give F1 by exact match with its interval; `counts` are those of `exact_counts`, a row a sentence."""
    addends = counts.astype(np.int32)
    drawn = _entity_f1(_resample(addends, rounds, level, seed))
    return Interval(float(_entity_f1(_sum(addends))), *_bounds(drawn, level), level, rounds)


def paired_entities(
    a: NDArray[np.int64], b: NDArray[np.int64], rounds: int = 1000, level: float = 0.95, seed: int = 0
) -> Difference:
    """Compare the F1 of two taggers by exact match; each round draws the same sentences for both."""
    both = np.concatenate([a, b], axis=1).astype(np.int32)

    def difference(sums: Floats) -> Floats:
        of_a, of_b = np.split(sums, 2, axis=-1)
        return np.asarray(_entity_f1(of_a) - _entity_f1(of_b))

    drawn = difference(_resample(both, rounds, level, seed))
    return Difference(float(difference(_sum(both))), *_bounds(drawn, level), _p_value(drawn), level, rounds)


def _entity_f1(sums: Floats) -> Floats:
    """Give F1 of [..., right, found, there]; NaN where there is nothing to find and nothing was found."""
    right, found, there = np.moveaxis(sums, -1, 0)
    return divide(2 * right, found + there)


def _p_value(differences: Floats) -> float:
    defined = differences[~np.isnan(differences)]
    tail = min(int((defined <= 0).sum()), int((defined >= 0).sum()))
    return min(1.0, 2 * (tail + 1) / (len(defined) + 1))


def _bounds(drawn: Floats, level: float) -> tuple[float, float]:
    defined = drawn[~np.isnan(drawn)]
    if not len(defined):
        return float("nan"), float("nan")
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def _resample(addends: Addends, rounds: int, level: float, seed: int) -> Floats:
    """Give the sums of each round's rows, [rounds, addends]."""
    if rounds < 1 or not 0 < level < 1:
        raise MeasureError(
            f"A bootstrap of {rounds} rounds at level {level} can't be made.",
            "Ask for at least one round (1000 is usual) and a level between 0 and 1 (0.95 is usual).",
        )
    kinds, sizes = _kinds(addends)
    rng = np.random.default_rng(seed)
    sums = np.empty((rounds, addends.shape[1]))
    at_once = max(1, _DRAWS_AT_ONCE // len(kinds))
    for start in range(0, rounds, at_once):
        size = min(at_once, rounds - start)
        draws = rng.multinomial(len(addends), sizes / len(addends), size=size)
        np.matmul(draws.astype(np.float64), kinds, out=sums[start : start + size])
    return sums


def _kinds(addends: Addends) -> tuple[Floats, NDArray[np.int64]]:
    """Give the distinct rows and how often each occurs, in an order that the rows' order doesn't change."""
    sizes: dict[bytes, int] = {}
    for row in np.ascontiguousarray(addends):
        key = row.tobytes()
        sizes[key] = sizes.get(key, 0) + 1
    kinds = sorted(sizes)
    distinct = np.frombuffer(b"".join(kinds), dtype=addends.dtype).reshape(len(kinds), -1)
    return distinct.astype(np.float64), np.array([sizes[kind] for kind in kinds], dtype=np.int64)


def _labelled(truth: Floats) -> Bools:
    return np.asarray(np.any(~np.isnan(truth), axis=1))


def _sum(addends: Addends) -> Floats:
    return np.asarray(addends.sum(axis=0), dtype=np.float64)


def _label_cells(truth: Floats, decisions: Bools) -> Addends:
    tp, fp, fn, _ = cells(truth, decisions)
    return np.concatenate([tp, fp, fn], axis=1).astype(np.int32)


def _pooled_cells(truth: Floats, decisions: Bools) -> Addends:
    return np.stack([marks.sum(axis=1) for marks in cells(truth, decisions)], axis=1).astype(np.int32)


def _whole_rows(truth: Floats, decisions: Bools) -> Addends:
    return np.stack(wrong_rows(truth, decisions), axis=1).astype(np.int32)


def _macro(ratio: Callable[[Counts], Floats]) -> Callable[[Floats], Floats]:
    def read(sums: Floats) -> Floats:
        tp, fp, fn = np.split(sums, 3, axis=-1)
        counts = Counts(tp, fp, fn, np.zeros_like(tp))
        return mean_over(ratio(counts), counts.support > 0)

    return read


def _micro(ratio: Callable[[Counts], Floats]) -> Callable[[Floats], Floats]:
    def read(sums: Floats) -> Floats:
        return ratio(Counts(*np.moveaxis(sums, -1, 0)))

    return read


def _share_wrong(sums: Floats) -> Floats:
    return divide(sums[..., 0], sums[..., 1])


# What each row adds, and the figure made of the sums.
_FIGURES: dict[str, tuple[Callable[[Floats, Bools], Addends], Callable[[Floats], Floats]]] = {
    "macro_f1": (_label_cells, _macro(Counts.f1)),
    "macro_precision": (_label_cells, _macro(Counts.precision)),
    "macro_recall": (_label_cells, _macro(Counts.recall)),
    "micro_f1": (_pooled_cells, _micro(Counts.f1)),
    "micro_precision": (_pooled_cells, _micro(Counts.precision)),
    "micro_recall": (_pooled_cells, _micro(Counts.recall)),
    "accuracy": (_pooled_cells, _micro(Counts.accuracy)),
    "hamming_loss": (_pooled_cells, _micro(Counts.hamming_loss)),
    "subset_loss": (_whole_rows, _share_wrong),
}


def _figure(name: str) -> tuple[Callable[[Floats, Bools], Addends], Callable[[Floats], Floats]]:
    if name not in _FIGURES:
        raise MeasureError(f"There is no bootstrap of '{name}'.", nearest(name, _FIGURES))
    return _FIGURES[name]
