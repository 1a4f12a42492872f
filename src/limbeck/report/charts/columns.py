"""A histogram so small that many stand side by side."""

from __future__ import annotations

from collections.abc import Sequence

from limbeck.report.charts.frame import Scale, drawing, fitting
from limbeck.report.markup import Markup, element

WIDTH, HEIGHT, TOP = 112.0, 52.0, 16.0


def columns(title: str, counts: Sequence[int], cut: float | None = None, colour: str = "teacher") -> Markup:
    """Draw counts of equal parts of 0 to 1, by the square root so that rare ones show, and a line at `cut`."""
    x = Scale(0, 1, 2, WIDTH - 2)
    most = max([*counts, 1]) ** 0.5
    step = (WIDTH - 4) / max(1, len(counts))
    parts: list[Markup] = [
        element("text", fitting(title, WIDTH - 4), element("title", title), x=2, y=11, class_="name"),
        element("line", x1=2, x2=WIDTH - 2, y1=TOP + HEIGHT, y2=TOP + HEIGHT, class_="zero"),
    ]
    for at, count in enumerate(counts):
        size = HEIGHT * count**0.5 / most
        tells = element("title", f"{at / len(counts):.2f} to {(at + 1) / len(counts):.2f}: {count:,}")
        parts.append(
            element(
                "rect",
                tells,
                x=2 + at * step,
                y=TOP + HEIGHT - size,
                width=step - 0.7,
                height=size,
                class_=f"bar {colour}",
            )
        )
    if cut is not None:
        parts.append(element("line", x1=x(cut), x2=x(cut), y1=TOP, y2=TOP + HEIGHT, class_="cut"))
    for value, anchor in ((0, "start"), (1, "end")):
        parts.append(element("text", value, x=x(value), y=TOP + HEIGHT + 12, text_anchor=anchor, class_="tick"))
    return drawing(TOP + HEIGHT + 15, *parts, title=title, width=WIDTH)
