"""Texts with entities by their characters: jsonl, as annotation tools write it.

A row is {"text": …, "spans": [{"start": 4, "end": 10, "label": "LOC"}]}, the end not included. The list may be called
entities or label as well, an entity may be [4, 10, "LOC"], and its type may be called type.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from pathlib import Path
from typing import Any

from limbeck.data.conll import check_type
from limbeck.data.records import Record, read_records
from limbeck.data.sentences import Sentence, tags_of
from limbeck.errors import BadLabel, BrokenRow, ColumnMissing, Place
from limbeck.scorer import Span
from limbeck.text.words import words

SPAN_ENDINGS = (".jsonl", ".ndjson")
_LISTS = ("spans", "entities", "label", "labels")
_EXAMPLE = '{"text": "to Rome", "spans": [{"start": 3, "end": 7, "label": "LOC"}]}'


def read_spans(path: Path, max_line_bytes: int = 1_000_000, types: tuple[str, ...] = ()) -> list[Sentence]:
    """Read texts and entities; a text is cut into words by the rule of `limbeck.text.words`.

    An entity that begins or ends within a word is widened to the whole word.
    """
    return [
        sentence_of(*_row(record, Place(path, line), types), line, Place(path, line))
        for line, record in read_records(path, max_line_bytes)
    ]


def sentence_of(text: str, spans: list[Span], line: int, place: Place) -> Sentence:
    """Give the words of a text with the tags of its entities, which must not overlap."""
    offsets = words(text)
    starts, ends = [start for start, _ in offsets], [end for _, end in offsets]
    entities: list[tuple[int, int, str]] = []
    for span in sorted(spans, key=lambda span: span.start):
        # Words that end after its start and start before its end.
        first, last = bisect_right(ends, span.start), bisect_left(starts, span.end)
        if first >= last:
            raise BadLabel(
                f"{_shown(span, text)} holds no word, only white space.", "Take it out, or move its ends.", place
            )
        if entities and first < entities[-1][1]:
            raise BadLabel(
                f"{_shown(span, text)} overlaps the entity before it, or shares a word with it.",
                "Keep one of the two: a word can be part of one entity only.",
                place,
            )
        entities.append((first, last, span.type))
    tokens = tuple(text[start:end] for start, end in offsets)
    return Sentence(tokens, tags_of(entities, len(tokens)), line, text)


def _row(record: Record, place: Place, types: tuple[str, ...]) -> tuple[str, list[Span]]:
    text = record.get("text")
    if not isinstance(text, str) or not words(text):
        raise ColumnMissing("The row has no text.", f"Write {_EXAMPLE}.", place)
    told = next((record[name] for name in _LISTS if record.get(name) is not None), None)
    if not isinstance(told, list):
        raise ColumnMissing(
            "The row has no list of entities.",
            f"Write {_EXAMPLE}; an empty list says that there are none.",
            place,
        )
    spans = [_span(one, len(text), place) for one in told]
    for span in spans:
        check_type(span.type, types, place)
    return text, spans


def _span(told: Any, length: int, place: Place) -> Span:  # noqa: ANN401 - whatever JSON holds
    if isinstance(told, dict):
        told = [told.get("start"), told.get("end"), told.get("label", told.get("type"))]
    if not isinstance(told, list) or len(told) != 3:
        raise BrokenRow(f"An entity is {str(told)[:60]}.", f"Write {_EXAMPLE}.", place)
    start, end, kind = told
    if type(start) is not int or type(end) is not int or not isinstance(kind, str) or not kind.split():
        raise BrokenRow(
            f"An entity is {str(told)[:60]}: start and end must be whole numbers, and the type a name.",
            f"Write {_EXAMPLE}.",
            place,
        )
    if not 0 <= start < end <= length:
        raise BadLabel(
            f"An entity of type {kind} goes from character {start} to {end}, in a text of {length}.",
            "Count characters (not bytes) from 0, the end not included, in the text as it stands here.",
            place,
        )
    return Span(start, end, "_".join(kind.split()))


def _shown(span: Span, text: str) -> str:
    return f"The {span.type} '{text[span.start : span.end][:40]}' at characters {span.start} to {span.end}"
