"""CoNLL columns: one word and its tag a line, a blank line between sentences.

The words of a text that is written are those of `limbeck.text.words`; an entity that begins or ends within a word is
widened to the whole word, which is noted. The text that is read is the words joined by single spaces.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from limbeck.annotate.exchange.agreed import agreed_texts, word_spans
from limbeck.annotate.exchange.checks import checked_name, checked_text
from limbeck.annotate.exchange.labelled import LabelledText, Task
from limbeck.annotate.exchange.reading import read_lines
from limbeck.annotate.exchange.writing import Written
from limbeck.errors import BadLabel, BadSetting, BrokenRow, FileEmpty, Place
from limbeck.scorer import Span
from limbeck.text.words import words

ENDINGS = (".conll", ".bio", ".iob", ".txt")
WIDENED = "entities widened to whole words"
_SEPARATOR = re.compile(r"[ \t]+")
_TAG = re.compile(r"O|[BIESLU]-\S+")
# BILOU as BIOES.
_ENDS = {"L": "E", "U": "S"}
_Row = tuple[Place, str, str]


def read(path: Path, categories: Sequence[str]) -> Iterator[LabelledText]:
    """Stream a file's sentences: the first column is the word, the last its tag (IOB1, BIO, BIOES or BILOU)."""
    ends_marked = any(tag[0] in "ESLU" for sentence in _sentences(path) for _, _, tag in sentence)
    empty = True
    for sentence in _sentences(path):
        empty = False
        yield _labelled(sentence, ends_marked, categories)
    if empty:
        raise FileEmpty(f"{path.name} has no sentence.", "Export it again.", Place(path))


def rows(labels: Iterable[LabelledText], task: Task, categories: Sequence[str], written: Written) -> Iterator[str]:
    """Give each text as a sentence, once, with the entities that the majority of its annotators sees."""
    if task != "ner":
        raise BadSetting(f"CoNLL holds entities, which a {task} project has not.", "Export in another format.")
    for agreed in agreed_texts(labels, task, categories, written):
        offsets = words(agreed.text)
        tags = ["O"] * len(offsets)
        found = word_spans(agreed.spans, offsets) or []
        for span, (first, last, kind) in zip(agreed.spans, found, strict=True):
            name = "_".join(kind.split())
            tags[first:last] = [f"B-{name}", *[f"I-{name}"] * (last - first - 1)]
            if (offsets[first][0], offsets[last - 1][1]) != (span.start, span.end):
                written.note(WIDENED, agreed.text, f"'{agreed.text[span.start : span.end]}'")
        written.rows += 1
        lines = (f"{agreed.text[start:end]} {tag}\n" for (start, end), tag in zip(offsets, tags, strict=True))
        yield "".join(lines) + "\n"


def _sentences(path: Path) -> Iterator[list[_Row]]:
    sentence: list[_Row] = []
    width = 0
    for place, line in read_lines(path):
        columns = _SEPARATOR.split(line.strip(" \t\r\n"))
        if not columns[0] or columns[0] == "-DOCSTART-":
            if sentence:
                yield sentence
            sentence = []
            continue
        width = width or len(columns)
        _check(columns, width, place)
        sentence.append((place, columns[0], columns[-1]))
    if sentence:
        yield sentence


def _check(columns: Sequence[str], width: int, place: Place) -> None:
    if len(columns) != width or width < 2:
        raise BrokenRow(
            f"The line has {len(columns)} column{'s' if len(columns) != 1 else ''}; {max(width, 2)} are expected.",
            "Write word and tag separated by a space, and a blank line between sentences.",
            place,
        )
    if not _TAG.fullmatch(columns[-1]):
        raise BadLabel(
            f"'{columns[-1]:.60}' is no tag.",
            "Write O, B-TYPE or I-TYPE (BIO, IOB1), with E-TYPE and S-TYPE in BIOES.",
            place,
        )


def _labelled(sentence: Sequence[_Row], ends_marked: bool, categories: Sequence[str]) -> LabelledText:
    spans: list[Span] = []
    at, opened = 0, ""
    for place, token, tag in sentence:
        mark, kind = _ENDS.get(tag[0], tag[0]), tag[2:]
        goes_on = bool(opened) and mark in "IE" and kind == opened
        if ends_marked and (goes_on, mark in "IE") != (bool(opened), bool(opened)):
            raise _contradiction(f"{tag} stands after {f'an open {opened}' if opened else 'no open entity'}", place)
        if kind:
            checked_name(kind, categories, place)
            start = spans.pop().start if goes_on else at
            spans.append(Span(start, at + len(token), kind))
        opened = kind if not ends_marked or mark in "BI" else ""
        at += len(token) + 1
    if ends_marked and opened:
        raise _contradiction(f"the sentence ends inside an entity of type {opened}", sentence[-1][0])
    text = " ".join(token for _, token, _ in sentence)
    return LabelledText(text=checked_text(text, sentence[0][0]), spans=tuple(spans))


def _contradiction(why: str, place: Place) -> BadLabel:
    return BadLabel(
        f"The tags contradict each other: {why}.",
        "Mend it; in BIOES an entity of several words is B-, I-, E-, one of a single word is S-.",
        place,
    )
