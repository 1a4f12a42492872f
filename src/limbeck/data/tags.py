"""Schemes of tags, all turned into BIO: B- begins an entity, I- goes on with it, O is outside.

IOB1    I- everywhere; B- only where an entity follows another of its type at once
BIO     as above
BIOES   also E- for the last word of an entity and S- for the only one; BILOU says L- and U-
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from limbeck.data.sentences import entities_of, tags_of

TAG = re.compile(r"O|[BIESLU]-\S+")
_ENDS = {"L": "E", "U": "S"}


class BadSequence(ValueError):
    """Tags that contradict each other; `position` is the word at which they do."""

    def __init__(self, message: str, position: int) -> None:
        """Keep the place."""
        super().__init__(message)
        self.position = position


def marks_ends(tags: Iterable[str]) -> bool:
    """Say whether tags, best those of a whole file, are of a scheme that marks where entities end."""
    return any(tag[0] in "ESLU" for tag in tags)


def to_bio(tags: Sequence[str], ends_marked: bool) -> tuple[str, ...]:
    """Give a sentence's tags as BIO; where ends are marked, all must fit together."""
    if not ends_marked:
        # IOB1 and BIO are read alike: where B- is missing, O or another type before it says as much.
        return tags_of(entities_of(tags), len(tags))
    opened = ""
    found: list[str] = []
    for position, tag in enumerate(tags):
        mark, kind = _ENDS.get(tag[0], tag[0]), tag[2:]
        if opened and (mark in "OBS" or kind != opened):
            raise BadSequence(f"{tag} follows a word inside an entity of type {opened}, which has no end", position)
        if not opened and mark in "IE":
            raise BadSequence(f"{tag} stands where no entity of type {kind} is open", position)
        opened = kind if mark in "BI" else ""
        found.append("O" if mark == "O" else f"{'B' if mark in 'BS' else 'I'}-{kind}")
    if opened:
        raise BadSequence(f"the sentence ends inside an entity of type {opened}", len(tags) - 1)
    return tuple(found)
