"""The pool on disk as unique texts in buckets: each fits into memory, and a text's bucket follows from the text."""

from __future__ import annotations

import hashlib
import json
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from limbeck.scorer import Floats

FILE_NAME = "pool.json"
JUDGES = "judges.parquet"
NEAR = "near.parquet"

Ints = NDArray[np.int64]

# Columns beside those of the labels.
_OTHERS = ("row", "count", "text", "source")
# The next number up is 1, whose logit is endless: a guess must not become a certainty by being stored.
_BELOW_ONE = np.nextafter(np.float16(1), np.float16(0))


@dataclass(frozen=True)
class Bucket:
    """One file of unique texts, ordered by the row in which each came first; a column is read when it is asked for."""

    file: Path

    @cached_property
    def row(self) -> Ints:
        """The first row of the pool that holds the text."""
        return np.asarray(self._column("row").to_numpy(), dtype=np.int64)

    @cached_property
    def rows(self) -> tuple[Ints, Ints]:
        """All rows of the pool that hold a text, text after text, and where each text's rows start and the last end."""
        lists = self._column("rows").combine_chunks()
        starts = np.concatenate([[0], np.cumsum(pc.list_value_length(lists).to_numpy())])
        return lists.flatten().to_numpy(), starts.astype(np.int64)

    @property
    def counts(self) -> Ints:
        """How many rows of the pool hold the text."""
        return np.diff(self.rows[1])

    @cached_property
    def texts(self) -> list[str]:
        """The cleaned texts."""
        return list(self._column("text").to_pylist())

    @cached_property
    def sources(self) -> list[str]:
        """Where the first row of each text came from."""
        return list(self._column("source").to_pylist())

    @cached_property
    def train_row(self) -> NDArray[np.int32]:
        """The training row with the same normalised text, or -1."""
        return np.asarray(self._column("train_row").to_numpy(), dtype=np.int32)

    def _column(self, name: str) -> pa.ChunkedArray:
        return pq.read_table(self.file, columns=[name]).column(name)


@dataclass(slots=True)
class Occurrences:
    """Where a text was met: all its rows, rising; the first one's source; the training row that it equals, or -1."""

    rows: array[int]
    source: str
    train_row: int


def write_bucket(file: Path, found: Mapping[str, Occurrences]) -> str:
    """Write unique texts; give a hash of them and of their first rows.

    The hash is blind to which texts are labelled: labelling some more leaves what is known of the others good.
    """
    order = sorted(found, key=lambda text: found[text].rows[0])
    texts = [found[text] for text in order]
    starts = np.concatenate([[0], np.cumsum([len(text.rows) for text in texts])]).astype(np.int32)
    every = np.fromiter((row for text in texts for row in text.rows), dtype=np.int64, count=int(starts[-1]))
    columns = {
        "row": pa.array([text.rows[0] for text in texts], pa.int64()),
        "rows": pa.ListArray.from_arrays(pa.array(starts), pa.array(every)),
        "text": pa.array(order, pa.string()),
        "source": pa.array([text.source for text in texts], pa.string()),
        "train_row": pa.array([text.train_row for text in texts], pa.int32()),
    }
    pq.write_table(pa.table(columns), file)
    digest = hashlib.blake2b(digest_size=10)
    for text in order:
        encoded = text.encode()
        digest.update(b"%d %d " % (found[text].rows[0], len(encoded)) + encoded)
    return digest.hexdigest()


@dataclass(frozen=True)
class BucketCounts:
    """A bucket's hash, how many texts it holds, and how many of them are labelled."""

    content: str
    texts: int
    labelled: int


@dataclass(frozen=True)
class Gathered:
    """The pool in numbers: rows read, of which some were empty, some stand in dev or test, some repeat a text.

    `near` counts different texts that were thinned as near copies; `texts` is what is left.
    """

    rows_read: int
    texts: int
    repeated: int
    judges: int
    labelled: int
    empty: int
    near: int
    buckets: tuple[BucketCounts, ...]

    @property
    def figures(self) -> dict[str, float]:
        """The figures of the step."""
        told = {name: value for name, value in asdict(self).items() if name != "buckets"}
        return told | {"saved": self.near / max(1, self.texts + self.near)}

    def save(self, folder: Path) -> None:
        """Write them beside the buckets."""
        (folder / FILE_NAME).write_text(json.dumps(asdict(self), indent=1), encoding="utf-8")

    @staticmethod
    def load(folder: Path) -> Gathered:
        """Read what `save` wrote."""
        told = json.loads((folder / FILE_NAME).read_text(encoding="utf-8"))
        buckets = tuple(BucketCounts(**counts) for counts in told.pop("buckets"))
        return Gathered(**told, buckets=buckets)


def bucket_name(number: int) -> str:
    """Name a bucket; its file and the folder of its scores are called so."""
    return f"bucket-{number:04}"


def bucket_file(folder: Path, number: int) -> Path:
    """Say where a bucket of the pool stands."""
    return folder / f"{bucket_name(number)}.parquet"


def label_column(label: str) -> str:
    """Name a label's column: as the label, unless another column is called so."""
    return f"label:{label}" if label in _OTHERS else label


def label_columns(labels: Sequence[str], proba: Floats) -> dict[str, pa.Array]:
    """Give probabilities [texts, labels] as a float16 column a label; NaN stays NaN."""
    halves = np.minimum(proba.astype(np.float16), _BELOW_ONE)
    return {label_column(label): pa.array(halves[:, column]) for column, label in enumerate(labels)}


def label_schema(labels: Sequence[str]) -> list[tuple[str, pa.DataType]]:
    """Give names and types of such columns."""
    return [(label_column(label), pa.float16()) for label in labels]


def read_labels(file: Path, labels: Sequence[str]) -> tuple[Ints, Floats]:
    """Read such columns of a table that also has `row`: the rows, and float32 [texts, labels]."""
    table = pq.read_table(file, columns=["row", *(label_column(label) for label in labels)])
    found = np.empty((table.num_rows, len(labels)), dtype=np.float32)
    for column, label in enumerate(labels):
        found[:, column] = table.column(label_column(label)).to_numpy()
    return table.column("row").to_numpy(), found
