"""What every kind of teacher is taught: the rows, folds and dev halves of a project, and who may see which."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from limbeck.config import Config
from limbeck.data.dataset import Dataset
from limbeck.data.enough import why_too_few
from limbeck.data.prepare import Prepared
from limbeck.data.splits import TUNING
from limbeck.measure import choose_thresholds
from limbeck.scale import Executor, ThisMachine
from limbeck.scorer import Floats, Scorer
from limbeck.store import Store
from limbeck.teach.card import Card
from limbeck.teach.encoders import EncoderFiles

Rows = NDArray[np.intp]


@dataclass(frozen=True)
class Lessons:
    """The data of all teachers of a project, and where their finished tasks are kept; paths start at `root`."""

    prepared: Prepared
    config: Config
    encoder: EncoderFiles
    store: Store
    made_with: Mapping[str, object]
    force: bool = False
    root: Path = Path()
    executor: Executor = field(default_factory=ThisMachine)

    @property
    def train(self) -> Dataset:
        """The labelled rows."""
        return self.prepared.train

    @property
    def tuning(self) -> Dataset:
        """The half of dev that may tune."""
        return self.prepared.dev_half(TUNING)

    @property
    def folds(self) -> list[int]:
        """The folds that are used; each is held out once."""
        every = int(self.prepared.folds.max()) + 1
        wanted = self.config.teach.folds
        return list(range(min(wanted, every) if wanted else every))

    def known(self, *columns: int) -> Rows:
        """Rows that know any of these categories, in the order of their texts: that of the files may change."""
        rows = np.flatnonzero(~np.isnan(self.train.labels[:, columns]).all(axis=1))
        return np.array(sorted(rows, key=lambda row: self.train.texts[row]), dtype=np.intp)

    def why_not(self, column: int) -> str:
        """Say why a category can't be taught, or nothing."""
        rows = self.known(column)
        labels = self.train.labels[rows][:, [column]]
        reason = why_too_few([self.train.texts[row] for row in rows], labels, self.config.teach.min_positives)
        for fold in self.folds:
            inside = labels[self.prepared.folds[rows] != fold]
            if not reason and not ((inside == 1).any() and (inside == 0).any()):
                reason = f"without fold {fold} it has only one answer; add rows"
        return reason

    def skipped(self) -> dict[str, str]:
        """Give the categories that can't be taught, with the reason."""
        reasons = {name: self.why_not(column) for column, name in enumerate(self.train.names)}
        return {name: reason for name, reason in reasons.items() if reason}

    def card(self, kind: str, thresholds: NDArray[np.float64], encoder: EncoderFiles | None = None) -> Card:
        """Describe a teacher of this project, built on the project's encoder or on another one."""
        labels = self.train.labels
        known = [labels[self.known(column), column] for column in range(labels.shape[1])]
        return Card(
            kind=kind,
            labels=self.train.names,
            thresholds=thresholds,
            rates=tuple(float(column.mean()) if len(column) else 0.0 for column in known),
            clean=tuple(self.config.text.clean),
            encoder=encoder or self.encoder,
            max_tokens=self.config.encoder.max_tokens,
            one_class=self.config.task == "multiclass",
        )

    def thresholds(self, proba: Floats) -> NDArray[np.float64]:
        """Choose thresholds for what a teacher says of dev's tuning half; if one class is right they don't matter."""
        if self.config.task == "multiclass":
            return np.full(len(self.train.names), 0.5)
        how, least = self.config.measure.thresholds, self.config.measure.min_positives
        return choose_thresholds(self.tuning.labels, proba, how, least)

    def positive_weight(self, column: int, rows: Rows) -> float:
        """How much a missed positive of this category costs, in these rows."""
        wanted = self.config.train.positive_weight
        if wanted != "balanced":
            return wanted
        labels = self.train.labels[rows, column]
        return float((labels == 0).sum() / max(1, (labels == 1).sum()))


class Teacher(Scorer, Protocol):
    """A scorer that can be stored, and that knows which of its labels changed."""

    def save(self, folder: Path) -> None:
        """Write it without pickle."""
        ...

    @property
    def card(self) -> Card:
        """What it says about itself."""
        ...

    def identity(self) -> dict[str, str]:
        """Give every label a hash: while it stays, the label's probabilities do. Code and libraries are not in it."""
        ...

    def only(self, labels: Sequence[str]) -> Teacher:
        """Give a teacher of just these labels at their share of the cost; if one class is right, the whole teacher."""
        ...


@dataclass(frozen=True)
class Taught:
    """A teacher, what it says of its own training rows by models that didn't see them, and what it left out.

    `out_of_fold` [rows, labels] is NaN for rows that every model saw, because not all folds were used. `chosen` holds
    what each task ended with, `history` each one's figures at every evaluation.
    """

    teacher: Teacher
    out_of_fold: Floats
    skipped: dict[str, str]
    tasks: int
    chosen: dict[str, object]
    history: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
