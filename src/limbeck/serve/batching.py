"""Texts that wait together are run together; nothing waits for a timer, and not too much waits at all."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from limbeck.serve.limits import Limits
from limbeck.serve.refusals import overloaded, too_late

Given = TypeVar("Given")

# A batch that is expected to take less is run where requests are read: two threads that pass the interpreter to and fro
# take longer than that.
AT_ONCE = 0.010
# How fast the expected time of a text follows what is seen, and how many times as long a batch counts at most: the
# machine may stall, and a large request would seem too slow for its deadline.
FOLLOWS, LONGEST = 0.1, 2.0


@dataclass
class _Job(Generic[Given]):
    texts: Sequence[str]
    arrived: float
    deadline: float
    answer: asyncio.Future[Sequence[Given]] = field(repr=False)


@dataclass(frozen=True)
class Ran:
    """What a batch took: texts, requests, seconds that its first request waited, and seconds that it ran."""

    texts: int
    requests: int
    waited: float
    seconds: float


class Batcher(Generic[Given]):
    """Takes texts from many requests, and gives each its answers. It lives in one event loop.

    While a batch runs, others wait; when it is done all that wait run together, up to `limits.together` texts. A lone
    request runs at once. Past `limits.waiting` texts a request is refused, but for one that finds nothing waiting.
    """

    def __init__(
        self,
        run: Callable[[list[str]], Sequence[Given]],
        limits: Limits,
        on_batch: Callable[[Ran], None] = lambda ran: None,
        seconds_a_text: float = 0.001,
    ) -> None:
        """Answer with `run`, which gives one answer a text and may be called in another thread."""
        self._run, self._limits, self._on_batch = run, limits, on_batch
        self._jobs: deque[_Job[Given]] = deque()
        self._workers: ThreadPoolExecutor | None = None
        self._busy = self._called = False
        self.waiting = 0
        self.running = 0
        self.seconds_a_text = seconds_a_text

    @property
    def full(self) -> bool:
        """Whether a request would be refused if it came now."""
        return self.waiting >= self._limits.waiting

    @property
    def seconds_to_wait(self) -> float:
        """How long it takes until a request that comes now is begun, about."""
        return (self.waiting + self.running) * self.seconds_a_text

    async def answer(self, texts: Sequence[str], deadline: float) -> Sequence[Given]:
        """Give one answer a text, by `deadline` (of time.monotonic) or not at all; the texts aren't parted."""
        if not texts:
            return []
        if self.waiting and self.waiting + len(texts) > self._limits.waiting:
            raise overloaded(self.seconds_to_wait)
        now = time.monotonic()
        if now + self.seconds_to_wait > deadline:
            raise too_late()
        loop = asyncio.get_running_loop()
        job: _Job[Given] = _Job(texts, now, deadline, loop.create_future())
        self._jobs.append(job)
        self.waiting += len(texts)
        self._call(loop)
        return await job.answer

    async def finished(self) -> None:
        """Wait until nothing waits or runs."""
        while self._jobs or self._busy:
            await asyncio.sleep(0.005)

    def close(self) -> None:
        """End the thread, if there is one."""
        if self._workers is not None:
            self._workers.shutdown(wait=False)

    def _call(self, loop: asyncio.AbstractEventLoop) -> None:
        """Run what waits after the other requests of this turn of the loop have come in."""
        if not self._called and not self._busy and self._jobs:
            self._called = True
            loop.call_soon(self._next, loop)

    def _next(self, loop: asyncio.AbstractEventLoop) -> None:
        self._called = False
        jobs = self._taken()
        if not jobs:
            self._call(loop)
            return
        texts = [text for job in jobs for text in job.texts]
        self.running = len(texts)
        if len(texts) * self.seconds_a_text <= AT_ONCE:
            self._done(loop, jobs, *self._timed(texts))
        else:
            self._busy = True
            if self._workers is None:
                self._workers = ThreadPoolExecutor(1, "limbeck-batches")
            self._workers.submit(self._in_thread, loop, jobs, texts)

    def _taken(self) -> list[_Job[Given]]:
        """Take the jobs of one batch; what nobody waits for any more, or what would be too late, costs nothing."""
        jobs: list[_Job[Given]] = []
        texts, now = 0, time.monotonic()
        while self._jobs and (not jobs or texts + len(self._jobs[0].texts) <= self._limits.together):
            job = self._jobs.popleft()
            self.waiting -= len(job.texts)
            if job.answer.done():
                continue
            if now + len(job.texts) * self.seconds_a_text > job.deadline:
                job.answer.set_exception(too_late())
                continue
            jobs.append(job)
            texts += len(job.texts)
        return jobs

    def _timed(self, texts: list[str]) -> tuple[Sequence[Given] | Exception, float]:
        began = time.perf_counter()
        try:
            found: Sequence[Given] | Exception = self._run(texts)
        except Exception as error:  # it belongs to those who asked, and must not end the loop
            found = error
        return found, time.perf_counter() - began

    def _in_thread(self, loop: asyncio.AbstractEventLoop, jobs: list[_Job[Given]], texts: list[str]) -> None:
        found, seconds = self._timed(texts)
        loop.call_soon_threadsafe(self._done, loop, jobs, found, seconds)

    def _done(
        self,
        loop: asyncio.AbstractEventLoop,
        jobs: list[_Job[Given]],
        found: Sequence[Given] | Exception,
        seconds: float,
    ) -> None:
        texts, self.running, self._busy = self.running, 0, False
        seen = min(seconds / max(1, texts), LONGEST * self.seconds_a_text)
        self.seconds_a_text += FOLLOWS * (seen - self.seconds_a_text)
        at = 0
        for job in jobs:
            if job.answer.done():  # its client went away meanwhile
                pass
            elif isinstance(found, Exception):
                job.answer.set_exception(found)
            else:
                job.answer.set_result(found[at : at + len(job.texts)])
            at += len(job.texts)
        waited = time.monotonic() - seconds - jobs[0].arrived
        self._on_batch(Ran(texts, len(jobs), max(0.0, waited), seconds))
        self._call(loop)
