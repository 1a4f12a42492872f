"""One labelled file divided into three, for those who have a single export: what to learn from, dev and test.

The columns are recognised if nobody names them, the rows are spread over the parts with every category at its rate, and
the same text never stands in two of them.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from limbeck.config import DataSettings, Task
from limbeck.data.conll import CONLL_ENDINGS, read_conll
from limbeck.data.records import Record, read_records
from limbeck.data.sentences import Sentence, count_types
from limbeck.data.shapes import Shape, read_rows
from limbeck.data.spans import read_spans
from limbeck.data.splits import assign_folds
from limbeck.errors import BadSetting, ColumnMissing, FileMissing, Place, nearest

PARTS = ("train", "dev", "test")
# Shares are whole multiples of a twentieth.
FOLDS = 20
# Fewer positives than these in dev make a category's figures rough.
ROUGH = 10

_TEXT_NAMES = (
    "text",
    "comment",
    "message",
    "body",
    "content",
    "review",
    "tweet",
    "feedback",
    "description",
    "verbatim",
)
_LABEL_NAMES = (
    "labels",
    "label",
    "categories",
    "category",
    "topics",
    "topic",
    "tags",
    "tag",
    "classes",
    "class",
    "intent",
)
_LOOKED_AT = 2_000  # rows by which columns are recognised
_BINARY = frozenset({"0", "1", "0.0", "1.0", "True", "False", "", "None", "nan"})


@dataclass(frozen=True)
class Columns:
    """What a file's columns mean; `labels` is '' for a wide file, which has a column for each of `categories`."""

    shape: Shape
    text: str
    labels: str = ""
    categories: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()

    def settings(self) -> dict[str, Any]:
        """Give what [data] of limbeck.toml says of them."""
        of_labels = {"complete": "labels_column", "classes": "label_column", "category": "label_column"}
        found: dict[str, Any] = {"text_column": self.text}
        if self.labels:
            found[of_labels[self.shape]] = self.labels
        if self.ignored:
            found["ignore_columns"] = list(self.ignored)
        for setting, usual in (("label_column", "label"), ("labels_column", "labels")):
            if self.shape == "wide" and usual in self.categories:
                found[setting] = ""  # it is a category like the others
        return found


@dataclass(frozen=True)
class Division:
    """The parts of a file: their contents by name of file, how many rows each has, and the settings that read them.

    `positives` counts each category's rows in dev.
    """

    files: dict[str, str]
    rows: dict[str, int]
    settings: dict[str, Any]
    positives: dict[str, int]


def recognise(records: Sequence[Record], task: Task, text: str = "", labels: str = "") -> Columns:
    """Tell what the columns of some rows mean; those that are named here are taken at their word."""
    names = list(dict.fromkeys(name for record in records for name in record))
    for wished, option in ((text, "--text-column"), (labels, "--labels-column")):
        if wished and wished not in names:
            raise ColumnMissing(
                f"There is no column '{wished}'.", f"{nearest(wished, names)} Give {option} one of the file's columns."
            )
    known = DataSettings()
    text = text or _text_column(records, names, labels)
    others = [name for name in names if name not in (text, known.source_column, known.weak_column)]
    binary = [name for name in names if _is_binary(records, name)] if task == "multilabel" else []
    if not labels:
        named = [name for wanted in _LABEL_NAMES for name in others if name.lower() == wanted]
        few = [name for name in others if _is_list_of_few(records, name)]
        texts_of_labels = [name for name in named if name not in binary]
        wide = [name for name in others if name in binary]
        if len(wide) > 1 and not texts_of_labels:
            return Columns("wide", text, "", tuple(wide), tuple(name for name in others if name not in wide))
        labels = next(iter(texts_of_labels or wide or named or (few if len(few) == 1 else [])), "")
    if labels:
        shape: Shape = "classes" if task == "multiclass" else "category" if labels in binary else "complete"
        return Columns(shape, text, labels)
    raise ColumnMissing(
        f"No column is surely that of the labels; the file has: {', '.join(names)}.",
        "Name it by --labels-column, or give each category a column of 1, 0 or blank.",
    )


def divide(
    path: Path,
    task: Task,
    text: str = "",
    labels: str = "",
    shares: tuple[float, float] = (0.25, 0.25),
    seed: int = 0,
) -> Division:
    """Divide a file into train, dev and test; `shares` are those of the last two."""
    if not path.is_file():
        raise FileMissing(f"There is no file {path}.", "Give --labelled a file of labelled texts.", Place(path))
    folds = _folds_of(shares)
    if task == "ner":
        return _divide_sentences(path, folds, seed)
    return _divide_rows(path, task, text, labels, folds, seed)


def _divide_rows(path: Path, task: Task, text: str, labels: str, folds: tuple[int, int], seed: int) -> Division:
    records = [record for _, record in read_records(path)]
    try:
        columns = recognise(records[:_LOOKED_AT], task, text, labels)
    except ColumnMissing as error:
        error.place = error.place or Place(path)
        raise
    settings = columns.settings()
    rows = list(read_rows(path, task, DataSettings(**settings)))
    names = list(dict.fromkeys(name for row in rows for name in (*row.known, *row.categories)))
    matrix = np.full((len(rows), len(names)), np.nan, dtype=np.float32)
    for row, values in zip(rows, matrix, strict=True):
        if row.complete:
            values[:] = 0
        for name, value in row.known.items():
            values[names.index(name)] = value
    parts = _parts([row.text for row in rows], matrix, folds, seed, [row.source for row in rows])
    if columns.shape == "category":
        # The file's name was the category; its parts have other names, so the column takes it.
        records = [{(path.stem if k == columns.labels else k): v for k, v in record.items()} for record in records]
        del settings["label_column"]
    write, ending = _WRITERS.get(path.suffix.lower(), (_as_jsonl, ".jsonl"))
    return _division(records, parts, write, ending, settings, names, matrix)


