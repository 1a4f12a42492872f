"""CoNLL columns: one token and its tag a line, a blank line between sentences."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

from limbeck.data.lines import read_lines
from limbeck.errors import BadLabel, BrokenRow, FileEmpty, Place, UnknownLabel, nearest

CONLL_ENDINGS = (".conll", ".bio", ".iob", ".txt")
_SEPARATOR = re.compile(r"[ \t]+")
_TAG = re.compile(r"O|[BI]-\S+")


@dataclass(frozen=True)
class Sentence:
    """Tokens with BIO tags; `line` is where the sentence starts in its file."""

    tokens: tuple[str, ...]
    tags: tuple[str, ...]
    line: int

    def entities(self) -> list[tuple[int, int, str]]:
        """Give the entities as (first token, token after the last, type); a stray I- opens one, as conlleval has it."""
        found: list[tuple[int, int, str]] = []
        start, kind = 0, ""
        for position, tag in enumerate((*self.tags, "O")):
            if kind and (tag[0] in "OB" or tag[2:] != kind):
                found.append((start, position, kind))
                kind = ""
            if tag != "O" and not kind:
                start, kind = position, tag[2:]
        return found


def read_conll(path: Path, max_line_bytes: int = 1_000_000, types: tuple[str, ...] = ()) -> list[Sentence]:
    """Read a file whose first column is the token and whose last is its BIO tag.

    Every line must have as many columns as the first. `types`, if given, are the only entity types allowed.
    """
    sentences: list[Sentence] = []
    tokens: list[str] = []
    tags: list[str] = []
    width = start = 0
    for number, line in enumerate(read_lines(path, max_line_bytes), 1):
        columns = _SEPARATOR.split(line.strip(" \t\r\n"))
        if not columns[0] or columns[0] == "-DOCSTART-":
            if tokens:
                sentences.append(Sentence(tuple(tokens), tuple(tags), start))
                tokens, tags = [], []
            continue
        width = width or len(columns)
        _check_columns(columns, width, types, Place(path, number))
        if not tokens:
            start = number
        tokens.append(columns[0])
        tags.append(columns[-1])
    if tokens:
        sentences.append(Sentence(tuple(tokens), tuple(tags), start))
    if not sentences:
        raise FileEmpty(
            f"{path.name} has no sentence.", "Export it again, or take it out of limbeck.toml.", Place(path)
        )
    return sentences


def _check_columns(columns: list[str], width: int, types: tuple[str, ...], place: Place) -> None:
    if len(columns) != width or width < 2:
        raise BrokenRow(
            f"The line has {len(columns)} column{'s' if len(columns) != 1 else ''}; {max(width, 2)} are expected.",
            "Write token and tag separated by a space, and a blank line between sentences.",
            place,
        )
    if not _TAG.fullmatch(columns[-1]):
        raise BadLabel(
            f"'{columns[-1]}' is not a BIO tag.",
            "Write O, B-TYPE or I-TYPE; convert other schemes such as BIOES first.",
            place,
        )
    if types and columns[-1] != "O" and columns[-1][2:] not in types:
        raise UnknownLabel(
            f"The entity type '{columns[-1][2:]}' is not among those of the training files.",
            nearest(columns[-1][2:], types),
            place,
        )


def without_other_types(sentence: Sentence, types: tuple[str, ...]) -> Sentence:
    """Give the sentence with entities of other types turned into O."""
    return replace(sentence, tags=tuple(tag if tag == "O" or tag[2:] in types else "O" for tag in sentence.tags))


def count_types(sentences: list[Sentence]) -> Counter[str]:
    """Count the entities of each type."""
    return Counter(kind for sentence in sentences for _, _, kind in sentence.entities())
