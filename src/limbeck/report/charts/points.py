"""Models as points, one figure against another; those that no other beats in both are joined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from limbeck.report.charts.frame import RIGHT, WIDTH, Look, drawing, level, mark, scale_of, upright
from limbeck.report.markup import Markup, element

LEFT, TOP, HEIGHT = 44.0, 22.0, 210.0


@dataclass(frozen=True)
class Point:
    """A model: what it costs (less is better), how good it is (more is better), and the number it is listed by."""

    number: int
    cost: float
    quality: float
    look: Look
    tells: str


def points(title: str, found: Sequence[Point], x_label: str, y_label: str, numbered: bool = True) -> Markup:
    """Draw all points; the axis of costs is logarithmic. Too many for numbers are told by pointing at them."""
    bottom = TOP + HEIGHT
    x = scale_of([p.cost for p in found], LEFT, WIDTH - RIGHT, log=True)
    y = scale_of([p.quality for p in found], bottom, TOP)
    parts: list[Markup] = [upright(x, TOP, bottom, x_label), level(y, LEFT, WIDTH - RIGHT, y_label)]
    best = frontier(found)
    path = "M" + "L".join(f"{x(p.cost):.1f} {y(p.quality):.1f}" for p in best)
    parts.append(element("path", d=path, class_="frontier"))
    taken: list[tuple[float, float]] = []
    for point in found:
        px, py = x(point.cost), y(point.quality)
        parts.append(mark(px, py, point.look, point.tells, 4.6))
        if not numbered:
            continue
        tx, ty = _free(px, py, taken)
        taken.append((tx, ty))
        parts.append(element("text", point.number, x=tx, y=ty + 4, text_anchor="middle", class_="tick"))
    return drawing(bottom + 36, *parts, title=title)


def frontier(found: Sequence[Point]) -> list[Point]:
    """Give the points that are better than all that cost as little, cheapest first."""
    best: list[Point] = []
    for point in sorted(found, key=lambda p: (p.cost, -p.quality)):
        if not best or point.quality > best[-1].quality:
            best.append(point)
    return best


def _free(x: float, y: float, taken: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Find a place beside a point at which no number stands yet."""
    places = [(x + dx, y + dy) for dy in (0, -11, 11, -20, 20) for dx in (11, -11, 0, 20, -20) if dx or dy]
    inside = [(a, b) for a, b in places if LEFT + 6 < a < WIDTH - 6 and TOP - 12 < b < TOP + HEIGHT + 4]
    for a, b in inside:
        if all(abs(a - c) > 12 or abs(b - d) > 10 for c, d in taken):
            return a, b
    return inside[0] if inside else (x, y)
