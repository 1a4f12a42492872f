"""Rows with one value each, drawn from zero to either side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from limbeck.report.charts.frame import CHARACTER, NAMES, RIGHT, WIDTH, drawing, named, scale_of, upright
from limbeck.report.markup import Markup, element

ROW = 20.0


@dataclass(frozen=True)
class Bar:
    """A row: its value, what stands at its end, and the interval of its value if that is known."""

    name: str
    value: float
    told: str = ""
    low: float | None = None
    high: float | None = None
    colour: str = "bundle"


def bars(title: str, rows: Sequence[Bar], label: str = "") -> Markup:
    """Draw a bar a row."""
    values = [v for row in rows for v in (row.value, row.low, row.high) if v is not None]
    room = max((len(row.told) for row in rows), default=0) * CHARACTER + (8 if any(r.told for r in rows) else 0)
    scale = scale_of(values, NAMES, WIDTH - RIGHT - room, zero=True)
    bottom = 6 + ROW * len(rows)
    parts: list[Markup] = [upright(scale, 2, bottom, label, 3 if room else 5)]
    for at, row in enumerate(rows):
        y, zero, end = 6 + ROW * (at + 0.5), scale(0), scale(row.value)
        parts.append(named(row.name, y))
        tells = element("title", f"{row.name}: {row.told or format(row.value, '+.3f')}")
        size = max(0.8, abs(end - zero))
        parts.append(
            element("rect", tells, x=min(zero, end), y=y - 6, width=size, height=12, class_=f"bar {row.colour}")
        )
        if row.low is not None and row.high is not None:
            parts.append(element("line", x1=scale(row.low), x2=scale(row.high), y1=y, y2=y, class_="span ink"))
        if row.told:
            parts.append(element("text", row.told, x=WIDTH - 2, y=y + 4, text_anchor="end", class_="tick"))
    return drawing(bottom + (38 if label else 22), *parts, title=title)
