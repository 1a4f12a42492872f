"""What is timed, and how it is told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from limbeck.bench.efficiency import cost_of_a_million, timing_of

# Different texts of each length, so that no cache knows them all by heart after the first turn.
DIFFERENT = 400
# All models take turns, so that whatever else the machine does, for seconds at times, hits all of them.
TURNS = 10
# What a core costs an hour, if nobody says.
PRICE = 0.04


@dataclass(frozen=True)
class Case:
    """A case that is timed: so many tokens a text (words, for taggers), texts a call, and threads."""

    tokens: int
    batch: int
    threads: int


def told_of(case: Case, taken: Sequence[float], batches: Sequence[list[str]], price: float) -> dict[str, Any]:
    """Sum up the single calls of a case, and what a million texts would cost."""
    found = timing_of(taken, batches)
    cpu_seconds, cost = cost_of_a_million(found.texts_a_second, case.threads, price)
    return asdict(case) | found.as_dict() | {"cpu_seconds_a_million": cpu_seconds, "cost_a_million": cost}
