"""Whether a category has enough known rows to learn from."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from limbeck.text import normalise


def why_too_few(texts: Sequence[str], labels: NDArray[np.float32], least: int) -> str:
    """Say why the columns of `labels` [texts, categories] can't be learnt, or nothing.

    Each needs `least` positive and as many negative texts; those that are the same after normalising count once.
    """
    keys = np.array([normalise(text) for text in texts])
    for column in range(labels.shape[1]):
        for name, value in (("positive", 1), ("negative", 0)):
            count = len(set(keys[labels[:, column] == value]))
            if count < least:
                return f"{count} distinct {name} text{'s' if count != 1 else ''}, at least {least} are needed"
    return ""
