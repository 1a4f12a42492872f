"""Progress of long work: a bar with a rate and a remaining time on a terminal, silence elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")

_quiet = False


def set_quiet(quiet: bool) -> None:
    """Switch all progress bars off, for `--quiet` and `--json`."""
    global _quiet
    _quiet = quiet


def progress(items: Iterable[T], what: str, total: int | None = None) -> Iterator[T]:
    """Pass `items` through, showing how many of `total` are done, how fast, and how long the rest will take."""
    if _quiet or not sys.stderr.isatty():
        yield from items
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
    with Progress(*columns, console=Console(stderr=True), transient=True, speed_estimate_period=86_400) as bar:
        task = bar.add_task(what, total=total, rate="")
        for item in items:
            yield item
            speed = bar.tasks[0].finished_speed or bar.tasks[0].speed
            bar.update(task, advance=1, rate=_rate(speed) if speed else "")


def _rate(speed: float) -> str:
    return f"{speed:.1f}/s" if speed >= 1 else f"{1 / speed:.1f} s each"
