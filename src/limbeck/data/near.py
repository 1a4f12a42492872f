"""Texts that are nearly the same: found by MinHash signatures (Broder, 1997) and banding, in a stream.

datasketch's MinHash and its LSH table take 180 µs a short text and keep a signature and nine sets a text in memory:
some gigabytes for a million. Here numpy makes the signatures of many texts at once, they wait in a file, and texts that
share a band are found by sorting, a band at a time, so that memory grows by some tens of bytes a text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType

import numpy as np
from numpy.typing import NDArray

from limbeck.text import normalise

# Characters a shingle. One word that differs costs a short text as many shingles as it has letters, and four; a typing
# error five; compounds and languages without spaces need no rule of their own.
SHINGLE = 5
# How many numbers a signature has: the share of equal ones is within 0.035 of a likeness of 0.8, two times of three.
WIDTH = 128
# How often, at least, two texts exactly as alike as the limit share a band.
RECALL = 0.98
_CHARACTERS = 1 << 18

Ints = NDArray[np.int64]
_Words = NDArray[np.uint32]


@dataclass(frozen=True)
class Copies:
    """For each text, by its place: the earlier text that it is a near copy of, or -1, and how alike the two are.

    A text that others are copies of is no copy itself.
    """

    of: Ints
    likeness: NDArray[np.float32]


class Signatures:
    """The signatures of texts in a file of 512 bytes a text, which goes when it is closed."""

    def __init__(self, file: Path) -> None:
        """Open a new file."""
        self._file = file
        self._out = file.open("wb+")
        self._blocks: list[tuple[int, int]] = []
        self._end = 0

    def __enter__(self) -> Signatures:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._out.close()
        self._file.unlink(missing_ok=True)

    def __len__(self) -> int:
        return sum(texts for _, texts in self._blocks)

    def add(self, texts: Iterable[str]) -> None:
        """Sign some more texts."""
        for batch in _batches(map(normalise, texts)):
            signed = sign(batch)
            self._out.write(signed.tobytes())
            self._blocks.append((self._end, len(batch)))
            self._end += signed.nbytes

    def number(self, place: int) -> _Words:
        """Give one of the numbers of every signature."""
        parts = [np.zeros(0, dtype=np.uint32)]
        for start, texts in self._blocks:
            self._out.seek(start + place * texts * 4)
            parts.append(np.frombuffer(self._out.read(texts * 4), dtype=np.uint32))
        return np.concatenate(parts)


def sign(keys: Sequence[str]) -> _Words:
    """Give signatures [WIDTH, texts] of normalised texts."""
    hashes, starts = _shingles(keys)
    signed = np.empty((WIDTH, len(keys)), dtype=np.uint32)
    # A product with an odd number reorders all 32-bit numbers; the shingles' hashes are well mixed before.
    for place, (factor, step) in enumerate(_orders()):
        np.minimum.reduceat(hashes * factor + step, starts, out=signed[place])
    return signed


def near_copies(signatures: Signatures, limit: float, order: Ints | None = None, stay: Ints | None = None) -> Copies:
    """Find the texts that are at least as alike as `limit` to one that comes before them and is no copy itself.

    `order` gives the places of texts from the first to the last, `stay` the places of those that are never copies.
    Likeness is the share of shingles of two texts that both have (Jaccard), as their signatures estimate it.
    """
    total = len(signatures)
    order = np.arange(total) if order is None else order
    staying = np.zeros(total, dtype=np.bool_)
    if stay is not None:
        staying[stay] = True
    first, second = _candidates(signatures, limit, order)
    likeness = _likeness(signatures, order, first, second)
    pairs = _Pairs(first, second, likeness).of_at_least(limit)
    found = pairs.resolve(staying[order])
    # A text near to copies alone may be near to what they are copies of.
    beyond = pairs.beyond(found)
    if len(beyond.first):
        beyond.likeness = _likeness(signatures, order, beyond.first, beyond.second)
        found = pairs.with_others(beyond.of_at_least(limit)).resolve(staying[order])
    of, alike = np.full(total, -1, dtype=np.int64), np.zeros(total, dtype=np.float32)
    copies = np.flatnonzero(found.of >= 0)
    of[order[copies]] = order[found.of[copies]]
    alike[order[copies]] = found.likeness[copies]
    return Copies(of, alike)


@dataclass
class _Pairs:
    """Pairs of places, the first before the second, and how alike they are."""

    first: Ints
    second: Ints
    likeness: NDArray[np.float32]

    def of_at_least(self, limit: float) -> _Pairs:
        near = self.likeness >= limit
        return _Pairs(self.first[near], self.second[near], self.likeness[near])

    def with_others(self, others: _Pairs) -> _Pairs:
        return _Pairs(
            np.concatenate([self.first, others.first]),
            np.concatenate([self.second, others.second]),
            np.concatenate([self.likeness, others.likeness]),
        )

    def resolve(self, staying: NDArray[np.bool_]) -> Copies:
        """Go through the texts in order: one is a copy of the first to which it is near and that is none itself."""
        of = np.full(len(staying), -1, dtype=np.int64)
        alike = np.zeros(len(staying), dtype=np.float32)
        order = np.lexsort((self.first, self.second))
        for first, second, likeness in zip(
            self.first[order].tolist(), self.second[order].tolist(), self.likeness[order].tolist(), strict=True
        ):
            if of[second] < 0 and of[first] < 0 and not staying[second]:
                of[second], alike[second] = first, likeness
        return Copies(of, alike)

    def beyond(self, found: Copies) -> _Pairs:
        """Pair the texts that are no copies with what their near ones are copies of."""
        mine = (found.of[self.second] < 0) & (found.of[self.first] >= 0)
        first, second = found.of[self.first[mine]], self.second[mine]
        return _Pairs(first, second, np.zeros(len(first), dtype=np.float32))


def count_near(texts: Sequence[str], limit: float) -> int:
    """Count the texts that are near copies of earlier ones."""
    with TemporaryDirectory() as folder, Signatures(Path(folder) / "signatures.bin") as signatures:
        signatures.add(texts)
        return int((near_copies(signatures, limit).of >= 0).sum())


def _candidates(signatures: Signatures, limit: float, order: Ints) -> tuple[Ints, Ints]:
    """Pair each text with the first and with the last one before it that share a band with it.

    All pairs of a band would be too many where thousands of texts are alike.
    """
    total = len(order)
    pairs = np.zeros(0, dtype=np.int64)
    rows = rows_of_bands(limit)
    for start in range(0, WIDTH - rows + 1, rows):
        key = np.zeros(total, dtype=np.uint64)
        for place in range(start, start + rows):
            key = _mixed(key + signatures.number(place)[order])
        by_key = np.argsort(key, kind="stable")
        same = np.concatenate([[False], key[by_key][1:] == key[by_key][:-1]])
        leads = np.maximum.accumulate(np.where(same, 0, np.arange(total)))
        there = np.flatnonzero(same)
        second = by_key[there]
        made = [by_key[before].astype(np.int64) * total + second for before in (leads[there], there - 1)]
        pairs = np.unique(np.concatenate([pairs, *made]))
    return pairs // max(total, 1), pairs % max(total, 1)


def rows_of_bands(limit: float) -> int:
    """Say of how many numbers a band is made: as many as leave the wanted recall at the limit."""
    enough = [rows for rows in range(1, WIDTH + 1) if 1 - (1 - limit**rows) ** (WIDTH // rows) >= RECALL]
    return max(enough)


def _likeness(signatures: Signatures, order: Ints, first: Ints, second: Ints) -> NDArray[np.float32]:
    equal = np.zeros(len(first), dtype=np.uint8)
    for place in range(WIDTH) if len(first) else ():
        number = signatures.number(place)[order]
        equal += number[first] == number[second]
    return np.asarray(equal / WIDTH, dtype=np.float32)


def _batches(keys: Iterable[str]) -> Iterator[list[str]]:
    waiting: list[str] = []
    characters = 0
    for key in keys:
        waiting.append(key)
        characters += max(len(key), SHINGLE)
        if characters >= _CHARACTERS:
            yield waiting
            waiting, characters = [], 0
    if waiting:
        yield waiting


def _shingles(keys: Sequence[str]) -> tuple[_Words, Ints]:
    """Give the hashes of all texts' shingles, text after text, and where each text's start; a short text is one."""
    padded = [key.ljust(SHINGLE) for key in keys]
    codes = np.frombuffer("".join(padded).encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    ends = np.cumsum([len(key) for key in padded])
    windows = len(codes) - SHINGLE + 1
    hashes = np.zeros(windows, dtype=np.uint64)
    for place in range(SHINGLE):
        hashes = hashes * np.uint64(0x100000001B3) + codes[place : place + windows]
    inside = np.ones(windows + SHINGLE - 1, dtype=np.bool_)
    for back in range(1, SHINGLE):
        inside[ends - back] = False
    starts = np.concatenate([[0], ends[:-1]]) - np.arange(len(keys)) * (SHINGLE - 1)
    mixed = _mixed(hashes[inside[:windows]])
    return (mixed >> np.uint64(32)).astype(np.uint32), starts


def _mixed(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Scatter 64-bit numbers (the mixing of SplitMix64; Steele, Lea & Flood, 2014)."""
    mixed = numbers + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(mixed ^ (mixed >> np.uint64(31)))


def _orders() -> list[tuple[np.uint32, np.uint32]]:
    """Give the factor and the step of each reordering; they are the same always, so that results are."""
    drawn = _mixed(np.arange(1, 2 * WIDTH + 1, dtype=np.uint64)).astype(np.uint32)
    return [(np.uint32(factor | 1), np.uint32(step)) for factor, step in drawn.reshape(WIDTH, 2).tolist()]
