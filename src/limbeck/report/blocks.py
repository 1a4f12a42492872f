"""What a section is made of: pictures, rows of small pictures, tables, remarks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from limbeck.report.charts import Look
from limbeck.report.markup import Markup

Legend = Sequence[tuple[Look, str]]


@dataclass(frozen=True)
class Picture:
    """A chart, what it shows, and who is who in it."""

    title: str
    svg: Markup
    caption: str = ""
    legend: Legend = ()


@dataclass(frozen=True)
class Small:
    """Many small charts of one kind."""

    title: str
    svgs: Sequence[Markup]
    caption: str = ""
    legend: Legend = ()


@dataclass(frozen=True)
class Table:
    """Rows under a head; a folded one is shown when it is asked for. Of `texts`, the first column is long."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[object]]
    caption: str = ""
    folded: bool = False
    texts: bool = False


@dataclass(frozen=True)
class Remark:
    """A sentence or two."""

    text: str


@dataclass(frozen=True)
class Marked:
    """Markup of a section's own."""

    inside: Markup


Block = Picture | Small | Table | Remark | Marked


@dataclass(frozen=True)
class Section:
    """A part of the report: `key` is its address in the page, `lead` what it comes to in a sentence."""

    key: str
    title: str
    lead: str
    blocks: Sequence[Block]


def percent(value: float, digits: int = 1) -> str:
    """Write a share."""
    return f"{value:.{digits}%}"


def between(low: float, high: float) -> str:
    """Write an interval."""
    return f"[{low:.3f}, {high:.3f}]"


def milliseconds(value: float) -> str:
    """Write a time, in microseconds below a millisecond."""
    return f"{value * 1e3:.0f} µs" if value < 1 else f"{value:.3g} ms"


def megabytes(size: float) -> str:
    """Write a size."""
    return f"{size / 1e6:.1f} MB" if size >= 1e5 else f"{size / 1e3:.0f} kB"
