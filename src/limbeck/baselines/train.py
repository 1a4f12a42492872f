"""Training the baselines: one task a category (or one for all), each kept when it is finished."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from limbeck.baselines.kinds import HEEDED, KINDS
from limbeck.baselines.scorer import BaselineScorer, Part
from limbeck.baselines.task import INNER_FOLDS, FitTask
from limbeck.config import Config
from limbeck.data.dataset import Dataset
from limbeck.data.enough import why_too_few
from limbeck.errors import BadSetting
from limbeck.progress import progress
from limbeck.store import Store, key_of

TASK_KIND = "tasks/baselines"
# Labels of which this share of rows is complete are taken as complete.
MOSTLY = 0.9


@dataclass(frozen=True)
class Trained:
    """A scorer, and the categories that got no model with the reason."""

    scorer: BaselineScorer
    skipped: dict[str, str]


def train_baseline(
    kind: str,
    train: Dataset,
    config: Config,
    store: Store,
    made_with: Mapping[str, object] | None = None,
    force: bool = False,
) -> Trained:
    """Train one kind of baseline on partial labels (a binary model a category) or on complete ones (one model).

    A model that is already in `store` is used again if its data, settings and `made_with` (versions of code and
    libraries) are the same; with `force` it is trained again.
    """
    # Weak labels are for models that can weigh them.
    train = replace(train, labels=train.strong)
    parts: list[Part] = []
    skipped: dict[str, str] = {}
    groups = _groups(train, config)
    for columns in progress(groups, f"baseline {kind}", total=len(groups)):
        rows = np.flatnonzero(~np.isnan(train.labels[:, columns]).any(axis=1))
        labels = train.labels[rows][:, columns]
        rate = float(labels.mean()) if len(rows) else 0.0
        texts = [train.texts[row] for row in rows]
        reason = why_too_few(texts, labels, _least(config))
        model, digest = None, ""
        if not reason:
            try:
                key = _fitted(kind, texts, labels, config, store, made_with, force)
                model = KINDS[kind].load(store.folder(TASK_KIND, key))
                digest = key_of((store.manifest(TASK_KIND, key) or {})["files"])
            except ValueError as error:  # e.g. no word occurs twice
                reason = f"it can't be trained: {str(error).splitlines()[0]}"
        if reason:
            skipped |= {train.names[column]: reason for column in columns}
        parts.append(Part(tuple(columns), model, rate, digest))
    scorer = BaselineScorer(
        kind, train.names, tuple(config.text.clean), tuple(parts), one_class=config.task == "multiclass"
    )
    return Trained(scorer, skipped)


def _groups(train: Dataset, config: Config) -> list[list[int]]:
    """Give the columns of each model: each alone, or all that can be trained together.

    A few rows with an unknown label, such as contradictions, don't make complete labels partial: they are left out.
    """
    target = config.baselines.target
    every = list(range(len(train.names)))
    complete = float(np.mean(~np.isnan(train.labels).any(axis=1)))
    if target == "multilabel" and complete < MOSTLY:
        raise BadSetting(
            f'baselines.target = "multilabel" needs complete labels; {complete:.0%} of the rows have them.',
            'Set it to "auto" or "binary".',
        )
    if target == "binary" or complete < MOSTLY:
        return [[column] for column in every]
    fit = [c for c in every if not why_too_few(train.texts, train.labels[:, [c]], _least(config))]
    return [*([fit] if fit else []), *([c] for c in every if c not in fit)]


def _least(config: Config) -> int:
    return max(config.baselines.min_positives, INNER_FOLDS)


def _fitted(
    kind: str,
    texts: list[str],
    labels: NDArray[np.float32],
    config: Config,
    store: Store,
    made_with: Mapping[str, object] | None,
    force: bool,
) -> str:
    """Give the key of a fitted model, fitting it only if no finished one has the same key."""
    settings = config.baselines
    positives = labels.sum(axis=0)
    balanced = (len(labels) - positives) / positives
    weights = (
        balanced.tolist() if settings.positive_weight == "balanced" else [settings.positive_weight] * labels.shape[1]
    )
    heeded = {name: getattr(settings, name) for name in HEEDED[kind]}
    about = {
        "kind": kind,
        "data": key_of([texts, labels.tolist()]),
        "weights": weights,
        "seed": config.seed,
        "made_with": dict(made_with or {}),
        **heeded,
    }
    key = key_of(about)
    if force or not store.intact(TASK_KIND, key):
        task = FitTask(
            name=key,
            texts=texts,
            labels=labels,
            weights=tuple(weights),
            seed=config.seed,
            settings=settings,
            studies=store.root / "optuna.sqlite3",
            fresh=force,
        )
        # Matrices this small are slower on several threads than on one.
        with threadpool_limits(1, "blas"), store.write(TASK_KIND, key, about) as folder:
            KINDS[kind].fit(task).save(folder)
    return key
