"""Parallel coordinates: an axis a row, and a line down through all of them for each of many things."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from limbeck.report.charts.frame import NAMES, RIGHT, WIDTH, Look, Scale, drawing, fitting, mark, named, shown
from limbeck.report.markup import Markup, element

ROW, TOP = 40.0, 14.0


@dataclass(frozen=True)
class Axis:
    """A row: its name and what is written of it, and either its ends or the values that stand side by side."""

    name: str
    low: float = 0.0
    high: float = 1.0
    log: bool = False
    one_of: Sequence[str] = ()
    label: str = ""

    def scale(self) -> Scale:
        """Give the way from its values, or from the numbers of those side by side, to places."""
        start, end = NAMES, WIDTH - RIGHT - 8
        if self.one_of:
            return Scale(0, max(1, len(self.one_of) - 1), start, end)
        return Scale(self.low, self.high if self.high > self.low else self.low + 1, start, end, self.log)


@dataclass(frozen=True)
class Strand:
    """A line through all axes: a value for each of them, or None where it has none, how it looks and what it says."""

    values: Sequence[float | None]
    look: Look
    tells: str
    faint: bool = False


def parallel(title: str, axes: Sequence[Axis], strands: Sequence[Strand]) -> Markup:
    """Draw strands from the first axis down to the last; what is drawn last lies on top."""
    parts, told = list[Markup](), list[Markup]()
    scales = [axis.scale() for axis in axes]
    for at, (axis, scale) in enumerate(zip(axes, scales, strict=True)):
        y = TOP + ROW * at
        parts.append(named(axis.label or axis.name, y))
        parts.append(element("line", x1=scale.start, x2=scale.end, y1=y, y2=y, class_="zero"))
        ends = [(float(place), name) for place, name in enumerate(axis.one_of)] or [
            (value, shown(float(f"{value:.3g}"))) for value in (axis.low, axis.high)
        ]
        room = (scale.end - scale.start) / max(1, len(ends) - 1) if len(ends) > 2 else 90.0
        for number, (place, name) in enumerate(ends):
            anchor = "start" if number == 0 else "end" if number == len(ends) - 1 else "middle"
            short = fitting(name, room)
            x = scale(place)
            told.append(element("text", short, x=x, y=y + 15, text_anchor=anchor, class_="tick over"))
    for strand in strands:
        known = [
            (scale(value), TOP + ROW * at)
            for at, (scale, value) in enumerate(zip(scales, strand.values, strict=True))
            if value is not None
        ]
        if not known:
            continue
        path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in known)
        kind = f"line {strand.look.colour}" + (" faint" if strand.faint else "")
        parts.append(element("path", element("title", strand.tells), d=path, class_=kind))
        if not strand.faint:
            parts += [mark(x, y, strand.look, strand.tells, size=3) for x, y in known]
    # Last, so that they can be read where strands cross them.
    return drawing(TOP + ROW * (len(axes) - 1) + 24, *parts, *told, title=title)


def positions(axis: Axis, values: Mapping[str, object]) -> float | None:
    """Give the place of a value on its axis, if there is one."""
    value = values.get(axis.name)
    if value is None:
        return None
    if axis.one_of:
        return float(axis.one_of.index(str(value))) if str(value) in axis.one_of else None
    return float(value) if isinstance(value, int | float) else None
