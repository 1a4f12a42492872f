"""CoNLL columns: one word and its tag a line, a blank line between sentences."""

from __future__ import annotations

import re
from pathlib import Path

from limbeck.data.lines import read_lines
from limbeck.data.sentences import Sentence
from limbeck.data.tags import TAG, BadSequence, marks_ends, to_bio
from limbeck.errors import BadLabel, BrokenRow, FileEmpty, Place, UnknownLabel, nearest

CONLL_ENDINGS = (".conll", ".bio", ".iob", ".txt")
_SEPARATOR = re.compile(r"[ \t]+")


def read_conll(path: Path, max_line_bytes: int = 1_000_000, types: tuple[str, ...] = ()) -> list[Sentence]:
    """Read a file whose first column is the word and whose last is its tag (IOB1, BIO, BIOES or BILOU); give BIO.

    Every line must have as many columns as the first. `types`, if given, are the only entity types allowed.
    """
    found: list[list[tuple[int, str, str]]] = [[]]
    width = 0
    for number, line in enumerate(read_lines(path, max_line_bytes), 1):
        columns = _SEPARATOR.split(line.strip(" \t\r\n"))
        if not columns[0] or columns[0] == "-DOCSTART-":
            found.append([])
            continue
        width = width or len(columns)
        _check_columns(columns, width, types, Place(path, number))
        found[-1].append((number, columns[0], columns[-1]))
    rows = [row for row in found if row]
    if not rows:
        raise FileEmpty(
            f"{path.name} has no sentence.", "Export it again, or take it out of limbeck.toml.", Place(path)
        )
    ends_marked = marks_ends(tag for row in rows for _, _, tag in row)
    return [_sentence(row, ends_marked, path) for row in rows]


def _sentence(row: list[tuple[int, str, str]], ends_marked: bool, path: Path) -> Sentence:
    numbers, tokens, tags = zip(*row, strict=True)
    try:
        return Sentence(tokens, to_bio(tags, ends_marked), numbers[0])
    except BadSequence as error:
        raise BadLabel(
            f"The tags contradict each other: {error}.",
            "Mend it; in BIOES an entity of several words is B-, I-, E-, one of a single word is S-.",
            Place(path, numbers[error.position]),
        ) from None


def _check_columns(columns: list[str], width: int, types: tuple[str, ...], place: Place) -> None:
    if len(columns) != width or width < 2:
        raise BrokenRow(
            f"The line has {len(columns)} column{'s' if len(columns) != 1 else ''}; {max(width, 2)} are expected.",
            "Write word and tag separated by a space, and a blank line between sentences.",
            place,
        )
    if not TAG.fullmatch(columns[-1]):
        raise BadLabel(
            f"'{columns[-1]}' is no tag.",
            "Write O, B-TYPE or I-TYPE (BIO, IOB1), with E-TYPE and S-TYPE in BIOES.",
            place,
        )
    check_type(columns[-1][2:], types, place)


def check_type(kind: str, types: tuple[str, ...], place: Place) -> None:
    """Raise if an entity's type isn't among those that training knows; without any, all are allowed."""
    if types and kind and kind not in types:
        raise UnknownLabel(
            f"The entity type '{kind}' is not among those of the training files.",
            f'{nearest(kind, types)} List all types in data.categories, or set data.unknown_labels = "ignore".',
            place,
        )
