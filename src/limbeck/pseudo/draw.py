"""Drawing texts at random from a stream: each row has a rank that looks random, and the lowest ranks are drawn."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

Ranks = NDArray[np.uint64]

_BINS_LOG = 16


def ranks(rows: NDArray[np.int64], seed: int, purpose: str) -> Ranks:
    """Give each row a rank that no other row has; another seed or purpose gives unrelated ranks.

    SplitMix64's mixing (Steele, Lea & Flood, 2014), which maps the 64-bit numbers one to one.
    """
    salt = hashlib.blake2b(f"{seed} {purpose}".encode(), digest_size=8).digest()
    mixed = rows.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(int.from_bytes(salt, "big"))
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


def rank_limit(batches: Callable[[], Iterable[Ranks]], wanted: int) -> int | None:
    """Find the rank below which exactly `wanted` of all ranks lie; None if there are no more than that.

    `batches` must give the same ranks twice: first they are only counted, so that memory doesn't grow with them.
    """
    shift = np.uint64(64 - _BINS_LOG)
    counts = np.zeros(1 << _BINS_LOG, dtype=np.int64)
    for batch in batches():
        counts += np.bincount((batch >> shift).astype(np.int64), minlength=len(counts))
    if counts.sum() <= wanted:
        return None
    full = np.cumsum(counts)
    bin_ = int(np.searchsorted(full, wanted, side="right"))
    inside = np.sort(np.concatenate([batch[batch >> shift == bin_] for batch in batches()]))
    return int(inside[wanted - int(full[bin_] - counts[bin_])])
