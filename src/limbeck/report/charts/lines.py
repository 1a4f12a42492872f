"""Lines over two axes, with a place on each that matters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from limbeck.report.charts.frame import RIGHT, WIDTH, Look, Scale, drawing, level, mark, scale_of, upright
from limbeck.report.markup import Markup, element

LEFT, TOP, HEIGHT = 44.0, 22.0, 200.0


@dataclass(frozen=True)
class Line:
    """Points (x, y) in order; `chosen` is the one of them that matters, and what it says."""

    name: str
    points: Sequence[tuple[float, float]]
    look: Look
    chosen: tuple[float, float] | None = None
    faint: bool = False
    dots: bool = False


def lines(
    title: str,
    drawn: Sequence[Line],
    x_label: str,
    y_label: str,
    unit: bool = False,
    diagonal: bool = False,
    height: float = HEIGHT,
) -> Markup:
    """Draw lines; with `unit` both axes go from 0 to 1."""
    xs, ys = ([point[axis] for line in drawn for point in line.points] for axis in (0, 1))
    bottom = TOP + height
    x = Scale(0, 1, LEFT, WIDTH - RIGHT) if unit else scale_of(xs, LEFT, WIDTH - RIGHT)
    y = Scale(0, 1, bottom, TOP) if unit else scale_of(ys, bottom, TOP)
    parts: list[Markup] = [upright(x, TOP, bottom, x_label), level(y, LEFT, WIDTH - RIGHT, y_label)]
    if diagonal:
        parts.append(element("line", x1=x(0), y1=y(0), x2=x(1), y2=y(1), class_="diagonal"))
    for line in drawn:
        known = [(x(a), y(b)) for a, b in line.points if math.isfinite(a) and math.isfinite(b)]
        path = "M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in known) if known else ""
        kind = f"line {line.look.colour}" + (" faint" if line.faint else "")
        parts.append(element("path", element("title", line.name), d=path, class_=kind))
        parts += [mark(a, b, line.look, size=3) for a, b in known if line.dots]
    for line in drawn:
        if line.chosen is not None:
            at = f"{line.name}: {line.chosen[0]:.4g}, {line.chosen[1]:.3f}"
            parts.append(mark(x(line.chosen[0]), y(line.chosen[1]), line.look, at))
    return drawing(bottom + 36, *parts, title=title)
