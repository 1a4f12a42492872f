"""Texts on their way into the store and out of it."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from limbeck.errors import TextRefused

# Why the server sets a text aside; a query strategy's name is a reason as well.
UNCERTAIN = "uncertain"
NOT_HELPED = "did not help"
SAMPLED = "sampled"
DRIFTED = "drift"

DAY = 86_400.0
_NO_DATABASE_TAKES = re.compile("[\x00\ud800-\udfff]")


@dataclass(frozen=True)
class NewText:
    """A text for the store, scrubbed already, and what a model said of it.

    Without a `model` an earlier guess about the same text stays. It is kept for `keep_days`, or for good. Where a
    strategy is the reason, it asks about one `category` or about all (""), and the higher its `urgency`, the sooner.
    """

    text: str
    source: str
    reason: str
    model: str | None = None
    version: str | None = None
    labels: Sequence[str] = ()
    probabilities: Mapping[str, float] | None = None
    entities: Sequence[Mapping[str, Any]] | None = None
    confidence: float | None = None
    language: str | None = None
    keep_days: float | None = None
    category: str = ""
    urgency: float | None = None


@dataclass(frozen=True)
class Vote:
    """Whether the reply to a kept text helped.

    Travellers may send the same text; `voter` tells their answers apart, and the last vote of each counts.
    """

    public_id: str
    helped: bool
    voter: str = ""


@dataclass(frozen=True)
class KeptText:
    """A text of the store with its newest guess, how often and why it came, and how many it helped."""

    public_id: str
    text: str
    source: str
    reasons: list[str]
    model: str | None
    version: str | None
    labels: list[str]
    probabilities: dict[str, float] | None
    entities: list[dict[str, Any]] | None
    confidence: float | None
    language: str | None
    seen: int
    added: float
    last_seen: float
    expires: float | None
    helped: int
    not_helped: int


def storable(text: str) -> str:
    """Replace what PostgreSQL or UTF-8 refuses, NUL and lone surrogates, by U+FFFD."""
    return _NO_DATABASE_TAKES.sub("\ufffd", text)


def plain(value: Any) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Give what JSON holds in a form that every database takes; a number that is none becomes None."""
    if isinstance(value, str):
        return storable(value)
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {storable(str(name)): plain(one) for name, one in value.items()}
    if isinstance(value, Sequence):
        return [plain(one) for one in value]
    raise TextRefused(f"The store can't hold a value of type {type(value).__name__}.", "Give plain numbers and texts.")


def row_of(new: NewText, public_id: str, now: float) -> dict[str, Any]:
    """Give a new text as a row of the table."""
    text = storable(new.text)
    return {
        "public_id": public_id,
        "source": storable(new.source),
        "digest": hashlib.sha256(text.encode()).hexdigest(),
        "text": text,
        "language": plain(new.language),
        "model": plain(new.model),
        "version": plain(new.version),
        "labels": plain(new.labels),
        "probabilities": plain(new.probabilities),
        "entities": plain(new.entities),
        "confidence": plain(new.confidence),
        "seen": 1,
        "added": now,
        "last_seen": now,
        "expires": None if new.keep_days is None else now + new.keep_days * DAY,
    }


# What one guess of a model is: taken over together, never in parts.
GUESS = ("language", "model", "version", "labels", "probabilities", "entities", "confidence")


def united(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Make one row of two about the same text, as the database does with one that it has already."""
    expires = (old["expires"], new["expires"])
    return {
        **old,
        **({name: new[name] for name in GUESS} if new["model"] is not None else {}),
        "seen": old["seen"] + new["seen"],
        "expires": None if None in expires else max(expires),
    }
