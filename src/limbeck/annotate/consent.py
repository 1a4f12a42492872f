"""How far a store's annotators agree, by what they said of the same texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from limbeck.annotate.agreement import agreement, entity_agreement
from limbeck.annotate.asked import Judgement
from limbeck.annotate.judged import holding
from limbeck.annotate.store import Store
from limbeck.annotate.transfer import as_text
from limbeck.scorer import Span


@dataclass(frozen=True)
class Consent:
    """Agreement about a category, or about all entities: on so many texts, observed, beyond chance, and its interval.

    `kappa` of entities is over words, and `f1` is that of one annotator's entities against another's.
    """

    category: str
    annotators: tuple[str, ...]
    items: int
    observed: float | None
    kappa: float | None
    low: float | None
    high: float | None
    f1: float | None = None


def consent(store: Store, category: str | None = None) -> list[Consent]:
    """Give the agreement about each category that two people judged the same texts of."""
    said = [one for one in holding(store, category) if one.verdict == "label"]
    entities = [one for one in said if isinstance(one.value, list)]
    judged = [
        (one.public_id, name, one.annotator, value)
        for one in said
        if not isinstance(one.value, list)
        for name, value in _cells(one)
    ]
    found = [
        Consent(
            name, told.annotators, told.mean.items, told.mean.observed, told.mean.kappa, told.mean.low, told.mean.high
        )
        for name, told in agreement(judged).items()
        if told.mean.items
    ]
    return found + _of_entities(entities)


def _of_entities(said: Sequence[Judgement]) -> list[Consent]:
    spans = [
        (one.public_id, one.text, one.annotator, [Span(s["start"], s["end"], s["type"]) for s in one.value])
        for one in said
    ]
    told = entity_agreement(spans)
    if not told.texts:
        return []
    words = told.words
    return [Consent("", told.annotators, told.texts, words.observed, words.kappa, words.low, words.high, told.f1)]


def _cells(one: Judgement) -> list[tuple[str, str]]:
    """Give the categories that an answer is about; a list is about each of those that were asked."""
    if isinstance(one.value, dict):
        return [(name, as_text(name in one.value["labels"])) for name in one.value["asked"]]
    return [(one.category, as_text(one.value))]
