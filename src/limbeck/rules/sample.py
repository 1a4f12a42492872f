"""A fair draw of different texts from a stream, in one pass."""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Callable
from typing import Generic, TypeVar

from limbeck.text import normalise

T = TypeVar("T")


def ticket(text: str, seed: int) -> int:
    """Draw a number for a text; texts that are the same after normalising draw the same."""
    raw = normalise(text).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(raw, digest_size=8, key=str(seed).encode()).digest())


class Sample(Generic[T]):
    """What belongs to the `size` lowest tickets: every different text is as likely, however often it occurs."""

    def __init__(self, size: int) -> None:
        """Start from nothing."""
        self._size = size
        self._heap: list[int] = []
        self._held: dict[int, T] = {}

    def offer(self, number: int, make: Callable[[], T]) -> None:
        """Take what `make` gives, if the ticket is low enough and was not taken before."""
        if number in self._held or not self._size:
            return
        if len(self._heap) == self._size:
            if number > -self._heap[0]:
                return
            del self._held[-heapq.heappop(self._heap)]
        heapq.heappush(self._heap, -number)
        self._held[number] = make()

    def drawn(self) -> list[tuple[int, T]]:
        """Give tickets and what belongs to them, the lowest first."""
        return sorted(self._held.items(), key=lambda item: item[0])
