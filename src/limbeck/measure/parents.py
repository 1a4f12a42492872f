"""Figures of categories that belong together: their mean, and whether any of them was found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from limbeck.measure.counts import Bools, Floats, count, mean_over


@dataclass(frozen=True)
class ParentFigures:
    """`macro_f1` is the mean over a parent's categories that have a known positive, of which there are `categories`.

    `any_f1` asks each text only whether it has any of them: yes if one is known to be there, no if all are known not to
    be. `support` counts the texts that have one. What nothing defines is NaN.
    """

    categories: int
    macro_f1: float
    any_f1: float
    support: int

    def as_dict(self) -> dict[str, float | None]:
        """Give plain values for JSON; NaN becomes None."""
        return {name: None if np.isnan(value) else value for name, value in asdict(self).items()}


def by_parent(truth: Floats, decisions: Bools, grouped: Mapping[str, Sequence[int]]) -> dict[str, ParentFigures]:
    """Measure decisions [rows, labels] by parent; `grouped` gives the places of each one's labels."""
    counts = count(truth, decisions)
    f1 = counts.f1()
    found = {}
    for name, places in grouped.items():
        mine, said = truth[:, places], np.asarray(decisions[:, places].any(axis=1), dtype=np.bool_)
        there, known = (mine == 1).any(axis=1), (mine == 0).all(axis=1)
        any_truth = np.where(there, 1.0, np.where(known, 0.0, np.nan))
        judged = counts.support[places] > 0
        found[name] = ParentFigures(
            categories=int(judged.sum()),
            macro_f1=float(mean_over(f1[places], judged)),
            any_f1=float(count(any_truth[:, None], said[:, None]).f1()[0]),
            support=int(there.sum()),
        )
    return found
