"""How well entities are found: exact match as CoNLL counts it, and schemes that forgive a part of an error.

Exact       an entity is right if its boundaries and its type are (CoNLL; F1 over all types together)
MUC         two questions an entity: is its type right where texts overlap, are its boundaries right whatever the type
Partial     half a point for boundaries that overlap, whatever the type; `type` asks for the type of overlapping texts
ACE         what all entities are worth, less a cost for each error, by weights of types (Sekine & Ranchhod 2009)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from limbeck.errors import MeasureError
from limbeck.scorer import Span

Spans = Sequence[Sequence[Span]]


class Outcome(StrEnum):
    """What became of an entity."""

    RIGHT = "right"
    WRONG_TYPE = "wrong type"
    WRONG_BOUNDARY = "wrong boundary"
    WRONG_BOTH = "wrong type and boundary"
    MISSED = "missed"
    SPURIOUS = "spurious"


@dataclass(frozen=True)
class Pair:
    """A true entity and the one that was found in its place; one of them may be lacking."""

    truth: Span | None
    found: Span | None

    @property
    def outcome(self) -> Outcome:
        """What became of it."""
        if self.found is None:
            return Outcome.MISSED
        if self.truth is None:
            return Outcome.SPURIOUS
        same_type = self.truth.type == self.found.type
        if (self.truth.start, self.truth.end) == (self.found.start, self.found.end):
            return Outcome.RIGHT if same_type else Outcome.WRONG_TYPE
        return Outcome.WRONG_BOUNDARY if same_type else Outcome.WRONG_BOTH

    @property
    def overlap(self) -> float:
        """The share of the true entity's characters that were found."""
        if self.truth is None or self.found is None:
            return 0.0
        shared = min(self.truth.end, self.found.end) - max(self.truth.start, self.found.start)
        return shared / (self.truth.end - self.truth.start)


@dataclass(frozen=True)
class Rates:
    """Precision, recall and their harmonic mean; what there is nothing of counts as 0."""

    precision: float
    recall: float
    f1: float

    @staticmethod
    def of(right: float, found: float, true: float) -> Rates:
        """Divide."""
        precision, recall = right / found if found else 0.0, right / true if true else 0.0
        both = precision + recall
        return Rates(precision, recall, 2 * precision * recall / both if both else 0.0)


@dataclass(frozen=True)
class TypeFigures:
    """Exact match for one type."""

    type: str
    entities: int
    exact: Rates
    errors: dict[str, int]


@dataclass(frozen=True)
class AceCosts:
    """What entities are worth and errors cost, as shares of an entity's weight; a type that isn't named weighs 1.

    A pair counts as one entity if at least the share `overlap` of the true one's characters was found; else it is a
    missed and a spurious one.
    """

    weights: Mapping[str, float] = field(default_factory=dict)
    missed: float = 1.0
    spurious: float = 0.75
    wrong_type: float = 0.5
    wrong_boundary: float = 0.25
    overlap: float = 0.3

    def weight(self, kind: str) -> float:
        """Give what an entity of a type is worth."""
        return self.weights.get(kind, 1.0)


@dataclass(frozen=True)
class EntityFigures:
    """All figures of one model on one set of sentences."""

    sentences: int
    entities: int
    exact: Rates
    muc: Rates
    partial: Rates
    type: Rates
    ace: float
    errors: dict[str, int]
    types: tuple[TypeFigures, ...]

    def as_dict(self) -> dict[str, object]:
        """Give plain values."""
        return asdict(self)


def evaluate_entities(truth: Spans, found: Spans, types: Sequence[str], costs: AceCosts | None = None) -> EntityFigures:
    """Compare what was found in sentences with what is there, by characters."""
    if len(truth) != len(found):
        raise MeasureError(f"{len(found)} sentences were tagged, of {len(truth)}.")
    pairs = [pair for true, mine in zip(truth, found, strict=True) for pair in align(true, mine)]
    return EntityFigures(
        sentences=len(truth),
        entities=sum(map(len, truth)),
        exact=_rates(pairs, _exact),
        muc=_rates(pairs, _muc, points=2),
        partial=_rates(pairs, _partial),
        type=_rates(pairs, _type),
        ace=ace_value(pairs, costs or AceCosts()),
        errors=_errors(pairs),
        types=tuple(_of_type(pairs, kind) for kind in types),
    )


