"""Outputs of the layers that don't train, computed once and kept on disk for all folds and epochs."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from limbeck.progress import progress
from limbeck.store import Store, key_of
from limbeck.teach.network import Encoder, device
from limbeck.training.tokens import SCORED_AT_ONCE, Ids, batches_by_length, pad

KIND = "states"
# They are large and soon made again: of older texts and encoders only these many stay on disk.
KEPT = 4

States = list[NDArray[np.float16]]


def frozen_states(
    store: Store, encoder: Encoder, reading: str, layers: int, ids: Sequence[Ids], pad_id: int, force: bool = False
) -> States:
    """Give each text's vectors [tokens, width] after the lowest `layers` layers, read from disk as they are needed.

    `reading` must change with everything that makes vectors of ids.
    """
    lengths = np.array([len(row) for row in ids], dtype=np.intp)
    ends = np.cumsum(lengths)
    key = key_of([reading, layers, [row.tolist() for row in ids]])
    if force or not store.intact(KIND, key):
        with store.write(KIND, key, {"encoder": reading, "layers": layers, "texts": len(ids)}) as folder:
            shape = int(lengths.sum()), encoder.width
            flat = np.lib.format.open_memmap(folder / "states.npy", "w+", np.float16, shape)
            with (folder / "states.npy").open("r+b") as file:
                # A disk that is too full must say so here: while pages are written, it would end the process.
                os.posix_fallocate(file.fileno(), 0, max(1, os.fstat(file.fileno()).st_size))
            for row, states in _each(encoder, layers, ids, pad_id):
                flat[ends[row] - lengths[row] : ends[row]] = states
            flat.flush()
        for old, _ in store.newest_first(KIND)[KEPT:]:
            store.remove(store.folder(KIND, old))
    flat = np.load(store.folder(KIND, key) / "states.npy", mmap_mode="r", allow_pickle=False)
    return [flat[end - length : end] for end, length in zip(ends, lengths, strict=True)]


def states_of(encoder: Encoder, layers: int, ids: Sequence[Ids], pad_id: int) -> States:
    """Give the same, in memory."""
    found: dict[int, NDArray[np.float16]] = dict(_each(encoder, layers, ids, pad_id))
    return [found[row] for row in range(len(ids))]


@torch.no_grad()
def _each(encoder: Encoder, layers: int, ids: Sequence[Ids], pad_id: int) -> Iterator[tuple[int, NDArray[np.float16]]]:
    encoder.eval().to(device())
    groups = batches_by_length(np.array([len(row) for row in ids], dtype=np.intp), SCORED_AT_ONCE)
    for rows in progress(groups, "reading texts with the frozen layers", len(groups)):
        batch = pad(ids, rows, pad_id)
        states = encoder.up_to(layers, batch.ids.to(device()), batch.mask.to(device())).cpu().numpy()
        for position, row in enumerate(rows):
            yield int(row), states[position, : len(ids[row])].astype(np.float16)
