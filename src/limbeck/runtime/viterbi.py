"""The best sequence of BIO tags for each sentence of a batch, in numpy; what BIO doesn't allow is impossible."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from limbeck.scorer import Floats

# Below any sum of scores that a network gives, and far from where float32 loses what is added to it.
NEVER = np.float32(-1e6)


def tag_names(types: Sequence[str]) -> tuple[str, ...]:
    """Give the tags of these types, in the order of a tagger's outputs: O, then B- and I- of each type."""
    return ("O", *(f"{mark}-{kind}" for kind in types for mark in "BI"))


@dataclass(frozen=True)
class Moves:
    """What going from one tag to the next scores [tags, tags], and what beginning and ending with one does [tags]."""

    between: Floats
    first: Floats
    last: Floats

    @staticmethod
    def bio(types: int, learnt: Moves | None = None) -> Moves:
        """Give moves of BIO tags: all that are allowed score 0, or as was learnt."""
        tags = 2 * types + 1
        zero = Moves(np.zeros((tags, tags), np.float32), np.zeros(tags, np.float32), np.zeros(tags, np.float32))
        base = learnt or zero
        allowed = allowed_moves(types)
        return Moves(
            np.where(allowed, base.between, NEVER),
            np.where(_inside(types), NEVER, base.first),
            base.last.astype(np.float32),
        )


def allowed_moves(types: int) -> NDArray[np.bool_]:
    """Say which tag may follow which [tags, tags]: I- follows B- or I- of its own type alone."""
    tags = 2 * types + 1
    allowed = np.ones((tags, tags), dtype=bool)
    for inside in range(2, tags, 2):
        allowed[:, inside] = False
        allowed[[inside - 1, inside], inside] = True
    return allowed


def decode(scores: Floats, lengths: NDArray[np.intp], moves: Moves, plain: bool) -> list[NDArray[np.intp]]:
    """Give the best tags of each sentence; `plain` says that all moves that BIO allows score the same.

    Then the best tag of each word is the answer wherever BIO allows them together, and only the rest is searched.
    """
    if not plain:
        return viterbi(scores, lengths, moves)
    best = scores.argmax(axis=2)
    if len(best) == 1:
        # Most requests are for one sentence, for which plain Python is faster.
        tags = best[0, : lengths[0]]
        return [tags] if _legal(tags.tolist()) else viterbi(scores, lengths, moves)
    inside = (best > 0) & (best % 2 == 0)
    before = np.concatenate([np.zeros((len(best), 1), dtype=best.dtype), best[:, :-1]], axis=1)
    # I- has the next number after B- of its type.
    wrong = inside & (before != best) & (before != best - 1)
    wrong &= np.arange(best.shape[1]) < lengths[:, None]
    found = [tags[:length] for tags, length in zip(best, lengths, strict=True)]
    again = np.flatnonzero(wrong.any(axis=1))
    if len(again):
        for row, tags in zip(again, viterbi(scores[again], lengths[again], moves), strict=True):
            found[row] = tags
    return found


def viterbi(scores: Floats, lengths: NDArray[np.intp], moves: Moves) -> list[NDArray[np.intp]]:
    """Give the tags of each sentence; `scores` are [sentences, words, tags], padded past `lengths`."""
    sentences, words, _ = scores.shape
    if not words:
        return [np.zeros(0, dtype=np.intp) for _ in range(sentences)]
    best = scores[:, 0] + moves.first
    came = np.zeros(scores.shape, dtype=np.intp)
    for at in range(1, words):
        # [sentences, from, to]
        sums = best[:, :, None] + moves.between
        came[:, at] = sums.argmax(axis=1)
        gone = sums.max(axis=1) + scores[:, at]
        best = np.where((at < lengths)[:, None], gone, best)
    at_end = (best + moves.last).argmax(axis=1)
    found = []
    for row, length in enumerate(lengths):
        tags = np.zeros(length, dtype=np.intp)
        tag = at_end[row]
        for at in range(length - 1, -1, -1):
            tags[at] = tag
            tag = came[row, at, tag]
        found.append(tags)
    return found


def _legal(tags: list[int]) -> bool:
    """Say whether BIO allows these tags, by number."""
    before = 0
    for tag in tags:
        # I- has the next number after B- of its type.
        if tag and not tag % 2 and before not in (tag, tag - 1):
            return False
        before = tag
    return True


def _inside(types: int) -> NDArray[np.bool_]:
    inside = np.zeros(2 * types + 1, dtype=bool)
    inside[2::2] = True
    return inside
