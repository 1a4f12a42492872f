"""Calibrating a teacher: fitted on dev's tuning half, moved to the pool's rates if wanted, judged on the other half."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from limbeck.config import Config
from limbeck.data.prepare import Prepared
from limbeck.data.splits import JUDGING, TUNING
from limbeck.errors import TooFewRows
from limbeck.measure.scaling import (
    Calibration,
    Doubles,
    calibration_figures,
    estimate_rates,
    fit_calibration,
    reliability_tables,
    shifted,
)
from limbeck.scorer import Floats
from limbeck.store import Store
from limbeck.teach.kinds import load_teacher
from limbeck.teach.lessons import Teacher

# Dev and pool are alike; where a score says little, the estimate runs off, so odds may change by this factor at most.
FARTHEST = 4.0


@dataclass(frozen=True)
class CalibratedTeacher:
    """A teacher whose probabilities are put right."""

    teacher: Teacher
    calibration: Calibration

    @property
    def labels(self) -> tuple[str, ...]:
        """The label names."""
        return self.teacher.labels

    def predict_proba(self, texts: Sequence[str]) -> Floats:
        """Give calibrated probabilities [texts, labels]."""
        return self.calibration(self.teacher.predict_proba(texts))


@dataclass(frozen=True)
class Calibrated:
    """A calibration, how reliable the judging half found it before and after, and each category's rates."""

    calibration: Calibration
    figures: dict[str, float]
    reliability: dict[str, Any]
    rates: dict[str, dict[str, float | None]]


def calibrate(teacher: Teacher, prepared: Prepared, config: Config, pool: Sequence[str]) -> Calibrated:
    """Fit a calibration; `pool` is what rates are estimated on, if the configuration asks for that."""
    settings, one_class = config.calibrate, config.task == "multiclass"
    tuning, judging = prepared.dev_half(TUNING), prepared.dev_half(JUDGING)
    raw = teacher.predict_proba(tuning.texts)
    fitted = fit_calibration(tuning.labels, raw, settings.method, one_class, config.measure.min_positives)
    # What the probabilities are right for: the training rows' rates until they were calibrated on dev.
    rates = np.array(teacher.card.rates) if settings.method == "none" else _mean_of_known(fitted(raw), tuning.labels)
    known = {"train": np.array(teacher.card.rates), "dev": _mean_of_known(tuning.labels, tuning.labels)}
    if settings.rates == "pool":
        if not pool:
            raise TooFewRows("The pool is empty, so it has no rates.", 'Set data.pool, or calibrate.rates = "dev".')
        estimated = estimate_rates(fitted(teacher.predict_proba(pool)), rates, one_class)
        if settings.method != "none":
            estimated = np.clip(estimated, _odds(rates, 1 / FARTHEST), _odds(rates, FARTHEST))
        fitted = shifted(fitted, rates, estimated)
        known["pool"] = estimated
    before = teacher.predict_proba(judging.texts)
    after = fitted(before)
    return Calibrated(
        fitted,
        calibration_figures(judging.labels, before, after),
        reliability_tables(judging.names, judging.labels, before, after),
        {name: {of: _plain(values[c]) for of, values in known.items()} for c, name in enumerate(teacher.labels)},
    )


def _mean_of_known(values: Floats, labels: Floats) -> Doubles:
    """Give each column's mean over the rows whose label is known; over all rows where none is."""
    known = ~np.isnan(labels)
    total = np.where(known, values, 0.0).sum(axis=0, dtype=np.float64)
    mean = np.where(known.any(axis=0), total / np.maximum(known.sum(axis=0), 1), values.mean(axis=0, dtype=np.float64))
    return np.asarray(mean, dtype=np.float64)


def _plain(rate: float) -> float | None:
    return None if np.isnan(rate) else float(rate)


def _odds(rates: Doubles, factor: float) -> Doubles:
    """Give the rates whose odds are `factor` times as high."""
    return rates * factor / (1 - rates + rates * factor)


def load_calibrated(
    teach: Path, calibrate: Path | None, root: Path = Path(), store: Store | None = None
) -> Teacher | CalibratedTeacher:
    """Read a stored teacher, calibrated if there is the result of a calibration."""
    teacher = load_teacher(teach, root, store)
    if calibrate is None:
        return teacher
    told = json.loads((calibrate / "calibration.json").read_text(encoding="utf-8"))
    return CalibratedTeacher(teacher, Calibration.from_dict(told))
