"""Baselines as students: they learn the teacher's decisions beside the labels."""

from __future__ import annotations

import numpy as np

from limbeck.baselines import train_baseline
from limbeck.baselines.train import Trained
from limbeck.data.dataset import Dataset
from limbeck.distill.course import Course
from limbeck.scorer import Floats


def train_simple(kind: str, course: Course) -> Trained:
    """Train a baseline on labelled rows and selected texts; unknown labels are as the teacher decides."""
    train, config = course.train, course.config
    seen = np.arange(len(train)) if config.distill.task > 0 else np.zeros(0, dtype=np.intp)
    labels = train.strong[seen]
    filled = np.where(np.isnan(labels), _decided(course, course.labelled_guesses[seen]), labels)
    both = Dataset(
        [*(train.texts[row] for row in seen), *course.pool.texts],
        np.concatenate([filled, _decided(course, course.pool.labels)]).astype(np.float32),
        train.names,
    )
    return train_baseline(kind, both, config, course.store, course.made_with, course.force)


def _decided(course: Course, guesses: Floats) -> Floats:
    if course.config.task == "multiclass":
        decided = np.zeros_like(guesses)
        if len(guesses):
            decided[np.arange(len(guesses)), np.nan_to_num(guesses, nan=-1.0).argmax(axis=1)] = 1.0
    else:
        decided = (guesses >= course.thresholds).astype(np.float32)
    return np.where(np.isnan(guesses), np.float32(np.nan), decided)
