"""Training the baselines: one task a category (or one for all), each kept when it is finished."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from limbeck.baselines.kinds import KINDS
from limbeck.baselines.scorer import BaselineScorer, Part
from limbeck.baselines.task import INNER_FOLDS, FitTask
from limbeck.config import Config
from limbeck.data.dataset import Dataset
from limbeck.errors import BadSetting
from limbeck.progress import progress
from limbeck.store import Store, code_version, key_of

TASK_KIND = "tasks/baselines"


@dataclass(frozen=True)
class Trained:
    """A scorer, and the categories that got no model with the reason."""

    scorer: BaselineScorer
    skipped: dict[str, str]


def train_baseline(kind: str, train: Dataset, config: Config, store: Store) -> Trained:
    """Train one kind of baseline on partial labels (a binary model a category) or on complete ones (one model)."""
    parts: list[Part] = []
    skipped: dict[str, str] = {}
    groups = _groups(train, config)
    for columns in progress(groups, f"baseline {kind}", total=len(groups)):
        rows = np.flatnonzero(~np.isnan(train.labels[:, columns]).any(axis=1))
        labels = train.labels[rows][:, columns]
        rate = float(labels.mean()) if len(rows) else 0.0
        reason = _too_few(labels, config.baselines.min_positives)
        if reason:
            skipped |= {train.names[column]: reason for column in columns}
            parts.append(Part(tuple(columns), None, rate))
        else:
            texts = [train.texts[row] for row in rows]
            parts.append(Part(tuple(columns), KINDS[kind].load(_fitted(kind, texts, labels, config, store)), rate))
    scorer = BaselineScorer(
        kind, train.names, tuple(config.text.clean), tuple(parts), one_class=config.task == "multiclass"
    )
    return Trained(scorer, skipped)


def _groups(train: Dataset, config: Config) -> list[list[int]]:
    """Give the columns of each model: each alone, or all that can be trained together."""
    target = config.baselines.target
    every = list(range(len(train.names)))
    if target == "multilabel" and not train.complete:
        raise BadSetting(
            'baselines.target = "multilabel" needs complete labels.', 'Some are unknown: set it to "auto" or "binary".'
        )
    if target == "binary" or not train.complete:
        return [[column] for column in every]
    fit = [c for c in every if not _too_few(train.labels[:, [c]], config.baselines.min_positives)]
    return [*([fit] if fit else []), *([c] for c in every if c not in fit)]


def _too_few(labels: NDArray[np.float32], least: int) -> str:
    """Say why these columns can't be trained, or nothing."""
    least = max(least, INNER_FOLDS)
    for name, value in (("positive", 1), ("negative", 0)):
        count = int((labels == value).sum(axis=0).min()) if len(labels) else 0
        if count < least:
            return f"{count} known {name} row{'s' if count != 1 else ''}, at least {least} are needed"
    return ""


def _fitted(kind: str, texts: list[str], labels: NDArray[np.float32], config: Config, store: Store) -> Path:
    """Give the folder of a fitted model, fitting it only if no finished one has the same key."""
    settings = config.baselines
    positives = labels.sum(axis=0)
    balanced = (len(labels) - positives) / positives
    weights = (
        balanced.tolist() if settings.positive_weight == "balanced" else [settings.positive_weight] * labels.shape[1]
    )
    search = {"trials": settings.trials, "seconds": settings.seconds} if kind == "xgboost" else {}
    about = {
        "kind": kind,
        "data": key_of([texts, labels.tolist()]),
        "weights": weights,
        "seed": config.seed,
        "code": {package: code_version(package) for package in ("limbeck.baselines", "limbeck.tune")},
        **search,
    }
    key = key_of(about)
    if not store.intact(TASK_KIND, key):
        task = FitTask(
            name=key,
            texts=texts,
            labels=labels,
            weights=tuple(weights),
            seed=config.seed,
            trials=settings.trials,
            seconds=settings.seconds,
            studies=store.root / "optuna.sqlite3",
        )
        # Matrices this small are slower on several threads than on one.
        with threadpool_limits(1, "blas"), store.write(TASK_KIND, key, about) as folder:
            KINDS[kind].fit(task).save(folder)
    return store.folder(TASK_KIND, key)
