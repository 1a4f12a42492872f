"""The best texts of a pool for one strategy, kept while the pool passes by."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from limbeck.annotate.strategies.pool import Doubles, Rows, Vectors, nearness
from limbeck.annotate.strategies.strategy import Candidates, chance

# Scores that differ by less are equal: products of matrices differ in the last digits with the size of a chunk.
DIGITS = 5
# Cells that the space of vectors is divided into: two a bit.
BITS = 8


class Reservoir:
    """Keeps the texts with the best scores, and of each region of the space no more than `crowd`.

    Were there no regions, ten thousand copies of one text could push all else out. What is kept is the same in
    whatever pieces and order the pool comes.
    """

    def __init__(self, size: int, crowd: int, seed: int, labelled: Vectors, alike: float) -> None:
        """Keep `size` texts, none of them as near as `alike` to one that is `labelled`."""
        self._size, self._crowd, self._seed = size, crowd, seed
        self._labelled, self._alike = labelled, alike
        width = labelled.shape[1]
        self._normals = np.random.default_rng(seed).standard_normal((width, BITS)).astype(np.float32)
        self._offsets = np.median(labelled @ self._normals, axis=0) if len(labelled) else np.zeros(BITS)
        self._kept = Candidates(np.zeros(0, np.int64), np.zeros(0), np.zeros((0, width), np.float32))

    def add(self, rows: Rows, scores: Doubles, vectors: Vectors) -> None:
        """See some more texts; those with a score of NaN are passed over."""
        scores = np.round(scores, DIGITS)
        worst = self._kept.scores[-1] if len(self._kept) >= self._size else -np.inf
        good = np.flatnonzero(scores >= worst)
        good = good[nearness(vectors[good], self._labelled) < self._alike]
        if not len(good):
            return
        together = Candidates(
            np.concatenate([self._kept.rows, rows[good]]),
            np.concatenate([self._kept.scores, scores[good]]),
            np.concatenate([self._kept.vectors, vectors[good]]),
        )
        order = np.lexsort((together.rows, -chance(together.rows, self._seed), -together.scores))
        self._kept = _take(together, order)
        self._kept = _take(self._kept, np.flatnonzero(self._uncrowded(self._kept.vectors))[: self._size])

    def best(self) -> Candidates:
        """Give what is kept, best first."""
        return self._kept

    def _uncrowded(self, vectors: Vectors) -> NDArray[np.bool_]:
        """Say which texts are among the first `crowd` of their cell."""
        cells = ((vectors @ self._normals > self._offsets) @ (1 << np.arange(BITS))).astype(np.intp)
        by_cell = np.argsort(cells, kind="stable")
        place = np.empty(len(cells), dtype=np.intp)
        place[by_cell] = np.arange(len(cells)) - np.searchsorted(cells[by_cell], cells[by_cell])
        return np.asarray(place < self._crowd)


def _take(candidates: Candidates, order: NDArray[np.intp]) -> Candidates:
    return Candidates(candidates.rows[order], candidates.scores[order], candidates.vectors[order])
