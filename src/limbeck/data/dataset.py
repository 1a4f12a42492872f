"""Rows and their labels: one structure for every file shape, in which unknown is not negative."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from limbeck.errors import Place


@dataclass(frozen=True)
class Dataset:
    """Texts with a label matrix.

    `labels` is float32 of shape [texts, names]: 1 is yes, 0 is no, NaN is 'nobody looked'.
    `sources` names where a row came from (channel, company); empty when the files don't say.
    `origin_file` and `origin_line` point to each row's first occurrence in `files`.
    `weights`, of the labels' shape, says how much each label counts; below 1 it is weak. Empty: all count 1.
    """

    texts: list[str]
    labels: NDArray[np.float32]
    names: tuple[str, ...]
    sources: list[str] = field(default_factory=list)
    files: tuple[Path, ...] = ()
    origin_file: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    origin_line: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    weights: NDArray[np.float32] = field(default_factory=lambda: np.zeros((0, 0), np.float32))

    def __len__(self) -> int:
        """Count the rows."""
        return len(self.texts)

    def place(self, row: int) -> Place | None:
        """Say where `row` was first read, if that is known."""
        if not len(self.origin_file):
            return None
        return Place(self.files[self.origin_file[row]], int(self.origin_line[row]))

    def take(self, rows: Sequence[int] | NDArray[np.intp]) -> Dataset:
        """Give the rows at these positions, in this order."""
        index = np.asarray(rows, dtype=np.intp)
        return Dataset(
            texts=[self.texts[i] for i in index],
            labels=self.labels[index],
            names=self.names,
            sources=[self.sources[i] for i in index] if self.sources else [],
            files=self.files,
            origin_file=self.origin_file[index] if len(self.origin_file) else self.origin_file,
            origin_line=self.origin_line[index] if len(self.origin_line) else self.origin_line,
            weights=self.weights[index] if len(self.weights) else self.weights,
        )

    @property
    def strong(self) -> NDArray[np.float32]:
        """The labels that people gave: weak ones are unknown."""
        return np.where(self.weights < 1, np.float32(np.nan), self.labels) if len(self.weights) else self.labels

    def column(self, name: str) -> NDArray[np.float32]:
        """Give one category's labels."""
        return self.labels[:, self.names.index(name)]

    def known_for(self, name: str) -> NDArray[np.intp]:
        """Give the positions of the rows whose label for this category is known."""
        return np.flatnonzero(~np.isnan(self.column(name)))

    @property
    def complete(self) -> bool:
        """Whether every label of every row is known."""
        return not np.isnan(self.labels).any()
