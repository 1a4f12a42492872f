"""Words as the numbers that a tagger's graph takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from limbeck.runtime.lexicon import Lexicon
from limbeck.runtime.tokenise import Tokeniser
from limbeck.runtime.wordforms import shape_of

Ints = NDArray[np.int64]
Array = NDArray[Any]
Read = tuple[Array, ...]
# Different words that are remembered; past that all are forgotten.
REMEMBERED = 1 << 15
# Words of a text that are read together; longer texts are read in parts.
MOST_WORDS = 192


class Reader(Protocol):
    """Turns words into arrays, named as the inputs of a graph; `most` is what a sentence's words may cost together."""

    names: tuple[str, ...]
    most: int

    def costs(self, words: Sequence[str]) -> list[int]:
        """Say how much of `most` each word takes."""
        ...

    def read(self, words: Sequence[str]) -> Read:
        """Give the arrays of one sentence."""
        ...

    def collate(self, sentences: Sequence[Read]) -> list[Array]:
        """Give the arrays of several sentences, padded to one length."""
        ...


class VectorReader:
    """For networks over word vectors: numbers in the lexicon [words, places] and marks of the form [words, marks]."""

    names: tuple[str, ...] = ("input_ids", "marks")
    most = MOST_WORDS

    def __init__(self, lexicon: Lexicon, marks: Callable[[str], list[int]]) -> None:
        """Look words up in `lexicon`, and describe their form by `marks`, 0 of which means nothing."""
        self._lexicon, self._marks = lexicon, marks
        self._places = lexicon.places
        self._lock = Lock()
        # Words and the table that their numbers are rows of, always exchanged together.
        self._memory = self._forgotten(REMEMBERED)

    def costs(self, words: Sequence[str]) -> list[int]:
        """Every word counts 1."""
        return [1] * len(words)

    def read(self, words: Sequence[str]) -> Read:
        """Give [words, places] and [words, marks]."""
        rows, table = self._rows(words)
        found = table[rows]
        return found[:, : self._places], found[:, self._places :]

    def collate(self, sentences: Sequence[Read]) -> list[Array]:
        """Pad with no word."""
        longest = max(len(ids) for ids, _ in sentences)
        together = np.zeros((len(sentences), longest, self._places + sentences[0][1].shape[1]), dtype=np.int64)
        together[:, :, : self._places] = self._lexicon.pad
        for row, (ids, marks) in enumerate(sentences):
            together[row, : len(ids), : self._places] = ids
            together[row, : len(ids), self._places :] = marks
        return [together[:, :, : self._places], together[:, :, self._places :]]

    def _rows(self, words: Sequence[str]) -> tuple[list[int], Ints]:
        """Give the rows of a table that describe these words; new ones are added."""
        known, table = self._memory
        try:
            return [known[word] for word in words], table
        except KeyError:
            pass
        with self._lock:
            known, table = self._memory
            if len(known) + len(words) > len(table):
                self._memory = known, table = self._forgotten(max(REMEMBERED, len(words)))
            for word in words:
                if word not in known:
                    # The row is filled before any other thread can find it.
                    table[len(known)] = [*self._lexicon(word), *self._marks(word)]
                    known[word] = len(known)
            return [known[word] for word in words], table

    def _forgotten(self, size: int) -> tuple[dict[str, int], Ints]:
        """Give an empty memory: new objects, because another thread may still be reading the old ones."""
        width = len(self._lexicon("a")) + len(self._marks("a"))
        return {}, np.zeros((size, width), dtype=np.int64)


class EncoderReader:
    """For encoders: ids of pieces, the shape of each one's word [pieces], and where each word begins [words]."""

    names: tuple[str, ...] = ("input_ids", "attention_mask", "shapes", "firsts")

    def __init__(self, told: bytes, max_tokens: int, pad_id: int, unknown_id: int) -> None:
        """Take a tokenizer.json; a sentence has at most `max_tokens` pieces, special ones included."""
        self._pieces = Tokeniser(told, max_tokens)
        self._pad_id, self._unknown_id = pad_id, unknown_id
        self._ends = len(self._pieces.first) + len(self._pieces.last)
        self.most = max_tokens - self._ends

    def costs(self, words: Sequence[str]) -> list[int]:
        """Count pieces."""
        return [len(self._cut(word)) for word in words]

    def read(self, words: Sequence[str]) -> Read:
        """Give ids, shapes and first pieces; a word past the limit has no piece, and isn't looked at (see `most`)."""
        ids, shapes = list(self._pieces.first), [0] * len(self._pieces.first)
        firsts = []
        for word in words:
            pieces = self._cut(word)
            firsts.append(len(ids))
            ids += pieces
            shapes += [shape_of(word)] * len(pieces)
        ids += self._pieces.last
        shapes += [0] * len(self._pieces.last)
        return tuple(np.array(found, dtype=np.int64) for found in (ids, shapes, firsts))

    def collate(self, sentences: Sequence[Read]) -> list[Array]:
        """Pad; the first piece of no word is the first special one."""
        pieces, words = max(len(read[0]) for read in sentences), max(len(read[2]) for read in sentences)
        ids = np.full((len(sentences), pieces), self._pad_id, dtype=np.int64)
        mask, shapes = np.zeros_like(ids), np.zeros_like(ids)
        firsts = np.zeros((len(sentences), words), dtype=np.int64)
        for row, (mine, looks, begins) in enumerate(sentences):
            ids[row, : len(mine)], mask[row, : len(mine)], shapes[row, : len(mine)] = mine, 1, looks
            firsts[row, : len(begins)] = begins
        return [ids, mask, shapes, firsts]

    def _cut(self, word: str) -> list[int]:
        """Give a word's pieces, of a monster only as many as fit; one that vanishes in normalising is unknown."""
        return (self._pieces.ids(word) or [self._unknown_id])[: self.most]


def parts(costs: Sequence[int], may_end: Sequence[bool], most: int) -> list[tuple[int, int]]:
    """Divide words into parts that cost at most `most` each, as (first, after the last).

    A part ends where a sentence may, if it does so in the part's second half; else at the last word that fits.
    """
    found: list[tuple[int, int]] = []
    start = total = 0
    for at, cost in enumerate(costs):
        # Again, if what is left after a sentence's end and this word are still too much.
        while total + cost > most and at > start:
            ends = [end for end in range((start + at) // 2 + 1, at + 1) if may_end[end - 1]]
            end = ends[-1] if ends else at
            found.append((start, end))
            start, total = end, sum(costs[end:at])
        total += cost
    return [*found, (start, len(costs))] if len(costs) > start else found