def align(truth: Sequence[Span], found: Sequence[Span]) -> list[Pair]:
    """Pair the entities of a sentence: the same ones first, then the same text, then texts that overlap.

    Of texts that overlap, those of one type come first, then those that share more.
    """
    left, mine = list(truth), list(found)
    candidates = [Pair(one, other) for one in left for other in mine if one.start < other.end and other.start < one.end]
    order = list(Outcome)
    candidates.sort(key=lambda pair: (order.index(pair.outcome), -pair.overlap))
    pairs: list[Pair] = []
    for pair in candidates:
        if pair.truth in left and pair.found in mine:
            left.remove(pair.truth)
            mine.remove(pair.found)
            pairs.append(pair)
    return pairs + [Pair(one, None) for one in left] + [Pair(None, one) for one in mine]


def ace_value(pairs: Sequence[Pair], costs: AceCosts) -> float:
    """Give 1 less the cost of all errors as a share of what all true entities are worth; it may fall below 0."""
    worth = sum(costs.weight(pair.truth.type) for pair in pairs if pair.truth)
    lost = 0.0
    for pair in pairs:
        if pair.truth and pair.found and pair.overlap >= costs.overlap:
            told = pair.outcome
            share = costs.wrong_type * (told in (Outcome.WRONG_TYPE, Outcome.WRONG_BOTH))
            share += costs.wrong_boundary * (told in (Outcome.WRONG_BOUNDARY, Outcome.WRONG_BOTH))
            lost += share * costs.weight(pair.truth.type)
            continue
        if pair.truth:
            lost += costs.missed * costs.weight(pair.truth.type)
        if pair.found:
            lost += costs.spurious * costs.weight(pair.found.type)
    return 1 - lost / worth if worth else 0.0


def exact_counts(truth: Spans, found: Spans) -> NDArray[np.int64]:
    """Give [sentences, 3]: entities that are right, found, and there; for intervals by drawing sentences."""
    rows = []
    for true, mine in zip(truth, found, strict=True):
        there = {(span.start, span.end, span.type) for span in true}
        got = {(span.start, span.end, span.type) for span in mine}
        rows.append((len(there & got), len(got), len(there)))
    return np.array(rows, dtype=np.int64).reshape(-1, 3)


def _exact(pair: Pair) -> float:
    return float(pair.outcome == Outcome.RIGHT)


def _muc(pair: Pair) -> float:
    same_text = pair.outcome in (Outcome.RIGHT, Outcome.WRONG_TYPE)
    return _type(pair) + float(same_text)


def _partial(pair: Pair) -> float:
    if pair.outcome in (Outcome.RIGHT, Outcome.WRONG_TYPE):
        return 1.0
    return 0.5 if pair.outcome in (Outcome.WRONG_BOUNDARY, Outcome.WRONG_BOTH) else 0.0


def _type(pair: Pair) -> float:
    return float(pair.outcome in (Outcome.RIGHT, Outcome.WRONG_BOUNDARY))


def _rates(pairs: Sequence[Pair], points_of: Callable[[Pair], float], points: int = 1) -> Rates:
    found = sum(pair.found is not None for pair in pairs)
    there = sum(pair.truth is not None for pair in pairs)
    return Rates.of(sum(map(points_of, pairs)), points * found, points * there)


def _errors(pairs: Sequence[Pair]) -> dict[str, int]:
    return {str(outcome): sum(pair.outcome == outcome for pair in pairs) for outcome in Outcome}


def _of_type(pairs: Sequence[Pair], kind: str) -> TypeFigures:
    """Count a type's entities, and as spurious what was taken for one."""
    mine = [pair for pair in pairs if kind in (pair.truth and pair.truth.type, pair.found and pair.found.type)]
    there = [pair for pair in mine if pair.truth and pair.truth.type == kind]
    found = [pair for pair in mine if pair.found and pair.found.type == kind]
    right = sum(pair.outcome == Outcome.RIGHT for pair in there)
    errors = _errors(there)
    errors[str(Outcome.SPURIOUS)] = len(found) - sum(
        pair.truth is not None and pair.truth.type == kind for pair in found
    )
    return TypeFigures(kind, len(there), Rates.of(right, len(found), len(there)), errors)
