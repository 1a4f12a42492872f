"""A student's lesson: labelled and unlabelled texts side by side in every batch, and the losses by their weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import torch
from torch import Tensor, nn

from limbeck.config import DistillSettings
from limbeck.distill.augment import augmented
from limbeck.distill.losses import (
    hard_classes,
    hard_labels,
    same_attention,
    same_direction,
    same_relations,
    soft_classes,
    soft_labels,
)
from limbeck.scorer import Floats
from limbeck.students.network import Student
from limbeck.training.examples import Examples, Rows
from limbeck.training.lesson import positive_weight
from limbeck.training.losses import masked_bce, masked_softmax
from limbeck.training.tokens import pad, shuffled_batches

Attention = Callable[[Tensor, Tensor], tuple[Tensor, ...]]


@dataclass(frozen=True)
class DistillLesson:
    """What a student learns from: `examples` whose first `labelled` rows have labels, the others guesses alone.

    `thresholds` turn guesses into decisions. `raised` says by how much the log-odds of each label's guesses were
    raised; the student's own must be lowered by as much in the end. `curated` says by how much likelier each label is
    among labelled rows, in log-odds: rows that were chosen for their label say nothing of its rate. `vectors` are the
    teacher's view of each text [texts, width], for losses that need it, `attention` gives its maps of a batch.
    """

    examples: Examples
    labelled: int
    settings: DistillSettings
    pad_id: int
    mask_id: int | None
    one_class: bool
    thresholds: Floats
    raised: Floats
    curated: Floats
    vectors: Floats | None = None
    attention: Attention | None = None

    @property
    def outputs(self) -> int:
        """How many labels there are."""
        return int(self.examples.labels.shape[1])

    def batches(self, rng: np.random.Generator) -> list[Rows]:
        """Give an epoch's batches: all unlabelled rows once, and beside them labelled ones of similar length."""
        settings, lengths = self.settings, self.examples.lengths
        beside = round(settings.batch * settings.labelled) if self.labelled else 0
        if beside == 0 or self.labelled == len(lengths):
            return list(shuffled_batches(lengths, settings.batch, rng))
        alone = list(shuffled_batches(lengths[self.labelled :], max(1, settings.batch - beside), rng))
        with_labels: list[Rows] = []
        while len(with_labels) < len(alone):
            with_labels += shuffled_batches(lengths[: self.labelled], beside, rng)
        with_labels = with_labels[: len(alone)]
        pairs = zip(_by_length(alone, lengths[self.labelled :]), _by_length(with_labels, lengths), strict=True)
        joined = [np.concatenate([known, rows + self.labelled]) for rows, known in pairs]
        return [joined[number] for number in rng.permutation(len(joined))]

    def loss(self, model: nn.Module, rows: Rows, device: torch.device) -> Tensor:
        """Add up the losses that have a weight."""
        settings = self.settings
        batch = pad(self._shown(rows), np.arange(len(rows)), self.pad_id)
        ids, mask = batch.ids.to(device), batch.mask.to(device)
        reader: Student = model  # type: ignore[assignment]
        seen = reader.read(ids, mask, attention=self.attention is not None)
        logits = seen.logits.float()
        labels = torch.from_numpy(self.examples.labels[rows]).to(device)
        loss = logits.sum() * 0.0
        if settings.task > 0:
            focal = settings.focal if settings.loss == "focal" else 0.0
            of_labels = masked_softmax if self.one_class else masked_bce
            among_these = logits + torch.from_numpy(self.curated).to(device)
            weights = self.examples.weights_of(rows, device)
            dear = self._positive_weight.to(device)
            loss = loss + settings.task * of_labels(among_these, labels, dear, focal, weights)
        if self.examples.guesses is not None:
            loss = loss + self._heeding(logits, torch.from_numpy(self.examples.guesses[rows]).to(device))
        if self.vectors is not None:
            theirs = torch.from_numpy(np.asarray(self.vectors[rows], dtype=np.float32)).to(device)
            if settings.hidden > 0:
                loss = loss + settings.hidden * same_direction(reader.project(seen.vector), theirs)
            if settings.relation > 0:
                loss = loss + settings.relation * same_relations(seen.vector, theirs)
        if self.attention is not None:
            loss = loss + settings.attention * same_attention(seen.attention, self.attention(ids, mask), mask)
        return loss

    def _heeding(self, logits: Tensor, guesses: Tensor) -> Tensor:
        settings, loss = self.settings, logits.sum() * 0.0
        if settings.soft > 0:
            soft = soft_classes if self.one_class else soft_labels
            loss = loss + settings.soft * soft(logits, guesses, settings.temperature)
        if settings.hard > 0 and self.one_class:
            loss = loss + settings.hard * hard_classes(logits, guesses)
        elif settings.hard > 0:
            limits = torch.from_numpy(self.thresholds).to(logits)
            loss = loss + settings.hard * hard_labels(logits, guesses, limits)
        return loss

    def _shown(self, rows: Rows) -> list[np.ndarray]:
        """Give the ids as this step sees them; the loop seeds every step, so a resumed run sees the same."""
        rng = np.random.default_rng(int(torch.randint(2**31, (1,))))
        drop, hide = self.settings.drop_tokens, self.settings.mask_tokens
        return [augmented(self.examples.ids[row], drop, hide, self.mask_id, rng) for row in rows]

    @cached_property
    def _positive_weight(self) -> Tensor:
        return positive_weight(self.examples.take(np.arange(self.labelled)), self.settings)

    def with_guesses(self, guesses: Floats) -> DistillLesson:
        """Give the same lesson with another teacher's guesses where this one has any."""
        assert self.examples.guesses is not None
        replaced = np.where(np.isnan(self.examples.guesses), np.float32(np.nan), guesses)
        return replace(self, examples=replace(self.examples, guesses=replaced))


def _by_length(batches: list[Rows], lengths: Rows) -> list[Rows]:
    return sorted(batches, key=lambda rows: float(lengths[rows].mean()))
