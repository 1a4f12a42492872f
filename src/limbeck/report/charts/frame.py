"""What all charts share: scales, ticks, axes, names that fit, and marks that differ by more than colour."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from limbeck.report.markup import Markup, element, joined

WIDTH = 360.0
NAMES, RIGHT = 128.0, 12.0
# A character of the page's font is about so wide at the size of charts' names.
CHARACTER = 6.1


@dataclass(frozen=True)
class Look:
    """How a model looks everywhere: a class that has its colour, and the shape of its mark."""

    colour: str = "plain"
    shape: str = "circle"


@dataclass(frozen=True)
class Scale:
    """From values to places; logarithmic if it says so."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, value: float) -> float:
        """Give the place of a value; what lies outside is drawn at the edge."""
        low, high, at = (math.log10(v) if self.log else v for v in (self.low, self.high, self._inside(value)))
        return self.start + (at - low) / ((high - low) or 1.0) * (self.end - self.start)

    def _inside(self, value: float) -> float:
        return min(max(value, self.low), self.high)

    def ticks(self, most: int = 5) -> list[float]:
        """Give round values inside, at most about so many."""
        if self.log:
            first, last = math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9)
            found = [10.0**power for power in range(first, last + 1)]
            return found if len(found) > 1 else [self.low, self.high]
        step = round_step((self.high - self.low) / most)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [number * step for number in range(first, last + 1)]


def scale_of(values: Sequence[float], start: float, end: float, log: bool = False, zero: bool = False) -> Scale:
    """Give a scale that has room for finite values, with round ends; from 0 if asked."""
    known = [value for value in values if math.isfinite(value) and (value > 0 or not log)]
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    if log:
        return Scale(
            10.0 ** math.floor(math.log10(low)), 10.0 ** math.ceil(math.log10(high * 1.0001)), start, end, True
        )
    low, high = (min(0.0, low), max(0.0, high)) if zero else (low, high)
    step = round_step(((high - low) or abs(high) or 1.0) / 4)
    return Scale(math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step or step, start, end)


def round_step(size: float) -> float:
    """Give 1, 2 or 5 times a power of ten, not much below a size."""
    power = 10.0 ** math.floor(math.log10(size)) if size > 0 else 1.0
    return next(power * times for times in (1.0, 2.0, 5.0, 10.0) if power * times >= size * 0.999)


def shown(value: float) -> str:
    """Write a value as briefly as an axis needs it."""
    size = abs(value)
    if size >= 1e6:
        return f"{value / 1e6:g}M"
    if size >= 1e4:
        return f"{value / 1e3:g}k"
    return f"{value:,.0f}" if size >= 100 else f"{round(value, 10):g}"


def fitting(name: str, room: float) -> str:
    """Shorten a name to so many pixels."""
    wide = [CHARACTER * (2 if unicodedata.east_asian_width(c) in "WF" else 1) for c in name]
    if sum(wide) <= room:
        return name
    kept, used = "", CHARACTER
    for character, size in zip(name, wide, strict=True):
        if used + size > room:
            break
        kept, used = kept + character, used + size
    return kept.rstrip() + "…"


def named(name: str, y: float, room: float = NAMES - 8) -> Markup:
    """Write the name of a row, whole where somebody points at it."""
    short = fitting(name, room)
    return element("text", short, element("title", name), x=NAMES - 6, y=y + 4, text_anchor="end", class_="name")


def drawing(height: float, *inside: object, title: str, width: float = WIDTH) -> Markup:
    """Make the picture."""
    return element(
        "svg",
        element("title", title),
        *inside,
        viewBox=f"0 0 {width:g} {height:g}",
        role="img",
        xmlns="http://www.w3.org/2000/svg",
    )


def upright(scale: Scale, top: float, bottom: float, label: str = "", most: int = 5) -> Markup:
    """Draw a horizontal axis: lines up through the picture, values below, and what they are."""
    parts = []
    for value in scale.ticks(most):
        x = scale(value)
        kind = "zero" if value == 0 else "rule"
        parts.append(element("line", x1=x, x2=x, y1=top, y2=bottom, class_=kind))
        anchor = "start" if x < 12 else "end" if x > WIDTH - 12 else "middle"
        parts.append(element("text", shown(value), x=x, y=bottom + 16, text_anchor=anchor, class_="tick"))
    if label:
        middle = (scale.start + scale.end) / 2
        parts.append(element("text", label, x=middle, y=bottom + 31, text_anchor="middle", class_="axis"))
    return joined(*parts)


def level(scale: Scale, left: float, right: float, label: str = "") -> Markup:
    """Draw a vertical axis: lines across the picture, values to the left, and what they are above."""
    parts = []
    for value in scale.ticks(4):
        y = scale(value)
        kind = "zero" if value == 0 else "rule"
        parts.append(element("line", x1=left, x2=right, y1=y, y2=y, class_=kind))
        parts.append(element("text", shown(value), x=left - 5, y=y + 4, text_anchor="end", class_="tick"))
    if label:
        parts.append(element("text", label, x=2, y=scale.end - 9, text_anchor="start", class_="axis"))
    return joined(*parts)


def mark(x: float, y: float, look: Look, tells: str = "", size: float = 4.2) -> Markup:
    """Draw a model's mark, with what it says to those who point at it."""
    title = element("title", tells) if tells else ""
    kind = f"mark {look.colour}"
    if look.shape == "circle":
        return element("circle", title, cx=x, cy=y, r=size, class_=kind)
    if look.shape == "square":
        return element("rect", title, x=x - size, y=y - size, width=2 * size, height=2 * size, class_=kind)
    s = size * 1.25
    d = {
        "diamond": f"M{x:.1f} {y - s:.1f}l{s:.1f} {s:.1f}l{-s:.1f} {s:.1f}l{-s:.1f} {-s:.1f}z",
        "up": f"M{x:.1f} {y - s:.1f}l{s:.1f} {1.8 * s:.1f}h{-2 * s:.1f}z",
        "down": f"M{x:.1f} {y + s:.1f}l{s:.1f} {-1.8 * s:.1f}h{-2 * s:.1f}z",
        "cross": f"M{x - s:.1f} {y - s:.1f}l{2 * s:.1f} {2 * s:.1f}m0 {-2 * s:.1f}l{-2 * s:.1f} {2 * s:.1f}",
        "plus": f"M{x - s:.1f} {y:.1f}h{2 * s:.1f}m{-s:.1f} {-s:.1f}v{2 * s:.1f}",
    }[look.shape]
    return element("path", title, d=d, class_=kind + (" thin" if look.shape in ("cross", "plus") else ""))
