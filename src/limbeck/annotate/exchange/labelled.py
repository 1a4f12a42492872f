"""What all formats have in common: a text, and what one annotator said of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from limbeck.scorer import Span

Task = Literal["multilabel", "multiclass", "ner"]
VERDICTS = ("label", "skip", "don't know")


@dataclass(frozen=True)
class LabelledText:
    """A text and what one annotator said of it.

    Exactly one of `known`, `complete` and `spans` holds the value of a label; none does for the other verdicts.
    """

    text: str
    # "" if a file doesn't say.
    annotator: str = ""
    verdict: str = "label"
    # Category -> yes or no; only the categories that were asked.
    known: Mapping[str, bool] = field(default_factory=dict)
    # The categories of the text, where all others of the project are no; or the one class.
    complete: frozenset[str] | None = None
    # Entities by characters of the text; None if they were not asked.
    spans: tuple[Span, ...] | None = None
    source: str = ""
    # Seconds since 1970.
    given: float | None = None
    # How long it took.
    seconds: float | None = None
    # "person", "import" or "rule".
    origin: str = "import"
    # What the file said besides, for the way back.
    extra: Mapping[str, Any] = field(default_factory=dict)
