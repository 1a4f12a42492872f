"""Sentences as a tagger learns them: the numbers of their words, their tags, and a teacher's guesses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from limbeck.data.sentences import Sentence
from limbeck.runtime.viterbi import tag_names
from limbeck.runtime.wordinputs import Array, Read, Reader
from limbeck.tagging.crf import UNKNOWN

Rows = NDArray[np.intp]
Tags = NDArray[np.int64]
Guesses = NDArray[np.float16]
Collate = Callable[[Sequence[Read]], list[Array]]


@dataclass(frozen=True)
class TaggedBatch:
    """Inputs of a network, tags and mask [sentences, words], guesses [sentences, words, tags], NaN for none.

    Tags are `UNKNOWN` where nobody knows, and past a sentence's end.
    """

    inputs: list[Tensor]
    tags: Tensor
    mask: Tensor
    guesses: Tensor | None


@dataclass(frozen=True)
class TaggedExamples:
    """Sentences that a network reads; `guesses`, if given, are a teacher's probabilities of tags, empty for none."""

    reads: list[Read]
    collate: Collate
    tags: list[Tags]
    guesses: list[Guesses] | None = None

    def __len__(self) -> int:
        """Count the sentences."""
        return len(self.reads)

    @cached_property
    def lengths(self) -> Rows:
        """Words of each sentence."""
        return np.array([len(tags) for tags in self.tags], dtype=np.intp)

    @cached_property
    def _guessed(self) -> int:
        """Tags that guesses are about."""
        return max((guess.shape[1] for guess in self.guesses or [] if guess.ndim == 2), default=0)

    def take(self, rows: Sequence[int] | Rows) -> TaggedExamples:
        """Give the sentences at these positions."""
        guesses = None if self.guesses is None else [self.guesses[row] for row in rows]
        return TaggedExamples(
            [self.reads[row] for row in rows], self.collate, [self.tags[row] for row in rows], guesses
        )

    def batch(self, rows: Rows, device: torch.device | str = "cpu") -> TaggedBatch:
        """Give padded tensors."""
        inputs = [
            torch.from_numpy(np.ascontiguousarray(a)).to(device) for a in self.collate([self.reads[r] for r in rows])
        ]
        lengths = self.lengths[rows]
        tags = np.full((len(rows), lengths.max()), UNKNOWN, dtype=np.int64)
        for place, row in enumerate(rows):
            tags[place, : lengths[place]] = self.tags[row]
        mask = torch.from_numpy(np.arange(lengths.max()) < lengths[:, None])
        guesses = None
        if self.guesses is not None:
            filled = np.full((*tags.shape, self._guessed), np.nan, dtype=np.float32)
            for place, row in enumerate(rows):
                if len(self.guesses[row]):
                    filled[place, : lengths[place]] = self.guesses[row]
            guesses = torch.from_numpy(filled).to(device)
        return TaggedBatch(inputs, torch.from_numpy(tags).to(device), mask.to(device), guesses)


def tag_numbers(sentences: Sequence[Sentence], types: Sequence[str]) -> list[Tags]:
    """Give the tags of sentences as a tagger's outputs are numbered."""
    numbers = {name: number for number, name in enumerate(tag_names(types))}
    return [np.array([numbers[tag] for tag in sentence.tags], dtype=np.int64) for sentence in sentences]


def unknown_tags(lengths: Sequence[int]) -> list[Tags]:
    """Give tags for sentences of which nothing is known."""
    return [np.full(length, UNKNOWN, dtype=np.int64) for length in lengths]


def read_sentences(reader: Reader, sentences: Sequence[Sequence[str]]) -> list[Read]:
    """Read sentences that are cut into words."""
    return [reader.read(words) for words in sentences]


def words_that_fit(words: Sequence[str], reader: Reader) -> int:
    """Count the first words that a network can read at once."""
    return int((np.cumsum(reader.costs(words)) <= reader.most).sum())


def fitting(sentence: Sentence, reader: Reader) -> Sentence:
    """Give as much of a sentence as a network can read at once."""
    count = words_that_fit(sentence.tokens, reader)
    return (
        sentence
        if count == len(sentence.tokens)
        else replace(sentence, tokens=sentence.tokens[:count], tags=sentence.tags[:count], raw="")
    )
