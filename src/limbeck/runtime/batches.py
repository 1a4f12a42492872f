"""Batches of texts of similar length, so that little is spent on padding, and how much of a text is looked at."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

# No word list here has longer tokens, so what lies further on can't be among the first tokens.
CHARACTERS_A_TOKEN = 40


def batches_by_length(lengths: NDArray[np.intp], size: int) -> list[NDArray[np.intp]]:
    """Group all rows, longest first, so that the first batch shows whether memory is enough.

    A batch of a quarter of `size` ends where the length changes: small batches cost less than padding.
    """
    order = np.argsort(-lengths, kind="stable")
    starts = [0] if len(order) else []
    for place in range(1, len(order)):
        rows = place - starts[-1]
        if rows >= size or (4 * rows >= size and lengths[order[place]] != lengths[order[place - 1]]):
            starts.append(place)
    return [order[start:end] for start, end in pairwise([*starts, len(order)])]
