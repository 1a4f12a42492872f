"""Who watches training: told of every evaluation, and free to end the run."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Evaluation:
    """How a run stands: its name, which is the same for the same part of other runs, and its best F1 so far.

    `best` is the mean over the held-out fold and dev's tuning half. After the `last` evaluation it trains no more.
    """

    run: str
    step: int
    total: int
    best: float
    last: bool


class TrainingEnded(Exception):
    """A watcher has seen enough. A run that `goes_on` some time keeps its state; nothing stays of any other."""

    def __init__(self, goes_on: bool = False) -> None:
        self.goes_on = goes_on
        super().__init__("Training was ended by whoever watches it.")


Watcher = Callable[[Evaluation], None]

_watcher: Watcher | None = None


@contextlib.contextmanager
def watched(watcher: Watcher) -> Iterator[None]:
    """Let somebody watch all training of this process while the block runs; raising `TrainingEnded` ends a run."""
    global _watcher
    before, _watcher = _watcher, watcher
    try:
        yield
    finally:
        _watcher = before


def tell(evaluation: Evaluation) -> None:
    """Tell whoever watches."""
    if _watcher is not None:
        _watcher(evaluation)
