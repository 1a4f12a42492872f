"""Choosing what to ask next: strategies see the whole pool, chunk by chunk, and each makes its share of the picks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic

import numpy as np

from limbeck.annotate.strategies.mix import Mix, checked_mix, turns
from limbeck.annotate.strategies.pool import Known, Vectors, nearness
from limbeck.annotate.strategies.registry import STRATEGIES
from limbeck.annotate.strategies.reservoir import Reservoir
from limbeck.annotate.strategies.strategy import ChunkT, Strategy
from limbeck.errors import BadSetting, MeasureError

# Candidates that a strategy keeps a pick: enough that the picks can be spread out.
KEPT = 10
# Texts whose embeddings have a cosine as high as this say the same.
ALIKE = 0.9


@dataclass(frozen=True)
class Pick:
    """A text to ask for: the caller's number of it, the strategy that wants it, and its score there."""

    row: int
    strategy: str
    score: float


class Chooser(Generic[ChunkT]):
    """Sees a pool of any size and picks `count` texts; its memory hangs on `count`, not on the pool."""

    def __init__(
        self,
        mix: Mix,
        known: Known,
        count: int,
        seed: int,
        strategies: Mapping[str, type[Strategy[Any]]] = STRATEGIES,
        alike: float = ALIKE,
    ) -> None:
        """Pick by the shares of `mix`; of texts that are as near as `alike` to a pick or to what is known, none."""
        if count < 1:
            raise BadSetting(f"{count} texts can't be picked.", "Ask for at least one.")
        self._mix = checked_mix(mix, strategies)
        self._known, self._count, self._alike = known, count, alike
        self._strategies: dict[str, Strategy[Any]] = {name: strategies[name](seed) for name in self._mix}
        self._best = {name: Reservoir(KEPT * count, count, seed, known.directions, alike) for name in self._strategies}

    def see(self, chunk: ChunkT) -> None:
        """Look at some texts of the pool; each text of it should be seen once."""
        width, known = chunk.directions.shape[1], self._known.directions.shape[1]
        if width != known:
            raise MeasureError(
                f"Vectors of the pool have {width} numbers, those of what is known {known}.",
                "Embed both with one encoder.",
            )
        for name, strategy in self._strategies.items():
            self._best[name].add(chunk.rows, strategy.score(chunk, self._known), chunk.directions)

    def choose(self) -> list[Pick]:
        """Give the picks in the order in which they should be asked; fewer if the pool has no more that differ.

        A strategy that has nothing left hands its turns to the others.
        """
        order = turns(self._mix, self._count)
        offers = {name: self._offers(name, order.count(name)) for name in self._mix}
        picks: list[Pick] = []
        taken: set[int] = set()
        vectors: Vectors = self._known.directions[:0]
        for name in order:
            for source in (name, *(other for other in offers if other != name)):
                found = next((one for one in offers[source] if self._new(one, taken, vectors)), None)
                if found is not None:
                    picks.append(found[0])
                    taken.add(found[0].row)
                    vectors = np.concatenate([vectors, found[1]])
                    break
        return picks

    def _offers(self, name: str, count: int) -> Iterator[tuple[Pick, Vectors]]:
        best = self._best[name].best()
        for place in self._strategies[name].order(best, max(count, 1)):
            yield Pick(int(best.rows[place]), name, float(best.scores[place])), best.vectors[place : place + 1]

    def _new(self, offer: tuple[Pick, Vectors], taken: set[int], vectors: Vectors) -> bool:
        pick, vector = offer
        return pick.row not in taken and bool(nearness(vector, vectors)[0] < self._alike)
