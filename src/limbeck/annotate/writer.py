"""A thread that writes to the store for many requests: those that wait together share one commit."""

from __future__ import annotations

import queue
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from limbeck.annotate.store import Store
from limbeck.annotate.texts import NewText, Vote
from limbeck.errors import StoreBusy, TextRefused


@dataclass(frozen=True)
class _Entry:
    what: NewText | Vote
    answer: Future[Any] = field(default_factory=Future)


class GroupWriter:
    """Writes what is submitted, in order; an answer comes once it is on the disk, or with the error that kept it off.

    The disk is asked once for all that came while it was busy with those before, so a lone entry never waits for
    others. The store stays open when the writer closes.
    """

    def __init__(self, store: Store, most_waiting: int = 1000, most_together: int = 200) -> None:
        """Write to `store`; past `most_waiting` entries, more are refused."""
        self._store = store
        self._most_together = most_together
        # None is the last entry.
        self._entries: queue.Queue[_Entry | None] = queue.Queue(most_waiting)
        self._door = threading.Lock()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="limbeck-store-writer", daemon=True)
        self._thread.start()

    def __enter__(self) -> GroupWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def submit(self, new: NewText) -> Future[str]:
        """Have a text added; the answer is its public id."""
        return self._put(_Entry(new))

    def vote(self, vote: Vote) -> Future[bool]:
        """Have a vote noted; the answer says whether its text is known."""
        return self._put(_Entry(vote))

    def close(self) -> None:
        """Take no more, write what waits, and return when that is done."""
        with self._door:
            first, self._closed = not self._closed, True
        if first:
            self._entries.put(None)
        self._thread.join()

    def _put(self, entry: _Entry) -> Future[Any]:
        with self._door:
            if self._closed:
                raise StoreBusy("The store's writer is closed.", "Send it again when the server is back.")
            try:
                self._entries.put_nowait(entry)
            except queue.Full:
                raise StoreBusy(
                    f"{self._entries.maxsize} entries wait to be written to the store.", "Try again later."
                ) from None
        return entry.answer

    def _run(self) -> None:
        last = False
        while not last:
            group, last = self._next_group()
            self._write([entry for entry in group if entry.answer.set_running_or_notify_cancel()])

    def _next_group(self) -> tuple[list[_Entry], bool]:
        group: list[_Entry] = []
        entry = self._entries.get()
        while entry is not None:
            group.append(entry)
            if len(group) == self._most_together:
                return group, False
            try:
                entry = self._entries.get_nowait()
            except queue.Empty:
                return group, False
        return group, True

    def _write(self, group: Sequence[_Entry]) -> None:
        if not group:
            return
        try:
            answers = self._store.record([entry.what for entry in group])
        except Exception as error:
            if isinstance(error, TextRefused) and len(group) > 1:
                # One is bad, and the others must not suffer for it.
                for entry in group:
                    self._write([entry])
                return
            # Whatever it was, those who wait must know, and those who come must be served.
            for entry in group:
                entry.answer.set_exception(error)
        else:
            for entry, answer in zip(group, answers, strict=True):
                entry.answer.set_result(answer)
