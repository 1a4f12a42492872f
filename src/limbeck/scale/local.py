"""Independent tasks, one after the other on this machine: each already uses all its cores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol, TypeVar

from limbeck.progress import bar, progress

Task = TypeVar("Task")
Result = TypeVar("Result")


class Executor(Protocol):
    """Something that does tasks; `work` keeps each result in the store, so that a kill costs at most one task."""

    def run(
        self, work: Callable[[Task], Result], tasks: Sequence[Task], what: str, sizes: Sequence[int] | None = None
    ) -> list[Result]:
        """Do all tasks, wherever and in whatever order; give their results in the order of the tasks.

        `sizes` say how much each task counts in the progress that is shown.
        """
        ...

    def stream(self, work: Callable[[Task], Result], tasks: Iterable[Task], what: str) -> Iterator[Result]:
        """Do tasks as they come, few of them ahead of the results, which are given in the order of the tasks."""
        ...


class ThisMachine:
    """Does tasks in this process, showing how many are done, how fast, and how long the rest will take."""

    def run(
        self, work: Callable[[Task], Result], tasks: Sequence[Task], what: str, sizes: Sequence[int] | None = None
    ) -> list[Result]:
        """Do all tasks in order."""
        results = []
        with bar(what, sum(sizes) if sizes else len(tasks)) as advance:
            for place, task in enumerate(tasks):
                results.append(work(task))
                advance(sizes[place] if sizes else 1)
        return results

    def stream(self, work: Callable[[Task], Result], tasks: Iterable[Task], what: str) -> Iterator[Result]:
        """Do each task when its result is asked for."""
        return map(work, progress(tasks, what))
