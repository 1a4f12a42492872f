"""Measuring any tagger the same way: confidence from the tuning half, figures on the judging half and on test."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from limbeck.config import Config
from limbeck.data.sentences import Sentence, tags_of
from limbeck.data.splits import JUDGING, TUNING
from limbeck.data.tagged import PreparedSentences
from limbeck.measure.bootstrap import Interval, entity_interval
from limbeck.measure.calibration import expected_calibration_error
from limbeck.measure.entities import AceCosts, EntityFigures, evaluate_entities, exact_counts
from limbeck.measure.scaling import Calibration, fit_calibration
from limbeck.scorer import Span

Tag = Callable[[Sequence[str]], list[list[Span]]]
# Entities that a curve of confidence is fitted to, at the least.
LEAST = 10


@dataclass(frozen=True)
class MeasuredTagger:
    """One tagger's figures on each part, with intervals of F1; `slope` and `offset` make its confidence honest.

    `calibration_error` is that of entities' confidence before and after, on each part.
    """

    labels: tuple[str, ...]
    figures: dict[str, EntityFigures]
    accuracy: dict[str, float]
    intervals: dict[str, Interval]
    slope: float
    offset: float
    calibration_error: dict[str, tuple[float, float]]
    counts: dict[str, NDArray[np.int64]]

    def as_dict(self) -> dict[str, object]:
        """Give plain values for JSON."""
        return {
            "labels": self.labels,
            "figures": {part: found.as_dict() for part, found in self.figures.items()},
            "accuracy": self.accuracy,
            "f1_intervals": {part: asdict(interval) for part, interval in self.intervals.items()},
            "slope": self.slope,
            "offset": self.offset,
            "calibration_error": self.calibration_error,
        }

    def flat(self) -> dict[str, float]:
        """Give the figures that are tracked."""
        found: dict[str, float] = {}
        for part, told in self.figures.items():
            found |= {f"{part}.f1": told.exact.f1, f"{part}.precision": told.exact.precision}
            found |= {f"{part}.recall": told.exact.recall, f"{part}.accuracy": self.accuracy[part]}
            found |= {f"{part}.muc_f1": told.muc.f1, f"{part}.ace": told.ace}
        return found

    def save(self, folder: Path) -> None:
        """Write figures as JSON, and the counts by sentence that comparisons are made from."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "figures.json").write_text(json.dumps(self.as_dict(), indent=1, ensure_ascii=False), encoding="utf-8")
        np.savez_compressed(folder / "counts.npz", **self.counts)  # type: ignore[arg-type]


def measure_tagger(tag: Tag, prepared: PreparedSentences, config: Config) -> MeasuredTagger:
    """Fit confidence on dev's tuning half; evaluate on its judging half and, if there is one, on test."""
    tuning = prepared.dev_half(TUNING)
    found = tag([sentence.text for sentence in tuning])
    right, raw = rights(tuning, found)
    curve = Calibration.identity(1, False)
    if len(right) >= LEAST:
        curve = fit_calibration(right[:, None], raw[:, None], "platt", False, LEAST)
    parts = {"judging": prepared.dev_half(JUDGING)} | ({"test": prepared.test} if prepared.test else {})
    figures, accuracy, intervals, errors, counts = {}, {}, {}, {}, {}
    settings = config.measure
    for name, part in parts.items():
        spans = tag([sentence.text for sentence in part])
        truth = [sentence.spans() for sentence in part]
        figures[name] = evaluate_entities(truth, spans, prepared.types, ace_costs(config))
        accuracy[name] = token_accuracy(part, spans)
        counts[name] = exact_counts(truth, spans)
        intervals[name] = entity_interval(counts[name], settings.rounds, settings.level, config.seed)
        right, raw = rights(part, spans)
        before, after = (_error(right, proba) for proba in (raw, curve(raw[:, None])[:, 0]))
        errors[name] = before, after
    slope, offset = curve.slopes[0], curve.offsets[0]
    return MeasuredTagger(prepared.types, figures, accuracy, intervals, slope, offset, errors, counts)


def ace_costs(config: Config) -> AceCosts:
    """Give what errors cost, as the settings say."""
    settings = config.measure
    return AceCosts(weights=settings.ace_weights, **settings.ace_costs)


def rights(
    sentences: Sequence[Sentence], found: Sequence[Sequence[Span]]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Say of all entities that were found whether they are right, and how confident the tagger was."""
    right, sure = [], []
    for sentence, spans in zip(sentences, found, strict=True):
        there = {(span.start, span.end, span.type) for span in sentence.spans()}
        right += [(span.start, span.end, span.type) in there for span in spans]
        sure += [span.confidence for span in spans]
    return np.array(right, dtype=np.float32), np.array(sure, dtype=np.float32)


def token_accuracy(sentences: Sequence[Sentence], found: Sequence[Sequence[Span]]) -> float:
    """Give the share of words whose BIO tag is right."""
    right = total = 0
    for sentence, spans in zip(sentences, found, strict=True):
        tags = tags_of_spans(sentence, spans)
        right += sum(mine == true for mine, true in zip(tags, sentence.tags, strict=True))
        total += len(tags)
    return right / total if total else 0.0


def tags_of_spans(sentence: Sentence, spans: Sequence[Span]) -> tuple[str, ...]:
    """Give a sentence's words the tags of these entities; a word that one covers in part counts as covered."""
    places = sentence.offsets()
    entities: list[tuple[int, int, str]] = []
    for span in sorted(spans, key=lambda span: span.start):
        inside = [at for at, (start, end) in enumerate(places) if start < span.end and end > span.start]
        if inside and (not entities or inside[0] >= entities[-1][1]):
            entities.append((inside[0], inside[-1] + 1, span.type))
    return tags_of(entities, len(places))


def _error(right: NDArray[np.float32], proba: NDArray[np.float32]) -> float:
    if not len(right):
        return float("nan")
    return float(np.ravel(expected_calibration_error(right[:, None], proba[:, None]))[0])


def load_measured_taggers(folder: Path) -> dict[str, dict[str, Any]]:
    """Read the figures of every tagger that was measured into `folder`, by its name."""
    files = sorted(folder.glob("*/figures.json"))
    return {file.parent.name: json.loads(file.read_text(encoding="utf-8")) for file in files}
