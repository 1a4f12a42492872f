"""Many labelled files into one label matrix: the same text is one row, and contradictions are listed."""

from __future__ import annotations

from array import array
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from limbeck.config import DataSettings, Task
from limbeck.data.dataset import Dataset
from limbeck.data.shapes import LabelledRow, labelled_files, read_rows
from limbeck.errors import BadLabel, Contradiction, FileEmpty, Place, UnknownLabel, nearest
from limbeck.text import Cleaner

Counts = NDArray[np.uint32]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Conflict:
    """One text that is labelled both yes and no for one category, with every place that says so."""

    text: str
    category: str
    yes: tuple[Place, ...]
    no: tuple[Place, ...]

    def as_dict(self) -> dict[str, object]:
        """Give plain values for JSON."""
        return {
            "text": self.text,
            "category": self.category,
            "yes": [str(place) for place in self.yes],
            "no": [str(place) for place in self.no],
        }


@dataclass(frozen=True)
class Merged:
    """A data set and what happened while it was read."""

    dataset: Dataset
    rows_read: int
    empty_texts: tuple[Place, ...]
    conflicts: tuple[Conflict, ...]
    passed_over: tuple[tuple[Path, tuple[str, ...]], ...] = ()


@dataclass
class _Cells:
    """Every statement 'this row is yes/no for this category' of all files, with its line, as flat columns."""

    row: array[int] = field(default_factory=lambda: array("i"))
    column: array[int] = field(default_factory=lambda: array("i"))
    value: array[int] = field(default_factory=lambda: array("b"))
    file: array[int] = field(default_factory=lambda: array("i"))
    line: array[int] = field(default_factory=lambda: array("i"))
    weight: array[float] = field(default_factory=lambda: array("f"))

    def add(self, row: int, column: int, value: int, file: int, line: int, weight: float) -> None:
        self.row.append(row)
        self.column.append(column)
        self.value.append(value)
        self.file.append(file)
        self.line.append(line)
        self.weight.append(weight)


@dataclass
class _Reading:
    """The state of reading: rows in order of appearance, and what was said of them."""

    keep_repeats: bool
    texts: list[str] = field(default_factory=list)
    row_of: dict[str, int] = field(default_factory=dict)
    sources: dict[int, str] = field(default_factory=dict)
    origin_file: array[int] = field(default_factory=lambda: array("i"))
    origin_line: array[int] = field(default_factory=lambda: array("i"))
    names: dict[str, int] = field(default_factory=dict)
    cells: _Cells = field(default_factory=_Cells)
    # Rows that a complete list spoke of: all categories it doesn't name are a 'no'.
    complete: _Cells = field(default_factory=_Cells)
    empty: list[Place] = field(default_factory=list)
    passed_over: dict[int, set[str]] = field(default_factory=dict)
    rows_read: int = 0

    def take(self, row: LabelledRow, text: str, file: int) -> None:
        for name in row.categories:
            self.names.setdefault(name, len(self.names))
        if row.passed_over:
            self.passed_over.setdefault(file, set()).update(row.passed_over)
        alone = self.keep_repeats and row.complete
        index = len(self.texts) if alone else self.row_of.setdefault(text, len(self.texts))
        if index == len(self.texts):
            self.texts.append(text)
            self.origin_file.append(file)
            self.origin_line.append(row.line)
        if row.source:
            self.sources.setdefault(index, row.source)
        for name, value in row.known.items():
            self.cells.add(index, self.names.setdefault(name, len(self.names)), value, file, row.line, row.weight)
        if row.complete:
            self.complete.add(index, 0, 0, file, row.line, row.weight)


