"""Independent tasks, one after the other on this machine: each already uses all its cores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from limbeck.progress import progress

Task = TypeVar("Task")
Result = TypeVar("Result")


class Executor(Protocol):
    """Something that does tasks; `work` keeps each result in the store, so that a kill costs at most one task."""

    def run(self, work: Callable[[Task], Result], tasks: Sequence[Task], what: str) -> list[Result]:
        """Do all tasks, wherever and in whatever order; give their results in the order of the tasks."""
        ...


class ThisMachine:
    """Does tasks in this process, showing how many are done, how fast, and how long the rest will take."""

    def run(self, work: Callable[[Task], Result], tasks: Sequence[Task], what: str) -> list[Result]:
        """Do all tasks in order."""
        return [work(task) for task in progress(tasks, what, len(tasks))]
