"""Progress of long work: a bar with a rate and a remaining time on a terminal, silence elsewhere."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from rich.progress import Progress

T = TypeVar("T")

_quiet = False
_display: Progress | None = None


class Advance(Protocol):
    """Says that so many more are done; a note stands behind what is being done from then on, or something instead."""

    def __call__(self, done: int, note: str = "", instead: str = "") -> None:
        """Say so."""
        ...


def _nothing(done: int, note: str = "", instead: str = "") -> None:
    """Show nothing."""


def set_quiet(quiet: bool) -> None:
    """Switch all progress bars off, for `--quiet` and `--json`."""
    global _quiet
    _quiet = quiet


def progress(items: Iterable[T], what: str, total: int | None = None) -> Iterator[T]:
    """Pass `items` through, showing how many of `total` are done, how fast, and how long the rest will take."""
    with bar(what, total) as advance:
        for item in items:
            yield item
            advance(1)


@contextlib.contextmanager
def bar(what: str, total: int | None = None) -> Iterator[Advance]:
    """Show a bar while the block runs; what it gives, called with a number, says that so many more are done.

    Bars inside a bar stand below it.
    """
    if _quiet or not sys.stderr.isatty():
        yield _nothing
        return
    with _shared_display() as display:
        task = display.add_task(what, total=total, rate="")

        def advance(done: int, note: str = "", instead: str = "") -> None:
            mine = next(t for t in display.tasks if t.id == task)
            speed = mine.finished_speed or mine.speed
            told = f"{what} ({note})" if note else instead or mine.description
            display.update(task, advance=done, rate=_rate(speed) if speed else "", description=told)

        try:
            yield advance
        finally:
            display.remove_task(task)


@contextlib.contextmanager
def _shared_display() -> Iterator[Progress]:
    """Give the one display that a terminal has room for."""
    global _display
    if _display is not None:
        yield _display
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    # A day: tasks may take minutes each, and the usual half a minute would forget them all.
    with Progress(*columns, console=Console(stderr=True), transient=True, speed_estimate_period=86_400) as _display:
        try:
            yield _display
        finally:
            _display = None


def _rate(speed: float) -> str:
    return f"{speed:.1f}/s" if speed >= 1 else f"{1 / speed:.1f} s each"
