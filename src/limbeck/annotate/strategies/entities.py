"""Strategies for sentences whose words are tagged."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from limbeck.annotate.strategies.pool import Doubles, Known, TaggedChunk
from limbeck.annotate.strategies.strategy import Strategy

# A word whose best tag is less likely than this is in doubt.
CERTAIN = 0.5


class LeastConfidentSentence(Strategy[TaggedChunk]):
    """Most doubt for the root of the length.

    All doubt together asks for the longest sentences, which take long to tag; the mean for headlines of two words,
    which teach little. Half way between the two, sentences are about as long as in the pool.
    """

    name: ClassVar[str] = "sentence"
    about: ClassVar[str] = "least confident sentence"

    def score(self, chunk: TaggedChunk, known: Known) -> Doubles:
        """Give the sum of the words' doubts divided by the root of their number; NaN without words."""
        lengths = np.bincount(chunk.sentence, minlength=len(chunk.tags)).astype(np.float64)
        doubts = np.bincount(chunk.sentence, chunk.doubts, minlength=len(chunk.tags))
        return np.where(lengths > 0, doubts / np.sqrt(np.maximum(lengths, 1)), np.nan)


class UncertainSpan(Strategy[TaggedChunk]):
    """The longest span of words in doubt, weighed by their doubt."""

    name: ClassVar[str] = "span"
    about: ClassVar[str] = "longest uncertain span"

    def score(self, chunk: TaggedChunk, known: Known) -> Doubles:
        """Give the sum of the doubts of the span's words; NaN if no word is in doubt."""
        doubtful = chunk.doubts > 1 - CERTAIN
        goes_on = np.zeros_like(doubtful)
        goes_on[1:] = doubtful[:-1] & (chunk.sentence[:-1] == chunk.sentence[1:])
        begins = doubtful & ~goes_on
        sums = np.bincount(np.cumsum(begins)[doubtful] - 1, chunk.doubts[doubtful])
        found = np.full(len(chunk.tags), -np.inf)
        np.maximum.at(found, chunk.sentence[begins], sums)
        return np.where(np.isfinite(found), found, np.nan)
