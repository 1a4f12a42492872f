"""Reading the pool once, whatever its size: unique cleaned texts in buckets, those of dev and test apart.

Identical texts may stand anywhere in the pool and must meet, so each row goes to the bucket that a hash of its text
names: first into spill files, a little of each bucket in memory, then bucket by bucket into its final form.
"""

from __future__ import annotations

import hashlib
import json
from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from limbeck.config import DataSettings
from limbeck.data.lines import check_file
from limbeck.data.pool import PoolRow, stream_pool
from limbeck.data.prepare import Prepared
from limbeck.errors import Place, TooFewRows
from limbeck.progress import bar, progress
from limbeck.pseudo.buckets import JUDGES, BucketCounts, Gathered, Occurrences, bucket_file, write_bucket
from limbeck.pseudo.thin import thin
from limbeck.text import Cleaner, normalise

BUCKET_BYTES = 2_000_000
MOST_BUCKETS = 512
BUFFER_BYTES = 32_000_000
TOLD_EVERY = 10_000

_encode = json.JSONEncoder(ensure_ascii=False).encode


def gather(files: list[Path], settings: DataSettings, cleaner: Cleaner, prepared: Prepared, folder: Path) -> Gathered:
    """Write the pool's unique texts into buckets in `folder`, in memory that doesn't grow with the pool.

    Two texts are one if they are equal after cleaning; of near copies one is left if the settings say so. Rows whose
    normalised text is one of dev's or test's are listed in `judges.parquet` and stand in no bucket. A text that is a
    training row's after normalising names that row.
    """
    for file in files:
        check_file(file)
    size = sum(file.stat().st_size for file in files)
    spill = _Spill(folder, min(max(1, -(-size // BUCKET_BYTES)), MOST_BUCKETS))
    known = _Known.of(prepared)
    rows_read = empty = judges = 0
    judge_rows = array("q")
    with (
        pq.ParquetWriter(folder / JUDGES, pa.schema([("row", pa.int64())])) as writer,
        bar("reading the pool") as advance,
    ):
        for row in stream_pool(files, settings, cleaner, keep_empty=True):
            rows_read += 1
            if not row.text:
                empty += 1
            elif (key := normalise(row.text)) in known.judges:
                judges += 1
                judge_rows.append(row.row)
            else:
                spill.add(row, known.train_row(row.text, key))
            if rows_read % TOLD_EVERY == 0:
                _write_rows(writer, judge_rows)
                advance(TOLD_EVERY)
        _write_rows(writer, judge_rows)
    buckets = spill.finish()
    different = sum(bucket.texts for bucket in buckets)
    if settings.near_duplicates and different:
        buckets = thin(folder, buckets, settings.near_duplicates)
    texts = sum(bucket.texts for bucket in buckets)
    gathered = Gathered(
        rows_read=rows_read,
        texts=texts,
        repeated=rows_read - empty - judges - different,
        judges=judges,
        labelled=sum(bucket.labelled for bucket in buckets),
        empty=empty,
        near=different - texts,
        buckets=buckets,
    )
    if not texts:
        raise TooFewRows(
            f"The pool has no text: of its {rows_read:,} rows, {empty:,} are empty after cleaning and {judges:,} stand "
            "in dev or test.",
            "Add texts to the files under data.pool, or set data.pool = [] to do without.",
            Place(files[0]),
        )
    gathered.save(folder)
    return gathered


@dataclass(frozen=True)
class _Known:
    """Normalised texts of dev and test, and the training rows by their texts as they are and normalised."""

    judges: frozenset[str]
    exact: dict[str, int]
    normalised: dict[str, int]

    @staticmethod
    def of(prepared: Prepared) -> _Known:
        judges = [*prepared.dev.texts, *(prepared.test.texts if prepared.test else [])]
        exact: dict[str, int] = {}
        normalised: dict[str, int] = {}
        for number, text in enumerate(prepared.train.texts):
            exact.setdefault(text, number)
            normalised.setdefault(normalise(text), number)
        return _Known(frozenset(map(normalise, judges)), exact, normalised)

    def train_row(self, text: str, key: str) -> int:
        """Give the training row with this text, or with one that is the same after normalising, or -1."""
        return self.exact.get(text, self.normalised.get(key, -1))


class _Spill:
    """Rows on their way into buckets."""

    def __init__(self, folder: Path, buckets: int) -> None:
        self.folder = folder
        self.buffers = [bytearray() for _ in range(buckets)]
        self.buffered = 0

    def add(self, row: PoolRow, train_row: int) -> None:
        digest = hashlib.blake2b(row.text.encode(), digest_size=8).digest()
        line = _encode([row.row, train_row, row.source, row.text]).encode()
        buffer = self.buffers[int.from_bytes(digest, "big") % len(self.buffers)]
        buffer += line + b"\n"
        self.buffered += len(line)
        if self.buffered >= BUFFER_BYTES:
            self._flush()

    def _file(self, number: int) -> Path:
        return self.folder / f"spill-{number:04}.jsonl"

    def _flush(self) -> None:
        for number, buffer in enumerate(self.buffers):
            if buffer:
                with self._file(number).open("ab") as file:
                    file.write(buffer)
        self.buffers = [bytearray() for _ in self.buffers]
        self.buffered = 0

    def finish(self) -> tuple[BucketCounts, ...]:
        """Turn each spill file into its bucket."""
        self._flush()
        numbers = range(len(self.buffers))
        return tuple(self._finish(number) for number in progress(numbers, "sorting the pool", len(numbers)))

    def _finish(self, number: int) -> BucketCounts:
        found: dict[str, Occurrences] = {}
        file = self._file(number)
        if file.exists():
            with file.open("rb") as lines:
                _collect(lines, found)
            file.unlink()
        content = write_bucket(bucket_file(self.folder, number), found)
        return BucketCounts(content, len(found), sum(text.train_row >= 0 for text in found.values()))


def _collect(lines: Iterable[bytes], found: dict[str, Occurrences]) -> None:
    for line in lines:
        row, train_row, source, text = json.loads(line)
        if text in found:
            found[text].rows.append(row)
        else:
            found[text] = Occurrences(array("q", [row]), source, train_row)


def _write_rows(writer: pq.ParquetWriter, rows: array[int]) -> None:
    if rows:
        writer.write_table(pa.table({"row": pa.array(np.array(rows, dtype=np.int64))}))
        del rows[:]
