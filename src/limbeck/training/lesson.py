"""What a run learns from: which rows an epoch shows, and the loss of a batch."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import torch
from torch import Tensor, nn

from limbeck.config import LoopSettings, TrainSettings
from limbeck.training.examples import Examples, Rows, rows_of_epoch
from limbeck.training.losses import masked_bce, masked_softmax, soft_bce
from limbeck.training.tokens import shuffled_batches


class Lesson(Protocol):
    """Rows in batches, and what a batch costs a network; `outputs` counts the labels."""

    @property
    def outputs(self) -> int:
        """How many labels there are."""
        ...

    def batches(self, rng: np.random.Generator) -> list[Rows]:
        """Give an epoch's batches."""
        ...

    def loss(self, model: nn.Module, rows: Rows, device: torch.device) -> Tensor:
        """Give the loss of a batch."""
        ...


@dataclass(frozen=True)
class LabelledLesson:
    """Labelled rows, with other models' guesses of what isn't known if there are any; these count `guess_weight`."""

    examples: Examples
    settings: TrainSettings
    pad_id: int
    one_class: bool = False
    guess_weight: float = 0.0

    @property
    def outputs(self) -> int:
        """How many labels there are."""
        return int(self.examples.labels.shape[1])

    def batches(self, rng: np.random.Generator) -> list[Rows]:
        """Give an epoch's batches, texts of similar length together."""
        train, settings = self.examples, self.settings
        rows = rows_of_epoch(train.labels, train.sources, settings.resample, settings.balance_sources, rng)
        return [rows[batch] for batch in shuffled_batches(train.lengths[rows], settings.batch, rng)]

    def loss(self, model: nn.Module, rows: Rows, device: torch.device) -> Tensor:
        """Give the loss of a batch; unknown labels cost nothing."""
        batch, labels, states = self.examples.batch(rows, self.pad_id)
        known = () if states is None else (states.to(device),)
        logits = model(batch.ids.to(device), batch.mask.to(device), *known).float()
        focal = self.settings.focal if self.settings.loss == "focal" else 0.0
        of_labels = masked_softmax if self.one_class else masked_bce
        weights = self.examples.weights_of(rows, device)
        loss = of_labels(logits, labels.to(device), self.positive_weight.to(device), focal, weights)
        guesses = self.examples.guesses
        if guesses is not None and self.guess_weight > 0:
            loss = loss + self.guess_weight * soft_bce(logits, torch.from_numpy(guesses[rows]).to(device))
        return loss

    @cached_property
    def positive_weight(self) -> Tensor:
        """How much a missed positive of each label costs."""
        return positive_weight(self.examples, self.settings)


def positive_weight(examples: Examples, settings: LoopSettings) -> Tensor:
    """Give the setting for each label; 'balanced' is its negatives by its positives."""
    labels = examples.labels
    if settings.positive_weight != "balanced":
        return torch.full((labels.shape[1],), settings.positive_weight)
    positives, negatives = (labels == 1).sum(axis=0), (labels == 0).sum(axis=0)
    return torch.from_numpy((negatives / np.maximum(positives, 1)).clip(min=0.1).astype(np.float32))
