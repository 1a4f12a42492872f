"""The project's own files: texts with cells of categories, with a list of them, with a class, or with entities.

{"text": …, "Refund": 1, "Luggage": 0}   what is known; other categories are not
{"text": …, "labels": ["Refund"]}        all that apply; the others don't
{"text": …, "label": "Refund"}           the one class; in a file Refund.jsonl, 1 or 0 says yes or no to Refund
{"text": …, "spans": [{"start": 3, "end": 7, "label": "LOC"}]}

A csv or tsv file says the same in columns; a list of labels is a|b there.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from limbeck.annotate.exchange.agreed import AgreedText, agreed_texts
from limbeck.annotate.exchange.checks import checked_name, checked_names, checked_spans, shown, span_in, text_in
from limbeck.annotate.exchange.labelled import LabelledText, Task
from limbeck.annotate.exchange.reading import LONGEST_LINE, Record, read_lines, read_objects, without_rows
from limbeck.annotate.exchange.writing import Written, as_json
from limbeck.errors import BadLabel, BrokenRow, Place
from limbeck.scorer import Span

TABLES = {".csv": ",", ".tsv": "\t"}
# What a column of the project's files means if it has this name, so that no category can have it.
_TAKEN = ("text", "source", "label", "labels", "spans", "entities")
_CELLS = {"1": True, "0": False, "1.0": True, "0.0": False, "": None}


def read(path: Path, categories: Sequence[str]) -> Iterator[LabelledText]:
    """Stream a file's rows; one that says nothing of its text is passed over."""
    for place, record in _records(path):
        text = text_in(record, place)
        source = record.get("source")
        said = _said(record, text, path.stem, categories, place)
        if said:
            yield LabelledText(text=text, source="" if source is None else str(source), **said)


def rows(labels: Iterable[LabelledText], task: Task, categories: Sequence[str], written: Written) -> Iterator[str]:
    """Give each text as a line of jsonl, once, with what the majority of its annotators says."""
    for agreed in agreed_texts(labels, task, categories, written):
        told: Record = {"text": agreed.text, **({"source": agreed.source} if agreed.source else {})}
        if task == "ner":
            told["spans"] = [{"start": span.start, "end": span.end, "label": span.type} for span in agreed.spans]
        elif task == "multiclass":
            told["label"] = agreed.one_class
        else:
            told.update(_cells(agreed))
        written.rows += 1
        yield as_json(told, agreed.text) + "\n"


def _cells(agreed: AgreedText) -> Record:
    if agreed.is_complete:
        return {"labels": [name for name, yes in agreed.known.items() if yes]}
    for name in agreed.known:
        if name in _TAKEN:
            raise BadLabel(
                f"A category is called '{name}', which the project's files use for something else.",
                "Rename it, or export as jsonl.",
            )
    return {name: int(yes) for name, yes in agreed.known.items()}


def _records(path: Path) -> Iterator[tuple[Place, Record]]:
    delimiter = TABLES.get(path.suffix.lower())
    return read_objects(path) if delimiter is None else _table(path, delimiter)


def _table(path: Path, delimiter: str) -> Iterator[tuple[Place, Record]]:
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST_LINE))
    table = csv.reader((line for _, line in read_lines(path)), delimiter=delimiter, strict=True)
    header: list[str] | None = None
    empty = True
    while True:
        place = Place(path, table.line_num + 1)
        try:
            row = next(table)
        except StopIteration:
            break
        except csv.Error as error:
            raise BrokenRow(
                f"This is not a row: {str(error).rstrip('.?')}.", "Quote texts that hold quotes or line breaks.", place
            ) from None
        if header is None:
            header = [name.strip() for name in row]
        elif row and len(row) != len(header):
            raise BrokenRow(
                f"The row has {len(row)} values for {len(header)} columns.",
                "Quote texts that hold the delimiter.",
                place,
            )
        elif row:
            empty = False
            yield place, dict(zip(header, row, strict=True))
    if empty:
        raise without_rows(path)


def _said(record: Record, text: str, stem: str, categories: Sequence[str], place: Place) -> dict[str, Any]:
    """Give what a row says as the fields of a judgement, empty if it says nothing."""
    for key in ("spans", "entities", "label", "labels"):
        if _are_spans(record.get(key), key):
            return {"spans": _spans(record[key], text, categories, place), "extra": _besides(record, key)}
    if "labels" in record:
        told = record["labels"]
        if isinstance(told, str):
            told = [name for name in told.split("|") if name.strip()]
        if told is None:
            return {}
        return {
            "complete": checked_names(_stripped(told), categories, place),
            "extra": _besides(record, "labels"),
        }
    if "label" in record:
        return _label(record, stem, categories, place)
    return _wide(record, categories, place)


def _besides(record: Record, key: str) -> Record:
    return {name: value for name, value in record.items() if name not in ("text", "source", key)}


def _are_spans(value: Any, key: str) -> bool:  # noqa: ANN401 - whatever a file holds
    if not isinstance(value, list):
        return False
    return key in ("spans", "entities") or (not value and key == "label") or any(not isinstance(v, str) for v in value)


def _spans(told: list[Any], text: str, categories: Sequence[str], place: Place) -> tuple[Span, ...]:
    spans = []
    for one in told:
        if isinstance(one, list) and len(one) == 3:
            one = dict(zip(("start", "end", "label"), one, strict=True))
        span = span_in(one, "type" if isinstance(one, dict) and "label" not in one else "label", place)
        # A type is a single word in the project's files.
        spans.append(Span(span.start, span.end, "_".join(span.type.split())))
    return checked_spans(sorted(spans, key=lambda span: span.start), text, categories, place)


def _stripped(told: Any) -> Any:  # noqa: ANN401 - whatever a file holds
    return [name.strip() if isinstance(name, str) else name for name in told] if isinstance(told, list) else told


def _label(record: Record, stem: str, categories: Sequence[str], place: Place) -> dict[str, Any]:
    told = record["label"]
    name = told.strip() if isinstance(told, str) else told
    extra = _besides(record, "label")
    if name not in categories and _is_cell(name):
        yes = _cell(name)
        return {} if yes is None else {"known": {checked_name(stem, categories, place): yes}, "extra": extra}
    return {"complete": frozenset([checked_name(name, categories, place)]), "extra": extra}


def _wide(record: Record, categories: Sequence[str], place: Place) -> dict[str, Any]:
    known, extra = {}, {}
    for name, value in record.items():
        if name in ("text", "source"):
            continue
        known_name = not categories or name in categories
        if not _is_cell(value) and known_name:
            raise BadLabel(
                f"'{name:.60}' is {shown(value)}, neither 1, 0 nor blank.",
                "Correct it; if it is no category, take it out of the file.",
                place,
            )
        if not _is_cell(value):
            extra[name] = value
        elif (yes := _cell(value)) is not None:
            known[checked_name(name, categories, place)] = yes
    return {"known": known, "extra": extra} if known else {}


def _is_cell(value: Any) -> bool:  # noqa: ANN401 - whatever a file holds
    if isinstance(value, str):
        return value.strip() in _CELLS
    return value is None or (isinstance(value, int | float) and value in (0, 1))


def _cell(value: Any) -> bool | None:  # noqa: ANN401 - as above
    if isinstance(value, str):
        return _CELLS[value.strip()]
    return None if value is None else bool(value)
