"""Losses that skip unknown labels and give every category the same say."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional


def masked_bce(
    logits: Tensor, labels: Tensor, positive_weight: Tensor, focal: float = 0.0, weights: Tensor | None = None
) -> Tensor:
    """Binary cross-entropy over known labels [rows, labels]; NaN is unknown.

    Each category's loss is averaged over its own known rows of the batch, then over the categories that have any: with
    disjoint labels a mean over all cells would drown the categories that the batch happens to hold little of.
    `positive_weight` [labels] above 1 makes a missed positive dearer. `focal` > 0 (Lin et al., 2017) plays down what is
    already right. `weights` [rows, labels] say how much each label counts.
    """
    known = ~torch.isnan(labels)
    targets = torch.where(known, labels, 0.0)
    cells = functional.binary_cross_entropy_with_logits(logits, targets, pos_weight=positive_weight, reduction="none")
    if focal > 0:
        proba = torch.sigmoid(logits)
        right = torch.where(targets == 1, proba, 1 - proba)
        cells = cells * (1 - right) ** focal
    counts = known.sum(dim=0)
    if weights is None:
        by_label = (cells * known).sum(dim=0) / counts.clamp(min=1)
    else:
        weighed = torch.where(known, weights, 0.0)
        by_label = (cells * weighed).sum(dim=0) / weighed.sum(dim=0).clamp(min=1e-6)
    return by_label.sum() / (counts > 0).sum().clamp(min=1)


def soft_bce(logits: Tensor, guesses: Tensor) -> Tensor:
    """Binary cross-entropy against probabilities [rows, labels], the mean over all that are given; NaN is none."""
    given = ~torch.isnan(guesses)
    targets = torch.where(given, guesses, 0.0)
    cells = functional.binary_cross_entropy_with_logits(logits, targets, reduction="none")
    return (cells * given).sum() / given.sum().clamp(min=1)


def masked_softmax(
    logits: Tensor, labels: Tensor, class_weight: Tensor, focal: float = 0.0, weights: Tensor | None = None
) -> Tensor:
    """Cross-entropy over classes, focal if wanted; rows whose class is not known don't count, weak ones less."""
    known = (labels == 1).any(dim=1)
    if not known.any():
        return logits.sum() * 0.0
    classes = (labels[known] == 1).int().argmax(dim=1)
    rows = functional.cross_entropy(logits[known], classes, weight=class_weight, reduction="none")
    if focal > 0:
        right = torch.softmax(logits[known], dim=1).gather(1, classes[:, None])[:, 0]
        rows = rows * (1 - right) ** focal
    if weights is None:
        return rows.sum() / class_weight[classes].sum()
    weighed = weights[known].gather(1, classes[:, None])[:, 0]
    return (rows * weighed).sum() / (class_weight[classes] * weighed).sum().clamp(min=1e-6)
