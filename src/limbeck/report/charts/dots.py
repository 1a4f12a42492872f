"""Rows with several models' values each, and the intervals they lie in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from limbeck.report.charts.frame import NAMES, RIGHT, WIDTH, Look, drawing, mark, named, scale_of, upright
from limbeck.report.markup import Markup, element

ROW = 22.0


@dataclass(frozen=True)
class Dot:
    """A value of one model, and its interval if it is known."""

    value: float
    look: Look
    tells: str
    low: float | None = None
    high: float | None = None


def dots(title: str, rows: Sequence[tuple[str, Sequence[Dot]]], label: str) -> Markup:
    """Draw a row a name."""
    values = [v for _, found in rows for dot in found for v in (dot.value, dot.low, dot.high) if v is not None]
    scale = scale_of(values, NAMES, WIDTH - RIGHT)
    bottom = 6 + ROW * len(rows)
    parts: list[Markup] = [upright(scale, 2, bottom, label)]
    for at, (name, found) in enumerate(rows):
        y = 6 + ROW * (at + 0.5)
        parts.append(named(name, y))
        spans = [dot for dot in found if dot.low is not None and dot.high is not None]
        for dot in spans:
            assert dot.low is not None and dot.high is not None
            kind = f"span {dot.look.colour}"
            parts.append(element("line", x1=scale(dot.low), x2=scale(dot.high), y1=y, y2=y, class_=kind))
        # What matters most is drawn last, over the others.
        parts += [mark(scale(dot.value), y, dot.look, f"{name}: {dot.tells}") for dot in reversed(found)]
    return drawing(bottom + 38, *parts, title=title)
