"""Readers: each turns a file into a stream of records (column -> raw value) with their line numbers.

A new format is one function and one line in `READERS`.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from limbeck.data.lines import check_file, read_lines
from limbeck.errors import BrokenRow, ExtraMissing, FileEmpty, Place, UnknownFormat

Record = dict[str, Any]


def read_records(path: Path, max_line_bytes: int = 1_000_000) -> Iterator[tuple[int, Record]]:
    """Stream a file's records with the line each starts on (for parquet: the row, from 1), in constant memory."""
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        check_file(path)
        raise UnknownFormat(
            f"No reader takes '{path.suffix or path.name}' files.", f"Known are: {', '.join(READERS)}.", Place(path)
        )
    empty = True
    for item in reader(path, max_line_bytes):
        empty = False
        yield item
    if empty:
        raise FileEmpty(f"{path.name} has no rows.", "Export it again, or take it out of limbeck.toml.", Place(path))


def _read_delimited(path: Path, max_line_bytes: int, delimiter: str) -> Iterator[tuple[int, Record]]:
    csv.field_size_limit(max(csv.field_size_limit(), max_line_bytes * 4))
    rows = csv.reader(read_lines(path, max_line_bytes), delimiter=delimiter, strict=True)
    start = 1
    header: list[str] | None = None
    while True:
        try:
            row = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            raise BrokenRow(
                f"This is not a row: {str(error).rstrip('.?')}.",
                "Quote texts that hold quotes or line breaks.",
                Place(path, start),
            ) from None
        line, start = start, rows.line_num + 1
        if not row:
            continue
        if header is None:
            header = _checked_header([name.strip() for name in row], path, delimiter)
        elif len(row) != len(header):
            raise BrokenRow(
                f"The row has {len(row)} values for {len(header)} columns ({', '.join(header)}).",
                "Quote texts that hold the delimiter.",
                Place(path, line),
            )
        else:
            yield line, dict(zip(header, row, strict=True))


def _checked_header(header: list[str], path: Path, delimiter: str) -> list[str]:
    twice = {name for name in header if header.count(name) > 1}
    if twice:
        raise BrokenRow(f"The column '{min(twice)}' occurs twice.", "Rename one of them.", Place(path, 1))
    if len(header) == 1 and any(mark in header[0] for mark in ";\t," if mark != delimiter):
        raise BrokenRow(
            f"The header {header[0]!r} is not split by {'commas' if delimiter == ',' else 'tabs'}.",
            "Save the file with commas, or name it .tsv if it is split by tabs.",
            Place(path, 1),
        )
    return header


def _read_jsonl(path: Path, max_line_bytes: int) -> Iterator[tuple[int, Record]]:
    for number, line in enumerate(read_lines(path, max_line_bytes), 1):
        if line.isspace():
            continue
        try:
            record = json.loads(line, parse_constant=_refuse_constant)
            if "\\u" in line:
                _refuse_half_characters(record)
        except (ValueError, RecursionError) as error:
            raise BrokenRow(
                f"This is not a JSON object: {error}.", "Write one object a line.", Place(path, number)
            ) from None
        if not isinstance(record, dict):
            raise BrokenRow(
                "The line is JSON, but not an object.", 'Write {"text": …} on each line.', Place(path, number)
            )
        yield number, record


def _refuse_half_characters(record: object) -> None:
    try:
        json.dumps(record, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError("an escape such as \\ud83d stands without its second half") from None


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not a value that JSON has; write null for unknown")


def _read_parquet(path: Path, max_line_bytes: int) -> Iterator[tuple[int, Record]]:
    check_file(path)
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise ExtraMissing("train", "Reading parquet") from None
    try:
        with pq.ParquetFile(path) as file:
            number = 0
            for batch in file.iter_batches(batch_size=4096):
                names = batch.schema.names
                for values in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                    number += 1
                    yield number, dict(zip(names, values, strict=True))
    except (pa.ArrowInvalid, pa.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0]
        raise BrokenRow(f"This is not a readable parquet file: {reason}", "Write it again.", Place(path)) from None


READERS: dict[str, Callable[[Path, int], Iterator[tuple[int, Record]]]] = {
    ".csv": partial(_read_delimited, delimiter=","),
    ".tsv": partial(_read_delimited, delimiter="\t"),
    ".jsonl": _read_jsonl,
    ".ndjson": _read_jsonl,
    ".parquet": _read_parquet,
}
