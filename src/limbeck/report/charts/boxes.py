"""Rows of times on a logarithmic axis: a box for the middle half, whiskers to the slow end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from limbeck.report.charts.frame import NAMES, RIGHT, WIDTH, drawing, named, scale_of, upright
from limbeck.report.markup import Markup, element

ROW = 20.0


@dataclass(frozen=True)
class Box:
    """Times of one case: from the fastest twentieth over quartiles to the slowest hundredth."""

    name: str
    low: float
    quarter: float
    middle: float
    three_quarters: float
    high: float
    colour: str


def boxes(title: str, rows: Sequence[Box], label: str) -> Markup:
    """Draw a box a row."""
    scale = scale_of([value for row in rows for value in (row.low, row.high)], NAMES, WIDTH - RIGHT, log=True)
    bottom = 6 + ROW * len(rows)
    parts: list[Markup] = [upright(scale, 2, bottom, label)]
    for at, row in enumerate(rows):
        y = 6 + ROW * (at + 0.5)
        left, right = scale(row.quarter), scale(row.three_quarters)
        tells = element("title", f"{row.name}: median {row.middle:.3g} ms, 99 of 100 within {row.high:.3g} ms")
        parts += [
            named(row.name, y),
            element("line", x1=scale(row.low), x2=scale(row.high), y1=y, y2=y, class_=f"span {row.colour}"),
            element(
                "rect", tells, x=left, y=y - 6, width=max(2.5, right - left), height=12, class_=f"bar {row.colour}"
            ),
            element("line", x1=scale(row.middle), x2=scale(row.middle), y1=y - 6, y2=y + 6, class_="median"),
        ]
    return drawing(bottom + 38, *parts, title=title)
