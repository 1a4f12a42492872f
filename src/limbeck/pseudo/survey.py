"""What a selection looks like in numbers, added up over a stream of texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from limbeck.pseudo.confidence import Bools, Judged
from limbeck.runtime.confidence import Doubles
from limbeck.scorer import Floats

LEVELS = (0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.99)
BINS = 20
# More labels than these make a matrix that nobody reads, of megabytes; the strongest pairs are told of any number.
MATRIX, STRONGEST = 100, 20


class Survey:
    """Sums over all texts that are no training rows, and over those of them that are kept."""

    def __init__(self, labels: Sequence[str]) -> None:
        """Start from nothing."""
        width = len(labels)
        self.labels = tuple(labels)
        self.texts = self.kept = self.with_some = 0
        self.highest_of_all = self.highest_of_any = 0.0
        self._reached = np.zeros(len(LEVELS), dtype=np.int64)
        self._yes, self._certain, self._uncertain = (np.zeros(width, dtype=np.int64) for _ in range(3))
        self._total = np.zeros(width)
        self._bins = np.zeros((width, BINS), dtype=np.int64)
        # Of kept texts, for each two labels: both known; both known and the first yes; both yes.
        self._known, self._first, self._both = (np.zeros((width, width)) for _ in range(3))

    def see(self, proba: Floats, judged: Judged, with_some: Bools) -> None:
        """Count texts, kept or not; `with_some` marks those that are certain enough and have a category."""
        lowest, certain = judged.lowest, judged.certain
        self.texts += len(proba)
        self.with_some += int(with_some.sum())
        self.highest_of_all = max(self.highest_of_all, float(lowest.max(initial=0)))
        self.highest_of_any = max(self.highest_of_any, float(judged.highest.max(initial=0)))
        self._reached += np.array([(lowest >= level).sum() for level in LEVELS])
        self._yes += judged.yes.sum(axis=0)
        self._certain += certain.sum(axis=0)
        self._uncertain += (judged.known & ~certain).sum(axis=0)
        self._total += np.where(judged.known, proba, 0).sum(axis=0, dtype=np.float64)
        rows, columns = np.nonzero(judged.known)
        bins = np.minimum((proba[rows, columns] * BINS).astype(np.int64), BINS - 1)
        self._bins += np.bincount(columns * BINS + bins, minlength=self._bins.size).reshape(self._bins.shape)

    def keep(self, yes: Bools, known: Bools) -> None:
        """Count kept texts: what is guessed of them, and which guesses stay."""
        self.kept += len(yes)
        there, on = known.astype(np.float64), (yes & known).astype(np.float64)
        self._known += there.T @ there
        self._first += on.T @ there
        self._both += on.T @ on

    def correlation(self) -> Doubles:
        """Give phi between every two labels' guesses over kept texts; NaN where one of them is always the same."""
        known, first, both = self._known, self._first, self._both
        spread = first * (known - first)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray((known * both - first * first.T) / np.sqrt(spread * spread.T))

    def as_dict(self, thresholds: Doubles) -> dict[str, Any]:
        """Give plain values for JSON."""
        known = self._certain + self._uncertain
        phi = self.correlation()
        return {
            "kept_at": [
                {"confidence": level, "share": int(count) / max(1, self.texts)}
                for level, count in zip(LEVELS, self._reached, strict=True)
            ],
            "categories": [
                {
                    "category": label,
                    "threshold": float(thresholds[column]),
                    "mean_probability": float(self._total[column] / known[column]) if known[column] else None,
                    "certain": int(self._certain[column]),
                    "uncertain": int(self._uncertain[column]),
                    "yes": int(self._yes[column]),
                    "yes_kept": int(self._both[column, column]),
                    "histogram": self._bins[column].tolist(),
                }
                for column, label in enumerate(self.labels)
            ],
            "correlation": [[_plain(value) for value in row] for row in phi] if len(phi) <= MATRIX else [],
            "strongest": self._strongest(phi),
        }

    def _strongest(self, phi: Doubles) -> list[dict[str, object]]:
        """Give the pairs of labels that go together, or apart, most."""
        first, second = np.triu_indices(len(phi), 1)
        strength = np.nan_to_num(np.abs(phi[first, second]), nan=-1.0)
        order = np.argsort(-strength, kind="stable")[:STRONGEST]
        return [
            {
                "category": self.labels[first[at]],
                "and": self.labels[second[at]],
                "correlation": _plain(phi[first[at], second[at]]),
            }
            for at in order
            if strength[at] >= 0
        ]


def _plain(value: np.float64) -> float | None:
    return None if np.isnan(value) else round(float(value), 6)