def _divide_sentences(path: Path, folds: tuple[int, int], seed: int) -> Division:
    conll = path.suffix.lower() in CONLL_ENDINGS
    sentences = read_conll(path) if conll else read_spans(path)
    kinds = sorted(count_types(sentences))
    found = [{kind for _, _, kind in sentence.entities()} for sentence in sentences]
    occurs = np.array([[kind in mine for kind in kinds] for mine in found], dtype=np.float32)
    parts = _parts([sentence.text for sentence in sentences], occurs.reshape(len(sentences), -1), folds, seed)
    if conll:
        return _division(sentences, parts, _as_conll, ".conll", {}, kinds, occurs)
    records = [record for _, record in read_records(path)]
    return _division(records, parts, _as_jsonl, ".jsonl", {}, kinds, occurs)


def _division(
    items: Sequence[Any],
    parts: NDArray[np.int8],
    write: Callable[[Sequence[Any]], str],
    ending: str,
    settings: dict[str, Any],
    names: Sequence[str],
    matrix: NDArray[np.float32],
) -> Division:
    mine = {name: [items[i] for i in np.flatnonzero(parts == number).tolist()] for number, name in enumerate(PARTS)}
    files = {f"{name}{ending}": write(rows) for name, rows in mine.items() if rows}
    places = {"labels": [f"train{ending}"], "dev": f"dev{ending}", "test": f"test{ending}" if mine["test"] else ""}
    positives = (matrix[parts == PARTS.index("dev")] == 1).sum(axis=0)
    return Division(
        files,
        {name: len(rows) for name, rows in mine.items()},
        settings | places,
        {name: int(count) for name, count in zip(names, positives, strict=True)},
    )


def _parts(
    texts: Sequence[str], labels: NDArray[np.float32], folds: tuple[int, int], seed: int, sources: Sequence[str] = ()
) -> NDArray[np.int8]:
    """Give each row the number of its part, as in `PARTS`."""
    dev, test = folds
    mine = assign_folds(texts, labels, FOLDS, seed, sources)
    return np.where(mine < dev, 1, np.where(mine < dev + test, 2, 0)).astype(np.int8)


def _folds_of(shares: tuple[float, float]) -> tuple[int, int]:
    dev, test = (round(share * FOLDS) for share in shares)
    if dev < 1 or test < 0 or dev + test >= FOLDS:
        raise BadSetting(
            f"Shares of {shares[0]:g} for dev and {shares[1]:g} for test leave nothing for one of the parts.",
            f"Give dev at least {1 / FOLDS:g}, and both together less than 1.",
        )
    return dev, test


def _text_column(records: Sequence[Record], names: Sequence[str], labels: str) -> str:
    for wanted in _TEXT_NAMES:
        for name in names:
            if name.lower() == wanted and name != labels:
                return name
    lengths = {name: np.mean([len(_shown(record.get(name))) for record in records]) for name in names if name != labels}
    ranked = sorted(lengths, key=lambda name: -lengths[name])
    if ranked and lengths[ranked[0]] >= 15 and (len(ranked) == 1 or lengths[ranked[0]] >= 2 * lengths[ranked[1]]):
        return ranked[0]
    raise ColumnMissing(
        f"No column is surely that of the texts; the file has: {', '.join(names)}.", "Name it by --text-column."
    )


def _is_binary(records: Sequence[Record], name: str) -> bool:
    values = {_shown(record.get(name)) for record in records}
    return values <= _BINARY and bool(values & {"1", "1.0", "True"})


def _is_list_of_few(records: Sequence[Record], name: str) -> bool:
    """Say whether a column holds names that come again and again, alone or joined by '|'."""
    lists = [v if isinstance(v := record.get(name), list) else _shown(v).split("|") for record in records]
    found = [_shown(one).strip() for some in lists for one in some if _shown(one).strip()]
    return bool(found) and len(set(found)) <= min(1_000, len(found) / 2) and not all(_is_number(one) for one in found)


def _is_number(value: str) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True


def _shown(value: Any) -> str:  # noqa: ANN401 - raw value of any file format
    return "" if value is None else str(value)


def _as_jsonl(records: Sequence[Record]) -> str:
    def plain(value: Any) -> Any:  # noqa: ANN401 - raw value of any file format
        return None if isinstance(value, float) and math.isnan(value) else value

    rows = ({name: plain(value) for name, value in record.items()} for record in records)
    return "".join(json.dumps(row, ensure_ascii=False, default=str) + "\n" for row in rows)


def _as_delimited(records: Sequence[Record], delimiter: str) -> str:
    file = io.StringIO()
    writer = csv.DictWriter(file, list(records[0]), delimiter=delimiter, lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return file.getvalue()


def _as_conll(sentences: Sequence[Sentence]) -> str:
    blocks = ("".join(f"{t} {tag}\n" for t, tag in zip(s.tokens, s.tags, strict=True)) for s in sentences)
    return "\n".join(blocks)


_WRITERS: dict[str, tuple[Callable[[Sequence[Record]], str], str]] = {
    ".csv": (lambda rows: _as_delimited(rows, ","), ".csv"),
    ".tsv": (lambda rows: _as_delimited(rows, "\t"), ".tsv"),
}
