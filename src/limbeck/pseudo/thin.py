"""Thinning a gathered pool: of texts that are nearly the same, the first stays."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from limbeck.data.near import Copies, Signatures, near_copies
from limbeck.progress import progress
from limbeck.pseudo.buckets import NEAR, Bucket, BucketCounts, Ints, Occurrences, bucket_file, write_bucket

_SCHEMA = pa.schema([("row", pa.int64()), ("of", pa.int64()), ("likeness", pa.float32()), ("text", pa.string())])


def thin(folder: Path, buckets: Sequence[BucketCounts], limit: float) -> tuple[BucketCounts, ...]:
    """Take near copies out of the buckets in `folder` and list their rows in `near.parquet`; give the new counts.

    Texts that equal a training row stay: what people said of them is told to students anyway.
    """
    files = [bucket_file(folder, number) for number in range(len(buckets))]
    rows, stays = [], []
    with Signatures(folder / "signatures.bin") as signatures:
        for file in progress(files, "looking for near copies", len(files)):
            bucket = Bucket(file)
            signatures.add(bucket.texts)
            rows.append(bucket.row)
            stays.append(bucket.train_row >= 0)
        row = np.concatenate(rows)
        copies = near_copies(signatures, limit, np.argsort(row), np.flatnonzero(np.concatenate(stays)))
    thinned = []
    start = 0
    with pq.ParquetWriter(folder / NEAR, _SCHEMA) as writer:
        for file, counts in zip(files, buckets, strict=True):
            end = start + counts.texts
            mine = Copies(copies.of[start:end], copies.likeness[start:end])
            thinned.append(_thin_bucket(file, counts, mine, row, writer))
            start = end
    return tuple(thinned)


def near_to(folder: Path, row: int) -> tuple[int, float, str] | None:
    """Say which row this row's text is a near copy of, how alike they are, and what the text is."""
    file = folder / NEAR
    if not file.exists():
        return None
    found = pq.read_table(file, filters=pc.field("row") == row)
    if not found.num_rows:
        return None
    [told] = found.to_pylist()
    return told["of"], told["likeness"], told["text"]


def _thin_bucket(file: Path, counts: BucketCounts, copies: Copies, row: Ints, writer: pq.ParquetWriter) -> BucketCounts:
    """Write a bucket again without its near copies; `row` gives the first row of every text of the pool."""
    out = np.flatnonzero(copies.of >= 0)
    if not len(out):
        return counts
    bucket = Bucket(file)
    every, starts = bucket.rows
    sizes = bucket.counts[out]
    listed = {
        "row": np.concatenate([every[starts[place] : starts[place + 1]] for place in out]),
        "of": np.repeat(row[copies.of[out]], sizes),
        "likeness": np.repeat(copies.likeness[out], sizes),
        "text": [bucket.texts[place] for place in np.repeat(out, sizes)],
    }
    writer.write_table(pa.table(listed, schema=_SCHEMA))
    kept = {
        bucket.texts[place]: Occurrences(
            array("q", every[starts[place] : starts[place + 1]].tolist()),
            bucket.sources[place],
            int(bucket.train_row[place]),
        )
        for place in np.flatnonzero(copies.of < 0)
    }
    return replace(counts, content=write_bucket(file, kept), texts=len(kept))
