"""Labels in the files of this and of other tools, in and out.

A new format is a module with `read` and `rows`, and a line in `FORMS`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from limbeck.annotate.exchange import conll, label_studio, lossless, own, prodigy
from limbeck.annotate.exchange.labelled import LabelledText, Task
from limbeck.annotate.exchange.reading import check_file, read_objects
from limbeck.annotate.exchange.writing import Written, replacing
from limbeck.errors import BadSetting, Place, UnknownFormat, nearest

__all__ = ["FORMS", "Form", "LabelledText", "Task", "Written", "form_of", "read_labels", "write_labels"]


@dataclass(frozen=True)
class Form:
    """How a format is read, and how it is written: as pieces of text that together are the file."""

    read: Callable[[Path, Sequence[str]], Iterator[LabelledText]]
    rows: Callable[[Iterable[LabelledText], Task, Sequence[str], Written], Iterator[str]]


FORMS: dict[str, Form] = {
    "limbeck": Form(own.read, own.rows),
    "jsonl": Form(lossless.read, lossless.rows),
    "conll": Form(conll.read, conll.rows),
    "label-studio": Form(label_studio.read, label_studio.rows),
    "prodigy": Form(prodigy.read, prodigy.rows),
}


def read_labels(path: Path, form: str | None = None, *, categories: Sequence[str] = ()) -> Iterator[LabelledText]:
    """Stream what a file says; the form is told by the file's name and first row if it isn't given.

    `categories`, if given, are the only categories or types of entities that may occur.
    """
    check_file(path)
    return _form(form or form_of(path)).read(path, categories)


def write_labels(
    path: Path, form: str, labels: Iterable[LabelledText], *, task: Task, categories: Sequence[str] = ()
) -> Written:
    """Write labels to a file that is there whole or not at all, and tell how many rows it has and what they don't say.

    Without `categories`, all that occur are meant.
    """
    found = _form(form)
    written = Written()
    with replacing(path) as file:
        for piece in found.rows(labels, task, categories, written):
            file.write(piece)
    return written


def form_of(path: Path) -> str:
    """Tell the form of a file."""
    ending = path.suffix.lower()
    if ending in conll.ENDINGS:
        return "conll"
    if ending == ".json":
        return "label-studio"
    if ending in own.TABLES:
        return "limbeck"
    if ending not in (".jsonl", ".ndjson"):
        raise UnknownFormat(
            f"The name '{path.name}' doesn't tell its form.", f"Say which it is: {', '.join(FORMS)}.", Place(path)
        )
    _, record = next(read_objects(path))
    if lossless.is_one(record):
        return "jsonl"
    return "prodigy" if prodigy.is_one(record) else "limbeck"


def _form(name: str) -> Form:
    if name not in FORMS:
        raise BadSetting(f"'{name}' is no form of files of labels.", nearest(name, FORMS))
    return FORMS[name]
