"""Outputs of the layers that don't train, computed once and kept on disk for all folds and epochs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from limbeck.progress import progress
from limbeck.store import Store, key_of
from limbeck.teach.network import Encoder
from limbeck.teach.tokens import Ids, batches_by_length, pad

KIND = "states"
SCORED_AT_ONCE = 64

States = list[NDArray[np.float16]]


@torch.no_grad()
def frozen_states(
    store: Store, encoder: Encoder, encoder_key: str, layers: int, ids: Sequence[Ids], pad_id: int
) -> States:
    """Give each text's vectors [tokens, width] after the lowest `layers` layers, read from disk as they are needed."""
    lengths = np.array([len(row) for row in ids], dtype=np.intp)
    ends = np.cumsum(lengths)
    key = key_of([encoder_key, layers, [row.tolist() for row in ids]])
    if not store.intact(KIND, key):
        encoder.eval()
        with store.write(KIND, key, {"encoder": encoder_key, "layers": layers, "texts": len(ids)}) as folder:
            flat = np.lib.format.open_memmap(
                folder / "states.npy", "w+", np.float16, (int(lengths.sum()), encoder.width)
            )
            groups = batches_by_length(lengths, SCORED_AT_ONCE) if len(ids) else []
            for rows in progress(groups, "reading texts with the frozen layers", len(groups)):
                batch = pad(ids, rows, pad_id)
                states = encoder.all_layers(batch.ids, batch.mask)[layers].numpy()
                for position, row in enumerate(rows):
                    flat[ends[row] - lengths[row] : ends[row]] = states[position, : lengths[row]]
            flat.flush()
    flat = np.load(store.folder(KIND, key) / "states.npy", mmap_mode="r", allow_pickle=False)
    return [flat[end - length : end] for end, length in zip(ends, lengths, strict=True)]
