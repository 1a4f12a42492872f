"""What every reader asks of the values in a file."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

from limbeck.annotate.exchange.reading import Record
from limbeck.errors import BadLabel, BrokenRow, ColumnMissing, LineTooLong, Place, UnknownLabel, nearest
from limbeck.scorer import Span

LONGEST_TEXT = 1_000_000


def text_in(record: Record, place: Place) -> str:
    """Give the text of a record, which must have one."""
    if "text" not in record:
        raise ColumnMissing(
            f"There is no 'text'; the row has: {', '.join(map(str, record)) or 'nothing'}.", "Name the text so.", place
        )
    return checked_text(record["text"], place)


def checked_text(value: Any, place: Place) -> str:  # noqa: ANN401 - whatever a file holds
    """Give a text, which must be a string that a person can read."""
    if not isinstance(value, str):
        raise BrokenRow(f"The text is {shown(value)}, not a string.", "Write it as a string.", place)
    if len(value) > LONGEST_TEXT:
        raise LineTooLong(
            f"The text has {len(value):,} characters; at most {LONGEST_TEXT:,} are taken.", "Cut it.", place
        )
    return value


def string_in(record: Record, key: str, place: Place) -> str:
    """Give a string of a record, "" where there is none."""
    value = record.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise BrokenRow(f"'{key}' is {shown(value)}, not a string.", "Write it as a string.", place)
    return value


def number_in(record: Record, key: str, place: Place) -> float | None:
    """Give a number of a record, None where there is none."""
    value = record.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > 1e300 or not math.isfinite(value):
        raise BrokenRow(f"'{key}' is {shown(value)}, not a number.", "Write a number, or null for unknown.", place)
    return float(value)


def checked_name(value: Any, categories: Sequence[str], place: Place) -> str:  # noqa: ANN401 - whatever a file holds
    """Give the name of a category or a type; if `categories` are given, it must be one of them."""
    if not isinstance(value, str) or not value.strip():
        raise BadLabel(f"A category is {shown(value)}.", "Write its name, as a string.", place)
    if categories and value not in categories:
        raise UnknownLabel(f"The category '{value:.80}' is not known.", nearest(value, categories), place)
    return value


def checked_names(value: Any, categories: Sequence[str], place: Place) -> frozenset[str]:  # noqa: ANN401 - as above
    """Give a list of names."""
    if not isinstance(value, list):
        raise BadLabel(f"The categories are {shown(value)}, not a list.", 'Write e.g. ["a", "b"].', place)
    return frozenset(checked_name(name, categories, place) for name in value)


def span_in(told: Any, key: str, place: Place) -> Span:  # noqa: ANN401 - whatever a file holds
    """Read an entity: an object with start, end and its type under `key`."""
    if not isinstance(told, dict):
        raise BrokenRow(f"An entity is {shown(told)}.", f'Write {{"start": 3, "end": 7, "{key}": "LOC"}}.', place)
    start, end, kind = told.get("start"), told.get("end"), told.get(key)
    if type(start) is not int or type(end) is not int or not isinstance(kind, str) or not kind.strip():
        raise BrokenRow(
            f"An entity goes from {shown(start)} to {shown(end)} and is of type {shown(kind)}.",
            "Write whole numbers for start and end, and a name for the type.",
            place,
        )
    return Span(start, end, kind)


def checked_spans(spans: Iterable[Span], text: str, types: Sequence[str], place: Place) -> tuple[Span, ...]:
    """Give entities in their order, all of which must lie in the text, apart from each other, and be of known types."""
    found = tuple(spans)
    for span in found:
        if not 0 <= span.start < span.end <= len(text):
            raise BadLabel(
                f"An entity of type {span.type} goes from character {span.start} to {span.end}, in a text of "
                f"{len(text)}.",
                "Count characters (not bytes) from 0, the end not included, in the text as it stands here.",
                place,
            )
        checked_name(span.type, types, place)
    ordered = sorted(found, key=lambda span: span.start)
    for before, after in pairwise(ordered):
        if after.start < before.end:
            raise BadLabel(
                f"The {before.type} '{text[before.start : before.end][:40]}' and the {after.type} "
                f"'{text[after.start : after.end][:40]}' overlap, at character {after.start}.",
                "Keep one of them.",
                place,
            )
    return found


def shown(value: Any) -> str:  # noqa: ANN401 - whatever a file holds
    """Give a value as JSON might have it, if that is short."""
    text = repr(value) if not isinstance(value, dict | list) or len(value) < 20 else f"a {type(value).__name__}"
    return text if len(text) <= 60 else text[:57] + "…"
