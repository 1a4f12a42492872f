"""One judgement a line, with all that is known of it: what is written is read back exactly."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from limbeck.annotate.exchange.checks import (
    checked_name,
    checked_names,
    checked_spans,
    number_in,
    shown,
    span_in,
    string_in,
    text_in,
)
from limbeck.annotate.exchange.labelled import VERDICTS, LabelledText, Task
from limbeck.annotate.exchange.reading import Record, read_objects
from limbeck.annotate.exchange.writing import Written, as_json
from limbeck.errors import BadLabel, BrokenRow, Place
from limbeck.scorer import Span

_KEYS = frozenset(LabelledText.__dataclass_fields__)


def read(path: Path, categories: Sequence[str]) -> Iterator[LabelledText]:
    """Stream a file's judgements."""
    for place, record in read_objects(path):
        yield _judgement(record, categories, place)


def rows(labels: Iterable[LabelledText], task: Task, categories: Sequence[str], written: Written) -> Iterator[str]:
    """Give each judgement as a line, whatever the task."""
    for label in labels:
        told: Record = {
            "text": label.text,
            "annotator": label.annotator,
            "verdict": label.verdict,
            "known": dict(label.known),
            "complete": None if label.complete is None else sorted(label.complete),
            "spans": None if label.spans is None else [_told(span) for span in label.spans],
            "source": label.source,
            "given": label.given,
            "seconds": label.seconds,
            "origin": label.origin,
            "extra": dict(label.extra),
        }
        written.rows += 1
        yield as_json(told, label.text) + "\n"


def is_one(record: Record) -> bool:
    """Say whether an object is such a judgement."""
    return {"text", "verdict", "origin"} <= record.keys() <= _KEYS


def _told(span: Span) -> Record:
    told: Record = {"start": span.start, "end": span.end, "type": span.type}
    return told if span.confidence == 1 else {**told, "confidence": span.confidence}


def _judgement(record: Record, categories: Sequence[str], place: Place) -> LabelledText:
    for key in record:
        if key not in _KEYS:
            raise BrokenRow(f"'{key:.60}' is no part of a judgement.", f"Known are: {', '.join(_KEYS)}.", place)
    text = text_in(record, place)
    verdict = record.get("verdict", "label")
    if verdict not in VERDICTS:
        raise BadLabel(f"The verdict is {shown(verdict)}.", f"Write one of: {', '.join(VERDICTS)}.", place)
    complete, spans = record.get("complete"), record.get("spans")
    return LabelledText(
        text=text,
        annotator=string_in(record, "annotator", place),
        verdict=verdict,
        known={
            checked_name(name, categories, place): _yes(said, place) for name, said in _table(record, "known", place)
        },
        complete=None if complete is None else checked_names(complete, categories, place),
        spans=None if spans is None else _spans(spans, text, categories, place),
        source=string_in(record, "source", place),
        given=number_in(record, "given", place),
        seconds=number_in(record, "seconds", place),
        origin=string_in(record, "origin", place) or "import",
        extra=dict(_table(record, "extra", place)),
    )


def _table(record: Record, key: str, place: Place) -> Iterable[tuple[str, Any]]:
    value = record.get(key)
    if value is None:
        return ()
    if not isinstance(value, dict):
        raise BrokenRow(f"'{key}' is {shown(value)}, not an object.", "Write {} for none.", place)
    return value.items()


def _yes(value: Any, place: Place) -> bool:  # noqa: ANN401 - whatever a file holds
    if not isinstance(value, bool):
        raise BadLabel(f"A category is {shown(value)}.", "Write true or false.", place)
    return value


def _spans(told: Any, text: str, categories: Sequence[str], place: Place) -> tuple[Span, ...]:  # noqa: ANN401 - as above
    if not isinstance(told, list):
        raise BrokenRow(f"The entities are {shown(told)}, not a list.", "Write [] for none.", place)
    spans = []
    for one in told:
        span = span_in(one, "type", place)
        sure = number_in(one, "confidence", place)
        spans.append(span if sure is None else Span(span.start, span.end, span.type, sure))
    return checked_spans(spans, text, categories, place)
