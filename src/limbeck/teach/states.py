"""Outputs of the layers that don't train, computed once and kept on disk for all folds and epochs."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from limbeck.progress import bar
from limbeck.store import Store, key_of
from limbeck.teach.network import Encoder, device
from limbeck.training.examples import unlabelled
from limbeck.training.outputs import ManyTexts, outputs
from limbeck.training.tokens import Ids

KIND = "states"
# They are large and soon made again: of older texts and encoders only these many stay on disk.
KEPT = 4

States = list[NDArray[np.float16]]


class StoredStates(States):
    """States that are read from a file as they are needed; to another process goes the file's name."""

    def __init__(self, file: Path, lengths: Sequence[int]) -> None:
        """Open a file that holds those of one text after the other, so many rows each."""
        self.file, self.lengths = file, tuple(lengths)
        flat = np.load(file, mmap_mode="r", allow_pickle=False)
        super().__init__(np.split(flat, np.cumsum(self.lengths)[:-1]) if self.lengths else [])

    def __reduce__(self) -> tuple[Any, ...]:
        """Say how it is opened again."""
        return StoredStates, (self.file, self.lengths)


def frozen_states(
    store: Store, encoder: Encoder, reading: str, layers: int, ids: list[Ids], pad_id: int, force: bool = False
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
            for row, states in _each(lowest_layers(encoder, layers), ids, pad_id):
                flat[ends[row] - lengths[row] : ends[row]] = states
            flat.flush()
        for old, _ in store.newest_first(KIND)[KEPT:]:
            store.remove(store.folder(KIND, old))
    return StoredStates(store.folder(KIND, key) / "states.npy", lengths.tolist())


def states_of(lowest: ManyTexts, ids: list[Ids], pad_id: int) -> States:
    """Give the same, in memory; `lowest` are those layers."""
    found: dict[int, NDArray[np.float16]] = dict(_each(lowest, ids, pad_id))
    return [found[row] for row in range(len(ids))]


def lowest_layers(encoder: Encoder, layers: int) -> ManyTexts:
    """Give an encoder's lowest `layers` layers, without the cost of those above."""
    return ManyTexts(Lowest(encoder.to(device()), layers))


class Lowest(nn.Module):
    """An encoder's lowest layers."""

    def __init__(self, encoder: Encoder, layers: int) -> None:
        """Take so many of this encoder's."""
        super().__init__()
        self.encoder, self.layers = encoder, layers

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Give a vector a token, [texts, tokens, width]."""
        return self.encoder.up_to(self.layers, ids, mask)


def _each(lowest: ManyTexts, ids: list[Ids], pad_id: int) -> Iterator[tuple[int, NDArray[np.float16]]]:
    with bar("reading texts with the frozen layers", len(ids)) as advance:
        for rows, states in outputs(lowest, unlabelled(ids), pad_id, device()):
            for position, row in enumerate(rows):
                yield int(row), states[position, : len(ids[row])].astype(np.float16)
            advance(len(rows))
