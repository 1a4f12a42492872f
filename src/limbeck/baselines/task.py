"""What a baseline is fitted to, and the cross-validation inside a fit."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from limbeck.config import BaselineSettings
from limbeck.data.splits import assign_folds
from limbeck.measure import average_precision

Floats = NDArray[np.float64]

INNER_FOLDS = 3


@dataclass(frozen=True)
class FitTask:
    """Texts with complete 0/1 labels [texts, columns], a weight for each column's positives, and the settings."""

    name: str
    texts: list[str]
    labels: NDArray[np.float32]
    weights: tuple[float, ...]
    seed: int
    settings: BaselineSettings
    studies: Path
    fresh: bool = False

    def inner_folds(self) -> NDArray[np.int8]:
        """Give each text its fold of the cross-validation that chooses a model's settings."""
        return assign_folds(self.texts, self.labels, INNER_FOLDS, self.seed)


def out_of_fold(
    folds: NDArray[np.int8], fit_and_score: Callable[[NDArray[np.bool_]], Floats], side_by_side: bool = False
) -> Floats:
    """Score every row by a model that didn't see it; `fit_and_score` gets the mask of the rows held out.

    With `side_by_side` the folds run in threads, which pays where fitting happens outside Python's lock.
    """
    scores = np.zeros(len(folds))
    masks = [folds == fold for fold in range(int(folds.max()) + 1)]
    workers = min(len(masks), os.cpu_count() or 1) if side_by_side else 1
    with ThreadPoolExecutor(max_workers=workers) as pool:
        for held_out, found in zip(masks, pool.map(fit_and_score, masks), strict=True):
            scores[held_out] = found
    return scores


def mean_average_precision(labels: NDArray[np.float32], scores: Sequence[Floats]) -> float:
    """Average the columns' average precision of out-of-fold scores, squashed into [0, 1] as the measure wants."""
    return float(np.mean([average_precision(labels[:, c], squash(s)) for c, s in enumerate(scores)]))


def squash(scores: Floats) -> Floats:
    """Apply the logistic function, safe for large values."""
    return 0.5 * (1.0 + np.tanh(0.5 * scores))
