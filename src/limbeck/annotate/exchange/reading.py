"""Lines, objects and lists of JSON as strict UTF-8, so that every error can say where."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from limbeck.errors import BrokenEncoding, BrokenRow, FileEmpty, FileMissing, LineTooLong, Place, SystemRefused

Record = dict[str, Any]

# A line, or an element of a list: other tools write every word of a text beside it.
LONGEST_LINE = 64_000_000
_CHUNK = 1 << 20
# How far from the end of what was read so far an error may only mean that the rest is missing.
_CUT = 16


def check_file(path: Path) -> None:
    """Raise unless `path` is a file that holds something."""
    if path.is_dir():
        raise FileMissing(f"{path} is a folder where a file was expected.", "Name a file inside it.", Place(path))
    if not path.exists():
        raise FileMissing(f"There is no file {path}.", "Check the path.", Place(path))
    if path.stat().st_size == 0:
        raise FileEmpty(f"{path.name} is empty.", "Export it again.", Place(path))


def read_lines(path: Path) -> Iterator[tuple[Place, str]]:
    """Stream the lines of a file, each with its place."""
    check_file(path)
    with _opened(path) as file:
        number = 0
        while raw := file.readline(LONGEST_LINE + 1):
            number += 1
            place = Place(path, number)
            if len(raw) > LONGEST_LINE:
                raise LineTooLong(
                    f"The line is longer than {LONGEST_LINE:,} bytes.", "Check that it is the file you meant.", place
                )
            if number == 1:
                raw = raw.removeprefix(codecs.BOM_UTF8)
            try:
                line = raw.decode("utf-8")
            except UnicodeDecodeError as error:
                raise _not_utf8(error, f"Byte {error.start + 1:,} of the line", place) from None
            yield place, line


def read_objects(path: Path) -> Iterator[tuple[Place, Record]]:
    """Stream the objects of a file that has one a line; it must have at least one."""
    empty = True
    for place, line in read_lines(path):
        if line.isspace():
            continue
        try:
            record = _DECODER.decode(line)
            _refuse_half_characters(record, line)
        except (ValueError, RecursionError) as error:
            raise BrokenRow(f"This is not a JSON object: {error}.", "Write one object a line.", place) from None
        empty = False
        yield place, _object(record, place)
    if empty:
        raise without_rows(path)


def without_rows(path: Path) -> FileEmpty:
    """Say that a file holds nothing."""
    return FileEmpty(f"{path.name} has no rows.", "Export it again.", Place(path))


def read_elements(path: Path) -> Iterator[tuple[Place, Record]]:
    """Stream the objects of a JSON list, which must not be empty, or give the one object of a file that is no list."""
    check_file(path)
    with _opened(path) as file:
        text = _JsonText(file, path)
        is_list = text.peek() == "["
        if is_list:
            text.take()
        if text.peek() in ("", "]"):
            raise without_rows(path)
        yield text.value()
        while is_list and text.peek() == ",":
            text.take()
            yield text.value()
        if is_list:
            if text.peek() != "]":
                raise text.broken("after an object, a comma or ] is missing")
            text.take()
        if text.peek():
            raise text.broken("something follows the end of the list")


class _JsonText:
    """The text of a file as far as it was read, and how far it was used."""

    def __init__(self, file: BinaryIO, path: Path) -> None:
        self._file = file
        self._path = path
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")()
        self._text = ""
        self._at = 0
        # The line at `_counted`, which is never past what a place was asked for.
        self._line = 1
        self._counted = 0
        self._ended = False
        self._more()

    def peek(self) -> str:
        """Give the next character that is no white space, "" at the end."""
        while True:
            while self._at < len(self._text) and self._text[self._at] in " \t\r\n":
                self._at += 1
            if self._at < len(self._text):
                return self._text[self._at]
            if self._ended:
                return ""
            self._more()

    def take(self) -> None:
        """Go past a character."""
        self._at += 1

    def value(self) -> tuple[Place, Record]:
        """Read the next object."""
        self.peek()
        while True:
            try:
                record, end = _DECODER.raw_decode(self._text, self._at)
                break
            except json.JSONDecodeError as error:
                unsure = error.pos > len(self._text) - _CUT or error.msg.startswith("Unterminated string")
                if self._ended or not unsure:
                    raise self.broken(error.msg, error.pos) from None
                if len(self._text) - self._at > LONGEST_LINE:
                    raise self.broken(f"an object has more than {LONGEST_LINE:,} characters") from None
                self._more()
            except (ValueError, RecursionError) as error:
                raise self.broken(str(error)) from None
        place = self._place(self._at)
        try:
            _refuse_half_characters(record, self._text[self._at : end])
        except ValueError as error:
            raise self.broken(str(error)) from None
        self._at = end
        return place, _object(record, place)

    def broken(self, why: str, at: int | None = None) -> BrokenRow:
        """Say what is no JSON, and where."""
        return BrokenRow(
            f"This is not JSON: {why}.", "Export the file again.", self._place(self._at if at is None else at)
        )

    def _place(self, at: int) -> Place:
        self._line += self._text.count("\n", self._counted, at)
        self._counted = at
        return Place(self._path, self._line)

    def _more(self) -> None:
        self._place(self._at)
        self._text = self._text[self._at :]
        self._at = self._counted = 0
        # As much again as there is, so that a long object is not tried once a chunk.
        raw = self._file.read(max(_CHUNK, len(self._text)))
        self._ended = not raw
        try:
            self._text += self._decoder.decode(raw, final=self._ended)
        except UnicodeDecodeError as error:
            line = self._line + self._text.count("\n") + error.object[: error.start].count(b"\n")
            byte = self._file.tell() - len(error.object) + error.start + 1
            raise _not_utf8(error, f"Byte {byte:,} of the file", Place(self._path, line)) from None


def _opened(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except OSError as error:
        raise SystemRefused(
            f"The file can't be read: {error.strerror}.", "Check who may read it.", Place(path)
        ) from None


def _object(record: object, place: Place) -> Record:
    if not isinstance(record, dict):
        raise BrokenRow("This is JSON, but not an object.", 'Write {"text": …} for each text.', place)
    return record


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not a value that JSON has; write null for unknown")


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)


def _refuse_half_characters(record: object, told: str) -> None:
    if "\\u" not in told:
        return
    try:
        json.dumps(record, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError("an escape such as \\ud83d stands without its second half") from None


def _not_utf8(error: UnicodeDecodeError, where: str, place: Place) -> BrokenEncoding:
    if error.start == 0 and error.object[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        return BrokenEncoding("The file is UTF-16.", "Save it as UTF-8.", place)
    return BrokenEncoding(
        f"{where} (0x{error.object[error.start]:02x}) is not UTF-8.",
        f"Save the file as UTF-8, e.g. iconv -f WINDOWS-1252 -t UTF-8 {place.file.name} > new.",
        place,
    )
