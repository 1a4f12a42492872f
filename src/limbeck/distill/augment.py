"""Texts shown a little differently each time: some tokens left out, some hidden behind the mask token."""

from __future__ import annotations

import numpy as np

from limbeck.training.tokens import Ids


def augmented(ids: Ids, drop: float, hide: float, mask_id: int | None, rng: np.random.Generator) -> Ids:
    """Leave out a share `drop` of the tokens and hide a share `hide`; the first and the last token always stay."""
    if len(ids) <= 3 or (drop == 0 and hide == 0):
        return ids
    draws = rng.random(len(ids))
    draws[[0, -1]] = 1.0
    if mask_id is not None and hide > 0:
        ids = np.where((draws >= drop) & (draws < drop + hide), np.int32(mask_id), ids)
    return ids[draws >= drop]