def read_dataset(
    paths: list[Path],
    task: Task,
    settings: DataSettings,
    cleaner: Cleaner,
    categories: tuple[str, ...] = (),
    keep_repeats: bool = False,
    over: Path | None = None,
    judges: bool = False,
) -> Merged:
    """Read labelled files of any shape and merge them into one data set.

    `categories` fixes the columns and makes any other label an error (dev and test are read with training's);
    empty means: `settings.categories`, or all that the files name, sorted. With `keep_repeats` every row of a complete
    list stays a row of its own, as an evaluation set wants it: what is said often counts often. What the file `over`
    says of a text and category holds, whatever the others say. Files that `judges` marks hold no weak labels.
    """
    fixed = categories or tuple(settings.categories)
    files = labelled_files([*paths, over] if over else paths)
    state = _Reading(keep_repeats)
    for number, path in enumerate(files):
        for row in read_rows(path, task, settings, fixed):
            state.rows_read += 1
            if judges and row.weight < 1:
                raise BadLabel(
                    "A weak label can't judge.",
                    f"Take it out of dev or test, or '{settings.weak_column}' away.",
                    Place(path, row.line),
                )
            text = cleaner(row.text)
            if text:
                state.take(row, text, number)
            else:
                state.empty.append(Place(path, row.line))
    names = fixed or tuple(sorted(state.names))
    if not categories:
        _check_all_found(names, state, files)
    if not state.texts:
        raise FileEmpty("No file holds a text.", "Check the paths under [data] in limbeck.toml.", Place(paths[0]))
    return _merge(state, files, names, settings, files.index(over) if over else None)


def _check_all_found(names: tuple[str, ...], state: _Reading, files: list[Path]) -> None:
    for name in names:
        if name not in state.names:
            raise UnknownLabel(
                f"No labelled file knows the category '{name}'.",
                f"{nearest(name, {*state.names, *(file.stem for file in files)})} Correct data.categories.",
                Place(files[0].parent),
            )


def _merge(
    state: _Reading, files: list[Path], names: tuple[str, ...], settings: DataSettings, over: int | None
) -> Merged:
    yes, no, weights = _settled(state, names, over)
    labels = np.full(yes.shape, np.nan, dtype=np.float32)
    labels[(yes > 0) & (no == 0)] = 1
    labels[(no > 0) & (yes == 0)] = 0
    texts = state.texts
    conflicts = _conflicts(state, np.argwhere((yes > 0) & (no > 0)), texts, files, names)
    if conflicts and settings.contradictions == "error":
        first = conflicts[0]
        raise Contradiction(
            f"{len(conflicts)} texts are labelled both yes and no; the first is '{first.text[:60]}', "
            f"category '{first.category}': yes at {first.yes[0]}, no at {first.no[0]}.",
            '`limbeck inspect` lists them; correct them, or set data.contradictions to "unknown" or "majority".',
            first.yes[0],
        )
    if settings.contradictions == "majority":
        labels[(yes > 0) & (no > 0) & (yes > no)] = 1
        labels[(yes > 0) & (no > 0) & (yes < no)] = 0
    dataset = Dataset(
        texts=texts,
        labels=labels,
        names=names,
        sources=[state.sources.get(i, "") for i in range(len(texts))] if state.sources else [],
        files=tuple(files),
        origin_file=_numbers(state.origin_file).astype(np.int32),
        origin_line=_numbers(state.origin_line).astype(np.int32),
        weights=weights if (weights < 1).any() else np.zeros((0, 0), np.float32),
    )
    passed_over = tuple((files[number], tuple(sorted(names))) for number, names in state.passed_over.items())
    return Merged(dataset, state.rows_read, tuple(state.empty), conflicts, passed_over)


def _numbers(values: array[int]) -> NDArray[np.int64]:
    return np.array(values, dtype=np.int64)


def _columns(state: _Reading, names: tuple[str, ...]) -> NDArray[np.intp]:
    """Map the order in which names were met to their column in `names`."""
    order = {name: column for column, name in enumerate(names)}
    return np.array([order[name] for name in state.names], dtype=np.intp)


# Who is believed before whom: weak labels, labels of files, those of the file that settles.
WEAK, STRONG, LAST = range(3)


