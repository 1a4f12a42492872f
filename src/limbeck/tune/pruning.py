"""When a trial has seen enough: the median rule, over all that a trial has trained so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean, median
from zlib import crc32

from limbeck.training.watch import Evaluation

# A run is compared ten times, not before its warm-up is well over, and with so many finished trials at least.
PARTS, FIRST, LEAST = 10, 3, 4

# F1 of a trial's training runs by run and tenth: the best so far, at places that are the same in every trial.
Curve = Mapping[int, float]


def place(run: str, part: int) -> int:
    """Give the place of a tenth of a run; runs are told apart by name, as a finished one needn't train again."""
    return crc32(run.encode()) % 10_000_000 * (PARTS + 1) + part


def reached(evaluation: Evaluation) -> int:
    """Say how many tenths of its training a run is past; one that trains no more is past all."""
    return PARTS if evaluation.last else evaluation.step * PARTS // max(1, evaluation.total)


def behind(mine: Curve, others: Sequence[Curve]) -> bool:
    """Say whether a trial is worse than half of the finished ones were at the same point.

    Its point is where each of its runs is; what is compared is the mean over the runs, so that one run among many that
    went badly ends nothing.
    """
    newest: dict[int, int] = {}
    for at in mine:
        run = at // (PARTS + 1)
        newest[run] = max(newest.get(run, 0), at)
    now = list(newest.values())
    if not now or any(at % (PARTS + 1) < FIRST for at in now):
        return False
    theirs = [fmean(other[at] for at in now) for other in others if all(at in other for at in now)]
    return len(theirs) >= LEAST and fmean(mine[at] for at in now) < median(theirs)
