"""Strategies that look at what texts say, not at what models say of them."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from limbeck.annotate.strategies.pool import Doubles, Known, Texts, nearness
from limbeck.annotate.strategies.spread import middles_of_clusters
from limbeck.annotate.strategies.strategy import Candidates, Strategy, chance


class Random(Strategy[Texts]):
    """Any text; the only sample that shows how frequent a category is, and what models don't know that they miss."""

    name: ClassVar[str] = "random"
    about: ClassVar[str] = "at random"

    def score(self, chunk: Texts, known: Known) -> Doubles:
        """Give chance."""
        return chance(chunk.rows, self.seed)

    def order(self, candidates: Candidates, count: int) -> NDArray[np.intp]:
        """Leave them as they come."""
        return np.arange(len(candidates))


class Diversity(Strategy[Texts]):
    """The middles of as many clusters as texts are asked for."""

    name: ClassVar[str] = "diversity"
    about: ClassVar[str] = "one text a cluster of the embeddings, large clusters first"

    def score(self, chunk: Texts, known: Known) -> Doubles:
        """Give chance: what is clustered is a sample of the pool."""
        return chance(chunk.rows, self.seed)

    def order(self, candidates: Candidates, count: int) -> NDArray[np.intp]:
        """Put the text closest to each cluster's middle first."""
        return middles_of_clusters(candidates.vectors, count, self.seed)


class UnderRepresented(Strategy[Texts]):
    """Far from everything that is labelled."""

    name: ClassVar[str] = "under-represented"
    about: ClassVar[str] = "far from everything labelled"

    def score(self, chunk: Texts, known: Known) -> Doubles:
        """Give the cosine distance to the nearest labelled text; NaN for texts without a vector."""
        there = chunk.directions.any(axis=1)
        return np.where(there, 1 - nearness(chunk.directions, known.directions), np.nan)
