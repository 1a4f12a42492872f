"""Lines of a text file as strict UTF-8, with a bound on their length, so that every error can say where."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from limbeck.errors import BrokenEncoding, FileEmpty, FileMissing, LineTooLong, Place

BOM = b"\xef\xbb\xbf"


def check_file(path: Path) -> None:
    """Raise unless `path` is a file that holds something."""
    if not path.exists():
        raise FileMissing(
            f"There is no file {path}.", "Check the path; paths in limbeck.toml are relative to it.", Place(path)
        )
    if path.is_dir():
        raise FileMissing(f"{path} is a folder where a file was expected.", "Name a file inside it.", Place(path))
    if path.stat().st_size == 0:
        raise FileEmpty(f"{path.name} is empty.", "Export it again, or take it out of limbeck.toml.", Place(path))


def read_lines(path: Path, max_bytes: int) -> Iterator[str]:
    """Yield the decoded lines of `path`, line ends included."""
    check_file(path)
    with path.open("rb") as file:
        number = 0
        while raw := file.readline(max_bytes + 1):
            number += 1
            if len(raw) > max_bytes:
                raise LineTooLong(
                    f"The line is longer than {max_bytes:,} bytes.",
                    "Look for a missing closing quote; if it really is one text, raise data.max_line_bytes.",
                    Place(path, number),
                )
            if number == 1:
                raw = _without_mark(raw, path)
            try:
                yield raw.decode("utf-8")
            except UnicodeDecodeError as error:
                raise BrokenEncoding(
                    f"Byte {error.start + 1} of the line (0x{raw[error.start]:02x}) is not UTF-8.",
                    f"Save the file as UTF-8, e.g. iconv -f WINDOWS-1252 -t UTF-8 {path.name} > new.",
                    Place(path, number),
                ) from None


def _without_mark(first: bytes, path: Path) -> bytes:
    """Drop a UTF-8 byte order mark; refuse a UTF-16 one, which would otherwise surface as a riddle."""
    if first.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise BrokenEncoding("The file is UTF-16.", "Save it as UTF-8 (in a spreadsheet: 'CSV UTF-8').", Place(path, 1))
    return first.removeprefix(BOM)
