"""Spreading picks out: orders of candidates in which texts that resemble earlier ones come late."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from limbeck.annotate.strategies.pool import Doubles, Vectors

Order = NDArray[np.intp]

_ROUNDS = 10


def best_of_clusters(vectors: Vectors, scores: Doubles, count: int, seed: int) -> Order:
    """Order texts: the one with the highest score in each of `count` clusters, then the second of each, and so on."""
    cluster, middles = clusters(vectors, count, seed)
    best = np.full(len(middles), -np.inf)
    np.maximum.at(best, cluster, scores)
    return _in_turn(cluster, scores, best)


def middles_of_clusters(vectors: Vectors, count: int, seed: int) -> Order:
    """Order texts: the one closest to the middle of each of `count` clusters, large clusters first, and so on."""
    cluster, middles = clusters(vectors, count, seed)
    closeness = np.einsum("nw,nw->n", vectors, middles[cluster], dtype=np.float64)
    return _in_turn(cluster, closeness, np.bincount(cluster, minlength=len(middles)).astype(np.float64))


def clusters(vectors: Vectors, count: int, seed: int) -> tuple[Order, Vectors]:
    """Give each text its cluster and each cluster its middle, of length 1, by k-means on directions."""
    middles = _far_apart(vectors, count, seed)
    cluster = np.full(len(vectors), -1, dtype=np.intp)
    for _ in range(_ROUNDS if len(vectors) else 0):
        before, cluster = cluster, (vectors @ middles.T).argmax(axis=1)
        if (before == cluster).all():
            break
        sums = np.zeros_like(middles)
        np.add.at(sums, cluster, vectors)
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        # A cluster that lost all its texts stays where it was.
        middles = np.where(lengths > 0, sums / np.where(lengths > 0, lengths, 1), middles)
    return cluster, middles


def _far_apart(vectors: Vectors, count: int, seed: int) -> Vectors:
    """Give some texts, each the likelier the farther it is from those before (k-means++)."""
    rng = np.random.default_rng(seed)
    distance = np.ones(len(vectors))
    chosen: list[int] = []
    while len(chosen) < min(count, len(vectors)) and distance.any():
        chosen.append(int(rng.choice(len(vectors), p=distance / distance.sum())))
        distance = np.minimum(distance, np.maximum(1 - vectors @ vectors[chosen[-1]], 0))
        distance[chosen] = 0
    return vectors[chosen]


def _in_turn(cluster: Order, scores: Doubles, worth: Doubles) -> Order:
    """Order by place in the cluster, then by the worth of the cluster, then as they came."""
    best_first = np.lexsort((-scores, cluster))
    firsts = np.searchsorted(cluster[best_first], np.arange(len(worth)))
    place = np.empty(len(cluster), dtype=np.intp)
    place[best_first] = np.arange(len(cluster)) - firsts[cluster[best_first]]
    return np.lexsort((-worth[cluster], place))
