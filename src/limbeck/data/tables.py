"""Data sets as parquet files: a column a category, null for unknown; any tool can open them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from limbeck.data.dataset import Dataset
from limbeck.errors import ExtraMissing


def save_dataset(dataset: Dataset, path: Path) -> None:
    """Write a data set; row order is kept."""
    pa, pq = _arrow()
    columns = {"text": pa.array(dataset.texts, pa.string())}
    if dataset.sources:
        columns["source"] = pa.array(dataset.sources, pa.string())
    if len(dataset.origin_file):
        columns["file"] = pa.array([str(dataset.files[i]) for i in dataset.origin_file], pa.string())
        columns["line"] = pa.array(dataset.origin_line, pa.int32())
    # The prefix keeps a category called 'text' or 'file' apart from those columns.
    for index, name in enumerate(dataset.names):
        values = dataset.labels[:, index]
        columns[f"label:{name}"] = pa.array(values, pa.float32(), mask=np.isnan(values))
        if len(dataset.weights):
            columns[f"weight:{name}"] = pa.array(dataset.weights[:, index], pa.float32())
    pq.write_table(pa.table(columns), path)


def load_dataset(path: Path) -> Dataset:
    """Read what `save_dataset` wrote."""
    _, pq = _arrow()
    table = pq.read_table(path)
    names = tuple(name.removeprefix("label:") for name in table.column_names if name.startswith("label:"))
    labels = np.empty((table.num_rows, len(names)), dtype=np.float32)
    for index, name in enumerate(names):
        labels[:, index] = table.column(f"label:{name}").to_numpy()
    weights = np.zeros((0, 0), np.float32)
    if names and f"weight:{names[0]}" in table.column_names:
        weights = np.column_stack([table.column(f"weight:{name}").to_numpy() for name in names]).astype(np.float32)
    files: dict[str, int] = {}
    origin_file = np.zeros(0, np.int32)
    origin_line = np.zeros(0, np.int32)
    if "file" in table.column_names:
        origin = table.column("file").to_pylist()
        origin_file = np.array([files.setdefault(name, len(files)) for name in origin], dtype=np.int32)
        origin_line = table.column("line").to_numpy().astype(np.int32)
    return Dataset(
        texts=table.column("text").to_pylist(),
        labels=labels,
        names=names,
        sources=table.column("source").to_pylist() if "source" in table.column_names else [],
        files=tuple(Path(name) for name in files),
        origin_file=origin_file,
        origin_line=origin_line,
        weights=weights,
    )


def _arrow() -> tuple[Any, Any]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise ExtraMissing("train", "Storing tables") from None
    return pa, pq
