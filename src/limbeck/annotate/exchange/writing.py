"""Files that are there whole or not at all, and what is told of what they can't say."""

from __future__ import annotations

import contextlib
import json
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

from limbeck.errors import BrokenEncoding, BrokenRow, Place, SystemRefused

_EXAMPLES = 20


@dataclass
class Written:
    """What became of labels on their way into a file.

    `noted` counts by its reason what the file doesn't say as it was given; `examples` are the first of them in words.
    """

    rows: int = 0
    noted: Counter[str] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)

    def note(self, reason: str, text: str, what: str = "") -> None:
        """Count something, with the text that it is about."""
        self.noted[reason] += 1
        if len(self.examples) < _EXAMPLES:
            begins = text if len(text) <= 60 else text[:59] + "…"
            self.examples.append(f"{reason}: {what}{' in ' if what else ''}'{begins}'")


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[TextIO]:
    """Give a file to write to, which takes its place under `path` only if all went well."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with part.open("w", encoding="utf-8", newline="") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except UnicodeEncodeError as error:
        raise BrokenEncoding(
            f"A text holds half a character, U+{ord(error.object[error.start]):04X}, which no file of UTF-8 can hold.",
            "Take it out of the text.",
            Place(path),
        ) from None
    except OSError as error:
        raise SystemRefused(
            f"The file can't be written: {error.strerror}.", "Check the path and the free space.", Place(path)
        ) from None
    finally:
        with contextlib.suppress(OSError):
            part.unlink()


def as_json(value: Any, text: str) -> str:  # noqa: ANN401 - whatever JSON holds
    """Give a value on one line; `text` is named if it holds what JSON has not."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (ValueError, TypeError, RecursionError) as error:
        raise BrokenRow(
            f"What is known of the text '{text[:40]}' can't be written as JSON: {error}.",
            "Keep to texts, lists, finite numbers and names.",
        ) from None
