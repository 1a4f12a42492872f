"""The k best sequences of tags that a teacher's guesses allow, and how likely each is beside the others."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from limbeck.runtime.viterbi import Moves
from limbeck.scorer import Floats


def k_best(scores: Floats, moves: Moves, wanted: int) -> tuple[NDArray[np.int64], Floats]:
    """Give [sequences, words] and their scores, best first; fewer than `wanted` if there are no more.

    `scores` are [words, tags]; what moves forbid is never among them.
    """
    words, tags = scores.shape
    # The best ways to each tag so far, [ways, tags]; the first word has one way to each.
    best = (scores[0] + moves.first)[None]
    came: list[NDArray[np.intp]] = []
    for at in range(1, words):
        # [ways, from, to]
        sums = best[:, :, None] + moves.between
        flat = sums.reshape(-1, tags)
        order = np.argsort(-flat, axis=0, kind="stable")[:wanted]
        came.append(order)
        best = np.take_along_axis(flat, order, axis=0) + scores[at]
    final = (best + moves.last).ravel()
    order = np.argsort(-final, kind="stable")[:wanted]
    allowed = [place for place in order if final[place] > -1e5]
    found = np.zeros((len(allowed), words), dtype=np.int64)
    for row, place in enumerate(allowed):
        way, tag = divmod(int(place), tags)
        for at in range(words - 1, -1, -1):
            found[row, at] = tag
            if at:
                way, tag = divmod(int(came[at - 1][way, tag]), tags)
    return found, final[allowed]


def shares_of(scores: Floats) -> Floats:
    """Give how likely each of some sequences is among them."""
    weights = np.exp(scores - scores.max(initial=-np.inf))
    return np.asarray(weights / weights.sum(), dtype=np.float32)