def _settled(state: _Reading, names: tuple[str, ...], over: int | None) -> tuple[Counts, Counts, NDArray[np.float32]]:
    """Count how often each cell is said to be yes and no by those who are believed before the others; and weights."""
    shape = (len(state.texts), len(names))
    yes, no = np.zeros(shape, np.uint32), np.zeros(shape, np.uint32)
    weights = np.ones(shape, np.float32)
    for rank in (WEAK, STRONG, LAST):
        cells, complete = (_ranks(one, over) == rank for one in (state.cells, state.complete))
        if not cells.any() and not complete.any():
            continue
        some_yes, some_no = _count(state, names, cells, complete)
        settled = (some_yes > 0) | (some_no > 0)
        yes, no = np.where(settled, some_yes, yes), np.where(settled, some_no, no)
        weights[settled] = 1.0
        if rank == WEAK:
            weights[settled] = _weights(state, names, cells, complete)[settled]
    return yes, no, weights


def _ranks(cells: _Cells, over: int | None) -> NDArray[np.int64]:
    strong = np.where(np.array(cells.weight, dtype=np.float32) < 1, WEAK, STRONG)
    return np.where(_numbers(cells.file) == over, LAST, strong) if over is not None else strong


def _weights(state: _Reading, names: tuple[str, ...], cells: Bools, complete: Bools) -> NDArray[np.float32]:
    """Give the highest weight that anything said of a cell has."""
    found = np.zeros((len(state.texts), len(names)), np.float32)
    row, weight = _numbers(state.cells.row)[cells], np.array(state.cells.weight, dtype=np.float32)[cells]
    column = _columns(state, names)[_numbers(state.cells.column)[cells]]
    np.maximum.at(found, (row, column), weight)
    of_lists = np.zeros(len(state.texts), np.float32)
    in_lists = np.array(state.complete.weight, dtype=np.float32)[complete]
    np.maximum.at(of_lists, _numbers(state.complete.row)[complete], in_lists)
    return np.maximum(found, of_lists[:, None])


def _count(state: _Reading, names: tuple[str, ...], cells: Bools, complete: Bools) -> tuple[Counts, Counts]:
    """Count how often each cell is said to be yes and no by some of what was said."""
    shape = (len(state.texts), len(names))
    yes, no = np.zeros(shape, np.uint32), np.zeros(shape, np.uint32)
    row = _numbers(state.cells.row)
    column = _columns(state, names)[_numbers(state.cells.column)]
    value = _numbers(state.cells.value)
    for said, counts in ((1, yes), (0, no)):
        mine = cells & (value == said)
        np.add.at(counts, (row[mine], column[mine]), 1)
    if complete.any():
        said_of = np.bincount(_numbers(state.complete.row)[complete], minlength=shape[0])
        positive = np.zeros(shape, np.uint32)
        mine = cells & _of_complete_rows(state)
        np.add.at(positive, (row[mine], column[mine]), 1)
        no += (said_of[:, None] - positive).astype(np.uint32)
    return yes, no


def _of_complete_rows(state: _Reading) -> NDArray[np.bool_]:
    """Mark the cells that a complete list said, by their file and line."""
    said, complete = ((_numbers(c.file) << 32) | _numbers(c.line) for c in (state.cells, state.complete))
    return np.isin(said, complete)


def _conflicts(
    state: _Reading, cells: NDArray[np.intp], texts: list[str], files: list[Path], names: tuple[str, ...]
) -> tuple[Conflict, ...]:
    """List where each contradictory cell got its yes and its no."""
    if not len(cells):
        return ()
    columns = _columns(state, names)
    wanted = {(int(row), int(column)): (list[Place](), list[Place]()) for row, column in cells}
    columns_of: dict[int, list[int]] = {}
    for row, column in wanted:
        columns_of.setdefault(row, []).append(column)
    spoken: Counter[tuple[int, int, int]] = Counter()
    statements = zip(
        state.cells.row, state.cells.column, state.cells.value, state.cells.file, state.cells.line, strict=True
    )
    for row, met, value, file, line in statements:
        column = int(columns[met])
        if column in columns_of.get(row, ()):
            wanted[row, column][1 - value].append(Place(files[file], line))
            spoken[column, file, line] += 1
    for row, file, line in zip(state.complete.row, state.complete.file, state.complete.line, strict=True):
        for column in columns_of.get(row, ()):
            if not spoken[column, file, line]:
                wanted[row, column][1].append(Place(files[file], line))
    return tuple(
        Conflict(texts[row], names[column], tuple(yes), tuple(no)) for (row, column), (yes, no) in wanted.items()
    )
