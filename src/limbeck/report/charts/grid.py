"""A square of values from -1 to 1 between every two names."""

from __future__ import annotations

from collections.abc import Sequence

from limbeck.report.charts.frame import WIDTH, drawing, fitting
from limbeck.report.markup import Markup, element

SIDE = 110.0


def grid(title: str, names: Sequence[str], values: Sequence[Sequence[float | None]]) -> Markup:
    """Draw the square; names stand at the left, and their numbers above."""
    size = (WIDTH - SIDE - 4) / max(1, len(names))
    top = 18.0
    parts: list[Markup] = []
    for row, name in enumerate(names):
        y = top + size * row
        if size >= 9:
            label = fitting(f"{row + 1} {name}", SIDE - 8)
            parts.append(element("text", label, element("title", name), x=2, y=y + size / 2 + 4, class_="name"))
            parts.append(
                element("text", row + 1, x=SIDE + size * (row + 0.5), y=top - 5, text_anchor="middle", class_="tick")
            )
        for column, other in enumerate(names):
            value = values[row][column]
            tells = element("title", f"{name}, {other}: {'unknown' if value is None else format(value, '.2f')}")
            told = 0.0 if value is None else value
            kind = "cell unknown" if value is None else "cell more" if told >= 0 else "cell less"
            parts.append(
                element(
                    "rect",
                    tells,
                    x=SIDE + size * column,
                    y=y,
                    width=size - 0.6,
                    height=size - 0.6,
                    class_=kind,
                    style=f"fill-opacity:{min(1.0, abs(told)) ** 0.6:.2f}",
                )
            )
    return drawing(top + size * len(names) + 4, *parts, title=title)
