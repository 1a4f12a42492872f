"""What every query strategy is: a score a text, and an order in which its best texts are asked for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from limbeck.annotate.strategies.pool import Doubles, Known, Rows, Texts, Vectors
from limbeck.annotate.strategies.spread import best_of_clusters

ChunkT = TypeVar("ChunkT", bound=Texts, contravariant=True)


@dataclass(frozen=True)
class Candidates:
    """The texts of the pool with the highest scores of a strategy, best first."""

    rows: Rows
    scores: Doubles
    vectors: Vectors

    def __len__(self) -> int:
        """Count them."""
        return len(self.rows)


@dataclass(frozen=True)
class Strategy(ABC, Generic[ChunkT]):
    """One way to choose texts; what is left to chance follows from `seed`."""

    seed: int = 0
    name: ClassVar[str]
    # One line for people who choose among strategies.
    about: ClassVar[str]

    @abstractmethod
    def score(self, chunk: ChunkT, known: Known) -> Doubles:
        """Give each text a score [texts]: higher is asked sooner, NaN never; of several labels the best counts.

        A text's score may depend on nothing but the text, so that a pool can be seen in any pieces.
        """

    def order(self, candidates: Candidates, count: int) -> NDArray[np.intp]:
        """Give the order in which candidates are asked, if about `count` of them will be: good ones, spread out."""
        return best_of_clusters(candidates.vectors, candidates.scores, count, self.seed)


def chance(rows: Rows, seed: int) -> Doubles:
    """Give each text a number from 0 to 1 that looks random but hangs on its number and on the seed alone."""
    mixed = rows.astype(np.uint64) + np.uint64((seed * 0x9E3779B97F4A7C15 + 0x632BE59BD9B4E019) % 2**64)
    # The finaliser of splitmix64 (Steele et al. 2014), twice: neighbours in and strangers out.
    for _ in range(2):
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        mixed ^= mixed >> np.uint64(31)
    return mixed.astype(np.float64) / 2.0**64


def best_label(scores: Doubles) -> Doubles:
    """Give the highest score of each text's labels [texts, labels]; NaN if it has none."""
    found = np.where(np.isnan(scores), -np.inf, scores).max(axis=1, initial=-np.inf)
    return np.where(np.isfinite(found), found, np.nan)
