"""Measuring any scorer the same way: thresholds from the tuning half, figures on the judging half and on test."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from limbeck.config import Config
from limbeck.data.dataset import Dataset
from limbeck.data.parents import families
from limbeck.data.prepare import Prepared
from limbeck.data.splits import JUDGING, TUNING
from limbeck.measure.bootstrap import Interval, bootstrap_interval
from limbeck.measure.counts import decide, decide_classes
from limbeck.measure.parents import ParentFigures, by_parent
from limbeck.measure.quality import Figures, evaluate, evaluate_by_source, evaluate_classes
from limbeck.measure.thresholds import Unlabelled, choose_thresholds
from limbeck.scorer import Scorer


@dataclass(frozen=True)
class Measured:
    """One scorer's figures on each part ('judging', 'test'), macro-F1 intervals, and the probabilities behind them."""

    labels: tuple[str, ...]
    thresholds: NDArray[np.float64]
    figures: dict[str, Figures]
    intervals: dict[str, Interval]
    by_source: dict[str, dict[str, Figures]]
    proba: dict[str, NDArray[np.float32]]
    by_parent: dict[str, dict[str, ParentFigures]] = field(default_factory=dict)

    def as_dict(self) -> dict[str, object]:
        """Give plain values for JSON, without the probabilities."""
        return {
            "labels": self.labels,
            "thresholds": self.thresholds.tolist(),
            "figures": {part: found.as_dict() for part, found in self.figures.items()},
            "macro_f1_intervals": {part: _without_nan(interval) for part, interval in self.intervals.items()},
            "by_source": {p: {s: f.as_dict() for s, f in found.items()} for p, found in self.by_source.items()},
            "by_parent": {p: {n: f.as_dict() for n, f in found.items()} for p, found in self.by_parent.items()},
        }

    def save(self, folder: Path) -> None:
        """Write figures as JSON and probabilities as npz."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "figures.json").write_text(json.dumps(self.as_dict(), indent=1, ensure_ascii=False), encoding="utf-8")
        np.savez_compressed(folder / "proba.npz", **self.proba)  # type: ignore[arg-type]


def measure_scorer(
    scorer: Scorer, prepared: Prepared, config: Config, unlabelled: Unlabelled | None = None
) -> Measured:
    """Tune thresholds on dev's tuning half; evaluate on its judging half and, if there is one, on test.

    Where a teacher has guessed at the labels of `unlabelled` texts, thresholds may lean on them.
    """
    one_class = config.task == "multiclass"
    tuning = prepared.dev_half(TUNING)
    parts = {"judging": prepared.dev_half(JUDGING)} | ({"test": prepared.test} if prepared.test else {})
    thresholds = np.full(len(scorer.labels), 0.5)
    if not one_class:
        settings, proba = config.measure, scorer.predict_proba(tuning.texts)
        thresholds = choose_thresholds(tuning.labels, proba, settings.thresholds, settings.min_positives, unlabelled)
    figures, intervals, by_source, probabilities, parents = {}, {}, {}, {}, {}
    grouped = families(config.data.parents, scorer.labels)
    for name, part in parts.items():
        proba = scorer.predict_proba(part.texts)
        decisions = decide_classes(proba) if one_class else decide(proba, thresholds)
        figures[name] = _evaluate(part, proba, thresholds, one_class)
        intervals[name] = bootstrap_interval(
            part.labels, decisions, rounds=config.measure.rounds, level=config.measure.level, seed=config.seed
        )
        limits = None if one_class else thresholds
        by_source[name] = evaluate_by_source(part.labels, proba, limits, part.names, part.sources)
        parents[name] = by_parent(np.asarray(part.labels, dtype=np.float64), decisions, grouped)
        probabilities[name] = proba
    return Measured(scorer.labels, thresholds, figures, intervals, by_source, probabilities, parents)


def _without_nan(interval: Interval) -> dict[str, float | None]:
    return {name: None if np.isnan(value) else value for name, value in asdict(interval).items()}


def _evaluate(part: Dataset, proba: NDArray[np.float32], thresholds: NDArray[np.float64], one_class: bool) -> Figures:
    if one_class:
        return evaluate_classes(part.labels, proba, part.names)
    return evaluate(part.labels, proba, thresholds, part.names)


def load_measured(folder: Path) -> dict[str, dict[str, Any]]:
    """Read the figures of every scorer that was measured into `folder`, by its name."""
    files = sorted(folder.glob("*/figures.json"))
    return {file.parent.name: json.loads(file.read_text(encoding="utf-8")) for file in files}
