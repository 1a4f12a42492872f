"""The unlabelled pool as a stream: any size passes through in constant memory."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from limbeck.config import DataSettings
from limbeck.data.records import read_records
from limbeck.data.shapes import check_text_column
from limbeck.errors import BrokenRow, DataError, Place
from limbeck.text import Cleaner


@dataclass(frozen=True, slots=True)
class PoolRow:
    """One unlabelled text, cleaned; `row` counts all rows of all files from 0, empty ones included."""

    row: int
    text: str
    source: str
    file: Path
    line: int


def stream_pool(
    paths: list[Path], settings: DataSettings, cleaner: Cleaner, keep_empty: bool = False
) -> Iterator[PoolRow]:
    """Yield the pool's texts one by one, passing over those that are empty after cleaning unless they are wanted."""
    row = -1
    for path in paths:
        for line, record in read_records(path, settings.max_line_bytes):
            row += 1
            try:
                check_text_column(record, settings)
                value = record[settings.text_column]
                if value is not None and not isinstance(value, str):
                    raise BrokenRow(f"The text is {value!r:.60}, not a string.", "Write it as a string.")
            except DataError as error:
                error.place = Place(path, line, settings.text_column)
                raise
            text = cleaner(value or "")
            if text or keep_empty:
                yield PoolRow(row, text, str(record.get(settings.source_column) or ""), path, line)


def sample_pool(paths: list[Path], settings: DataSettings, cleaner: Cleaner, count: int, seed: int) -> list[str]:
    """Draw `count` texts at random in one pass, in the pool's order."""
    return drawn((row.text for row in stream_pool(paths, settings, cleaner)), count, seed)


def drawn(texts: Iterable[str], count: int, seed: int) -> list[str]:
    """Draw `count` texts of a stream at random, in its order (Vitter's algorithm R)."""
    rng = random.Random(seed)
    kept: list[tuple[int, str]] = []
    for number, text in enumerate(texts):
        if number < count:
            kept.append((number, text))
        elif (place := rng.randrange(number + 1)) < count:
            kept[place] = (number, text)
    return [text for _, text in sorted(kept)]
