"""The three shapes of labels, recognised by a file's columns and turned into one: text, source, known labels."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from limbeck.config import DataSettings, Task
from limbeck.data.records import READERS, Record, read_records
from limbeck.errors import (
    BadLabel,
    BrokenRow,
    ColumnMissing,
    DataError,
    FileEmpty,
    FileMissing,
    Place,
    UnknownLabel,
    nearest,
)

Shape = Literal["category", "wide", "complete", "classes"]

_VALUES = {"1": 1, "0": 0, "1.0": 1, "0.0": 0, "": None}


@dataclass(frozen=True)
class LabelledRow:
    """A text as a file gives it; `known` holds category -> 0 or 1, or with `complete` only the positives.

    `categories` are those that the row's columns speak of, even where they are blank; `passed_over` are columns that
    are neither text, source nor labels. A `weight` below 1 makes its labels weak.
    """

    line: int
    text: str
    source: str
    known: dict[str, int]
    complete: bool
    categories: tuple[str, ...]
    passed_over: tuple[str, ...]
    weight: float = 1.0


def labelled_files(paths: list[Path]) -> list[Path]:
    """Replace folders by the files inside them that a reader takes, sorted by name."""
    files: list[Path] = []
    for path in paths:
        if path.is_dir():
            inside = sorted(f for f in path.iterdir() if f.suffix.lower() in READERS and not f.name.startswith("."))
            if not inside:
                raise FileEmpty(
                    f"The folder {path} has no file of {', '.join(READERS)}.",
                    "Put one file a category in it.",
                    Place(path),
                )
            files += inside
        elif path.exists():
            files.append(path)
        else:
            raise FileMissing(f"There is no file or folder {path}.", "Check data.labels in limbeck.toml.", Place(path))
    return files


def read_rows(
    path: Path, task: Task, settings: DataSettings, known_categories: tuple[str, ...] = ()
) -> Iterator[LabelledRow]:
    """Stream a labelled file's rows, whatever its shape.

    `known_categories` restricts what labels may occur; empty means that the file may name any.
    """
    shape: Shape | None = None
    columns: list[str] = []
    seen: list[str] = []
    categories: tuple[str, ...] = ()
    passed_over: tuple[str, ...] = ()
    allowed = frozenset(known_categories)
    for line, record in read_records(path, settings.max_line_bytes):
        try:
            # Objects of a jsonl file need not have the same keys, so the shape may change on the way.
            if shape is None or list(record) != seen:
                shape, columns = _shape_of(record, task, settings, allowed)
                seen = list(record)
                passed_over = _passed_over(record, columns, settings)
                categories = (path.stem,) if shape == "category" else tuple(columns)
            if shape == "category" and settings.categories and path.stem not in settings.categories:
                return
            text, source = _text_and_source(record, settings)
            weight = _weight(record.get(settings.weak_column), settings)
            known = _known(record, shape, columns, path, settings, allowed)
            if task == "multiclass" and shape == "complete" and known is not None and len(known) != 1:
                raise BadLabel(
                    f"The row has {len(known)} classes.", 'With task = "multiclass" each row has exactly one.'
                )
        except DataError as error:
            error.place = Place(path, line, error.place.column if error.place else None)
            raise
        complete = shape in ("complete", "classes") and known is not None
        yield LabelledRow(line, text, source, known or {}, complete, categories, passed_over, weight)


def _shape_of(record: Record, task: Task, settings: DataSettings, allowed: frozenset[str]) -> tuple[Shape, list[str]]:
    check_text_column(record, settings)
    if settings.labels_column in record:
        return "complete", []
    if settings.label_column in record:
        return ("classes" if task == "multiclass" else "category"), []
    passed_over = {settings.text_column, settings.source_column, settings.weak_column, *settings.ignore_columns}
    columns = [name for name in record if name not in passed_over]
    if settings.categories:
        columns = [name for name in columns if name in settings.categories]
    if not columns:
        raise ColumnMissing(
            f"There is no column '{settings.label_column}', no '{settings.labels_column}' and no column of a category.",
            "Add one of them, or set data.label_column or data.labels_column.",
        )
    for name in columns:
        _check_name(name, allowed, settings)
    return "wide", columns


def _passed_over(record: Record, columns: list[str], settings: DataSettings) -> tuple[str, ...]:
    used = {settings.text_column, settings.source_column, settings.label_column, settings.labels_column}
    used.add(settings.weak_column)
    return tuple(
        name for name in record if name not in used and name not in columns and name not in settings.ignore_columns
    )


def check_text_column(record: Record, settings: DataSettings) -> None:
    """Raise unless the record has the text column."""
    if settings.text_column not in record:
        raise ColumnMissing(
            f"There is no column '{settings.text_column}'; the file has: {', '.join(record)}.",
            "Rename the column, or set data.text_column.",
        )


def _text_and_source(record: Record, settings: DataSettings) -> tuple[str, str]:
    check_text_column(record, settings)
    text = record.get(settings.text_column)
    if text is None:
        text = ""
    if not isinstance(text, str):
        raise BrokenRow(
            f"The text is {_show(text)}, not a string.",
            "Write it as a string.",
            Place(Path(), column=settings.text_column),
        )
    source = record.get(settings.source_column)
    return text, "" if source is None else str(source)


def _known(
    record: Record, shape: Shape, columns: list[str], path: Path, settings: DataSettings, allowed: frozenset[str]
) -> dict[str, int] | None:
    """Give what a row says; None for a complete list that is not there, which says nothing at all."""
    if shape == "complete":
        names = _label_list(record.get(settings.labels_column), settings)
        return None if names is None else {name: 1 for name in names if _check_name(name, allowed, settings)}
    if shape == "classes":
        value = record.get(settings.label_column)
        name = "" if value is None else str(value).strip()
        if not name:
            raise BadLabel(
                "The class is blank.",
                "Every row of a multiclass file needs one.",
                Place(path, column=settings.label_column),
            )
        return {name: 1} if _check_name(name, allowed, settings) else {}
    known: dict[str, int] = {}
    for column, name in [(settings.label_column, path.stem)] if shape == "category" else [(c, c) for c in columns]:
        value = _binary(record.get(column), path, column)
        if value is not None and _check_name(name, allowed, settings):
            known[name] = value
    return known


def _label_list(value: Any, settings: DataSettings) -> list[str] | None:  # noqa: ANN401 - raw value of any file format
    if value is None:
        return None
    if isinstance(value, str):
        return [name.strip() for name in value.split("|") if name.strip()]
    if isinstance(value, (list, tuple)) and all(isinstance(name, str) and name.strip() for name in value):
        return [name.strip() for name in value]
    raise BadLabel(
        f"'{settings.labels_column}' is {_show(value)}, not a list of names.",
        'Write e.g. ["a", "b"], in csv a|b; an empty list for none, null for unknown.',
        Place(Path(), column=settings.labels_column),
    )


def _binary(value: Any, path: Path, column: str) -> int | None:  # noqa: ANN401 - raw value of any file format
    if value is None or value is True or value is False:
        return None if value is None else int(value)
    if isinstance(value, float) and math.isnan(value) and path.suffix.lower() == ".parquet":
        return None
    if isinstance(value, (int, float)) and value in (0, 1):
        return int(value)
    if isinstance(value, str) and value.strip() in _VALUES:
        return _VALUES[value.strip()]
    raise BadLabel(
        f"The label {_show(value)} is neither 1, 0 nor blank.",
        "Correct it; if the column is no category, add it to data.ignore_columns.",
        Place(path, column=column),
    )


def _weight(value: Any, settings: DataSettings) -> float:  # noqa: ANN401 - raw value of any file format
    if value is None or value == "":
        return 1.0
    try:
        weight = float(value) if not isinstance(value, bool) else math.nan
    except (TypeError, ValueError):
        weight = math.nan
    if not 0 < weight <= 1:
        raise BadLabel(
            f"The weight of the row is {_show(value)}.",
            "Give a number above 0 and up to 1; if the column is no weight, set data.weak_column to another name.",
            Place(Path(), column=settings.weak_column),
        )
    return weight


def _check_name(name: str, allowed: frozenset[str], settings: DataSettings) -> bool:
    """Say whether to use this label; raise if it is unknown and that matters."""
    if not allowed or name in allowed:
        return True
    if settings.unknown_labels == "ignore":
        return False
    raise UnknownLabel(
        f"The label '{name}' is not among the categories.",
        f'{nearest(name, allowed)} Set data.unknown_labels = "ignore" to pass such labels over.',
    )


def _show(value: Any) -> str:  # noqa: ANN401 - raw value of any file format
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"
