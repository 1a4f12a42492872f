"""How annotating goes: counts, pace, agreement, and the curve of the model that learns from it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from limbeck.annotate.consent import consent
from limbeck.annotate.desk import Desk
from limbeck.annotate.judged import tally

# Rounds that are looked at to see whether a curve is flat, and what a hundred labels must still bring.
LOOKED_AT, WORTH = 5, 0.005


@dataclass(frozen=True)
class Round:
    """One round of learning: after how many labels, how good the model was, on what, and what it took.

    `low` and `high` bound F1 with 95 % certainty. `on` is "dev", or "cross-validation" where dev doesn't know the
    category: then it is on the hard texts that were asked about, and pessimistic.
    """

    labels: int
    f1: float | None = None
    low: float | None = None
    high: float | None = None
    on: str = ""
    asked: int = 0
    seconds: float = 0.0
    when: float = 0.0


class Learning(Protocol):
    """A model that learns in the background."""

    def answered(self) -> None:
        """Hear that there is one more answer."""
        ...

    def running_out(self) -> None:
        """Hear that the queue has too few texts."""
        ...

    def start(self) -> bool:
        """Begin a round, and say so, unless one runs."""
        ...

    def state(self) -> dict[str, Any]:
        """Say whether a round runs, when the next is due, and what went wrong with the last."""
        ...

    def rounds(self) -> list[Round]:
        """Give the rounds so far."""
        ...


@dataclass(frozen=True)
class Progress:
    """What the page shows beside the texts."""

    labels: int
    texts: int
    skipped: int
    unknown: int
    waiting: int
    pace: float | None
    seconds: float | None
    balance: dict[str, int]
    by_annotator: dict[str, int]
    by_strategy: dict[str, int]
    agreement: dict[str, Any] | None
    curve: list[dict[str, Any]] = field(default_factory=list)
    model: dict[str, Any] = field(default_factory=dict)
    hint: str | None = None


def progress_of(desk: Desk, learning: Learning, annotator: str | None) -> Progress:
    """Put together what the page shows."""
    found = tally(desk.store, desk.question, annotator)
    rounds = learning.rounds()
    judged = [one for one in rounds if one.f1 is not None]
    return Progress(
        found.labels,
        found.texts,
        found.skipped,
        found.unknown,
        desk.waiting(),
        found.pace,
        found.seconds,
        dict(found.balance),
        dict(found.by_annotator),
        dict(found.by_strategy),
        _agreement(desk) if len(found.by_annotator) > 1 else None,
        [{"labels": r.labels, "f1": r.f1, "low": r.low, "high": r.high, "on": r.on} for r in judged],
        learning.state(),
        hint_of(rounds),
    )


def _agreement(desk: Desk) -> dict[str, Any] | None:
    """Give the agreement about the question; of several categories, the mean."""
    found = consent(desk.store, desk.question.category)
    kappas = [one.kappa for one in found if one.kappa is not None]
    if not found:
        return None
    return {
        "kappa": sum(kappas) / len(kappas) if kappas else None,
        "agreement": sum(one.observed or 0.0 for one in found) / len(found),
        "items": max(one.items for one in found),
    }


def hint_of(rounds: Sequence[Round]) -> str | None:
    """Say that more labels bring little, once the curve has been flat for some rounds."""
    last = [(one.labels, one.f1) for one in rounds if one.f1 is not None][-LOOKED_AT:]
    if len(last) < LOOKED_AT or last[-1][0] == last[0][0]:
        return None
    labels, scores = np.array(last, dtype=np.float64).T
    gain = 100 * float(np.polyfit(labels, scores, 1)[0])
    if gain >= WORTH:
        return None
    return (
        f"The last {LOOKED_AT} rounds brought {100 * gain:+.1f} points of F1 a hundred labels: "
        "more of the same will hardly help. Another category may need you more."
    )


def read_rounds(file: Path) -> list[Round]:
    """Read the rounds that a file holds; a last line that a kill cut off is passed over."""
    if not file.is_file():
        return []
    found = []
    for line in file.read_text(encoding="utf-8").splitlines():
        try:
            found.append(Round(**json.loads(line)))
        except (ValueError, TypeError):
            continue
    return found
