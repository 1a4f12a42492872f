"""What a network learns from: token ids and labels, and which rows an epoch shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from limbeck.training.tokens import Batch, Ids, pad

Rows = NDArray[np.intp]


@dataclass(frozen=True)
class Examples:
    """Tokenised texts with labels [texts, labels], NaN for unknown.

    `states`, if given, are each text's outputs [tokens, width] of the layers that don't train. `guesses`, if given, are
    what another model believes of each label, NaN where it isn't asked. `weights`, if given, say how much each label
    counts.
    """

    ids: list[Ids]
    labels: NDArray[np.float32]
    sources: Sequence[str] = field(default_factory=list)
    states: list[NDArray[np.float16]] | None = None
    guesses: NDArray[np.float32] | None = None
    weights: NDArray[np.float32] | None = None

    def __len__(self) -> int:
        """Count the texts."""
        return len(self.ids)

    @property
    def lengths(self) -> Rows:
        """Tokens of each text."""
        return np.array([len(ids) for ids in self.ids], dtype=np.intp)

    def take(self, rows: Rows) -> Examples:
        """Give the texts at these positions."""
        return Examples(
            [self.ids[row] for row in rows],
            self.labels[rows],
            [self.sources[row] for row in rows] if self.sources else [],
            [self.states[row] for row in rows] if self.states is not None else None,
            self.guesses[rows] if self.guesses is not None else None,
            self.weights[rows] if self.weights is not None else None,
        )

    def weights_of(self, rows: Rows, device: torch.device) -> Tensor | None:
        """Give the labels' weights, if there are any."""
        return None if self.weights is None else torch.from_numpy(self.weights[rows]).to(device)

    def batch(self, rows: Rows, pad_id: int) -> tuple[Batch, Tensor, Tensor | None]:
        """Give padded ids, labels, and the frozen layers' outputs if there are any."""
        padded = pad(self.ids, rows, pad_id)
        labels = torch.from_numpy(self.labels[rows])
        if self.states is None:
            return padded, labels, None
        states = torch.zeros((*padded.ids.shape, self.states[0].shape[1]))
        for position, row in enumerate(rows):
            states[position, : len(self.ids[row])] = torch.from_numpy(self.states[row].astype(np.float32))
        return padded, labels, states


def unlabelled(ids: list[Ids], labels: int = 0) -> Examples:
    """Give texts of whose `labels` labels nothing is known."""
    return Examples(ids, np.full((len(ids), labels), np.nan, dtype=np.float32))


def rows_of_epoch(
    labels: NDArray[np.float32], sources: Sequence[str], resample: str, balance_sources: bool, rng: np.random.Generator
) -> Rows:
    """Choose the rows that one epoch shows, some perhaps several times.

    `over` repeats rows with a positive until they are half of what is shown; `under` leaves out rows without one until
    they are. Balancing draws as many rows as there are, each source equally often.
    """
    rows = np.arange(len(labels))
    positive = (labels == 1).any(axis=1)
    some, none = rows[positive], rows[~positive]
    if resample == "over" and 0 < len(some) < len(none):
        rows = np.concatenate([rows, rng.choice(some, len(none) - len(some))])
    elif resample == "under" and 0 < len(some) < len(none):
        rows = np.sort(np.concatenate([some, rng.choice(none, len(some), replace=False)]))
    if balance_sources and len(set(sources)) > 1:
        named = np.asarray(sources)[rows]
        _, group, counts = np.unique(named, return_inverse=True, return_counts=True)
        weights = 1.0 / counts[group]
        rows = rng.choice(rows, len(rows), p=weights / weights.sum())
    return rows
