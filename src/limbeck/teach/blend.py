"""A weighted mean of several teachers, such as a generalist and a specialist."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from limbeck.measure import average_precision
from limbeck.scorer import Floats
from limbeck.store import key_of
from limbeck.teach.card import Card
from limbeck.teach.lessons import Lessons, Taught, Teacher

PARTS = 10
# No single teacher is taken to be surer than this.
SUREST = 1e-6


@dataclass(frozen=True)
class BlendTeacher:
    """Teachers of the same labels, with weights that add up to 1."""

    card: Card
    teachers: tuple[Teacher, ...]
    weights: tuple[float, ...]

    @property
    def labels(self) -> tuple[str, ...]:
        """The label names."""
        return self.card.labels

    def only(self, labels: Sequence[str]) -> BlendTeacher:
        """Give the blend of teachers of just these labels; if one class is right, the whole blend."""
        if self.card.one_class or tuple(labels) == self.labels:
            return self
        teachers = tuple(teacher.only(labels) for teacher in self.teachers)
        return replace(self, card=self.card.only(labels), teachers=teachers)

    def identity(self) -> dict[str, str]:
        """Give every label the hash of what the teachers make of it, and of their weights."""
        parts = [(teacher.identity(), weight) for teacher, weight in self._asked]
        return {label: key_of([[told[label], weight] for told, weight in parts]) for label in self.labels}

    def predict_proba(self, texts: Sequence[str]) -> Floats:
        """Give what the teachers say together [texts, labels]; a teacher without weight isn't asked."""
        scores = [teacher.predict_proba(texts) for teacher, _ in self._asked]
        return mix(scores, [weight for _, weight in self._asked], self.card.one_class)

    @property
    def _asked(self) -> list[tuple[Teacher, float]]:
        return [(t, w) for t, w in zip(self.teachers, self.weights, strict=True) if w > 0]

    def save(self, folder: Path) -> None:
        """Write each teacher into a folder of its own, and the card."""
        for number, teacher in enumerate(self.teachers):
            (folder / f"part-{number}").mkdir()
            teacher.save(folder / f"part-{number}")
        self.card.save(folder, {"weights": self.weights})


def teach_blend(lessons: Lessons, parts: Mapping[str, Taught]) -> Taught:
    """Weigh teachers on the tuning half of dev; what one of them can teach, the blend can."""
    tuning, one_class = lessons.tuning, lessons.config.task == "multiclass"
    scores = [taught.teacher.predict_proba(tuning.texts) for taught in parts.values()]
    weights = fit_weights(tuning.labels, scores, one_class)
    thresholds = lessons.thresholds(mix(scores, weights, one_class))
    teachers = tuple(taught.teacher for taught in parts.values())
    skipped = [taught.skipped for taught in parts.values()]
    chosen: dict[str, object] = {"weights": dict(zip(parts, weights, strict=True))}
    history: dict[str, list[dict[str, Any]]] = {}
    for kind, taught in parts.items():
        chosen |= {f"{kind}.{name}": value for name, value in taught.chosen.items()}
        history |= {f"{kind}.{name}": series for name, series in taught.history.items()}
    return Taught(
        BlendTeacher(lessons.card("blend", thresholds), teachers, tuple(weights)),
        mix([taught.out_of_fold for taught in parts.values()], weights, one_class),
        {name: reason for name, reason in skipped[0].items() if all(name in others for others in skipped)},
        sum(taught.tasks for taught in parts.values()),
        chosen,
        history,
    )


def mix(scores: Sequence[Floats], weights: Sequence[float], one_class: bool = False) -> Floats:
    """Give the weighted mean of several [texts, labels], taken over log-odds; one that is sure counts for more.

    NaN in one of them leaves the cell to the others. If one class is right, the mean is over logarithms.
    """
    stacked = np.clip(np.stack(scores).astype(np.float64), SUREST, 1 - SUREST)
    logs = np.log(stacked) if one_class else np.log(stacked) - np.log1p(-stacked)
    shares = np.where(np.isnan(logs), 0.0, np.array(weights)[:, None, None])
    total = shares.sum(axis=0)
    mean = (np.nan_to_num(logs) * shares).sum(axis=0) / np.where(total > 0, total, np.nan)
    if one_class:
        proba = np.exp(mean)
        return np.asarray(proba / proba.sum(axis=1, keepdims=True), dtype=np.float32)
    return np.asarray(0.5 * (1.0 + np.tanh(0.5 * mean)), dtype=np.float32)


def fit_weights(truth: NDArray[np.float32], scores: Sequence[Floats], one_class: bool) -> list[float]:
    """Choose among all weights in steps of a tenth; of equally good ones, the most even.

    The best macro average precision wins, which asks for no thresholds; with one class, the best likelihood.
    """
    best: tuple[float, float] | None = None
    found = [1 / len(scores)] * len(scores)
    for counts in _shares(len(scores), PARTS):
        weights = [count / PARTS for count in counts]
        proba = mix(scores, weights, one_class)
        rank = (_likelihood(truth, proba) if one_class else _precision(truth, proba)), -max(weights)
        if best is None or rank > best:
            best, found = rank, weights
    return found


def _shares(parts: int, total: int) -> Iterator[tuple[int, ...]]:
    if parts == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in _shares(parts - 1, total - first):
            yield (first, *rest)


def _precision(truth: NDArray[np.float32], proba: Floats) -> float:
    columns = [column for column in range(truth.shape[1]) if (truth[:, column] == 1).any()]
    return float(np.mean([average_precision(truth[:, c], proba[:, c]) for c in columns])) if columns else 0.0


def _likelihood(truth: NDArray[np.float32], proba: Floats) -> float:
    return float(np.log(np.maximum(proba[truth == 1], 1e-6)).mean()) if (truth == 1).any() else 0.0
