"""A project for texts and labels in memory: dev is split off, files and settings are written."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from limbeck.config import FILE_NAME, Project, parse_config, toml_value
from limbeck.data.splits import assign_folds, without_texts_of
from limbeck.distill.cross import crossed
from limbeck.errors import BadInput, BadSetting
from limbeck.estimator.given import Labels
from limbeck.store import key_of, write_atomically
from limbeck.text import normalise

FOLDS = 5
# Each half of dev needs a text.
LEAST_DEV = 2
# Without a pool, so many texts are made up for each training text.
MADE_UP = 3
# What `fit` is told otherwise.
OWN = frozenset({"labels", "pool", "dev", "test", "categories", "text_column", "label_column", "labels_column"})
OWN_COLUMNS = ("text_column", "label_column", "labels_column", "source_column", "weak_column")


@dataclass(frozen=True)
class Rows:
    """What is learnt and what judges: numbers of rows."""

    train: NDArray[np.intp]
    dev: NDArray[np.intp]


def split_off_dev(texts: Sequence[str], labels: Labels, share: float, seed: int) -> Rows:
    """Split labelled rows, stratified over all labels; texts that are the same stay together.

    What would be the only yes to a label is learnt.
    """
    rows = np.flatnonzero(labels.known & np.array([bool(text.strip()) for text in texts], dtype=np.bool_))
    labelled = [texts[row] for row in rows.tolist()]
    keys = [normalise(text) for text in labelled]
    parts = round(1 / share)
    least = LEAST_DEV * max(parts, 2)
    if len(set(keys)) < least:
        count = len(set(keys))
        raise BadInput(
            f"There {'is 1 sample' if count == 1 else f'are {count} samples'} with a text of its own and a label; with "
            f"dev_share={share} it takes {least}.",
            "Label more texts.",
        )
    cells = labels.cells[rows]
    side = assign_folds(labelled, cells, parts, seed)
    dev = side == 0
    for more in range(1, parts):
        if len({key for key, judges in zip(keys, dev, strict=True) if judges}) >= LEAST_DEV:
            break
        dev |= side == more
    for column in cells.T:
        if (column == 1).any() and not (column[~dev] == 1).any():
            only = {key for key, yes in zip(keys, column == 1, strict=True) if yes}
            dev &= np.array([key not in only for key in keys], dtype=np.bool_)
    if len({key for key, judges in zip(keys, dev, strict=True) if judges}) < LEAST_DEV:
        raise BadInput("Too few samples of each class: none is left to judge by.", "Label more texts of each.")
    return Rows(rows[~dev], rows[dev])


def write_project(
    root: Path,
    texts: Sequence[str],
    labels: Labels,
    unlabelled: Sequence[str],
    rows: Rows,
    values: Mapping[str, Mapping[str, Any]],
    seed: int,
) -> Project:
    """Write the files of a project into a folder of `root` that only the same rows share, and its settings.

    So a fit is never told what another one learnt, but goes on with what was done for the same rows. Without unlabelled
    texts the pool is made up of pieces of the training texts.
    """
    names = labels.names
    learnt = [texts[row] for row in rows.train]
    taken = [*learnt, *(texts[row] for row in rows.dev)]
    real = any(text.strip() and new for text, new in zip(unlabelled, without_texts_of(unlabelled, taken), strict=True))
    pool = unlabelled if real else crossed(learnt, MADE_UP * len(learnt), seed)
    columns = {name: _free(name.removesuffix("_column"), names) for name in OWN_COLUMNS}
    task = "multiclass" if labels.form == "classes" else "multilabel"
    kept = {
        "train.jsonl": [_record(texts[row], labels, int(row), columns) for row in rows.train],
        "dev.jsonl": [_record(texts[row], labels, int(row), columns) for row in rows.dev],
        "pool.jsonl": [{columns["text_column"]: text} for text in pool],
    }
    lines = {file: [json.dumps(record) + "\n" for record in records] for file, records in kept.items()}
    folder = root / key_of([task, names, lines])[:16]
    longest = max(len(line) for some in lines.values() for line in some)
    data = {
        "labels": ["train.jsonl"],
        "dev": "dev.jsonl",
        "test": "",
        "pool": ["pool.jsonl"],
        "categories": names,
        "max_line_bytes": max(1_000_000, 2 * longest),
        **columns,
    }
    folds = max(2, min(FOLDS, len({normalise(text) for text in learnt})))
    whole: dict[str, Any] = {name: dict(section) for name, section in values.items()}
    whole["data"] = {**data, **whole.get("data", {})}
    whole["split"] = {"folds": folds, **whole.get("split", {})}
    if not real:
        whole["distill"] = {"enough": 0, **whole.get("distill", {})}
    config = parse_config({"task": task, "seed": seed, **whole}, Path("settings"))
    for file, some in lines.items():
        if not (folder / file).is_file():
            write_atomically(folder / file, "".join(some))
    write_atomically(folder / FILE_NAME, _toml(task, seed, whole))
    return Project(folder, config)


def merged(settings: Mapping[str, Any] | None, ours: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Put overrides, by 'section.key', over the settings that parameters make."""
    values = {name: dict(section) for name, section in ours.items()}
    for name, value in (settings or {}).items():
        section, dot, key = str(name).partition(".")
        if not dot or not key or "." in key:
            raise BadSetting(f"'{name}' is no setting.", "Name it section.key, e.g. 'distill.epochs'.")
        if section == "data" and key in OWN:
            raise BadSetting(f"'{name}' can't be set here: fit writes these files itself.", "Leave it out.")
        values.setdefault(section, {})[key] = value
    return values


def _record(text: str, labels: Labels, row: int, columns: Mapping[str, str]) -> dict[str, Any]:
    if labels.form == "classes":
        name = labels.names[int(np.argmax(labels.cells[row]))]
        return {columns["text_column"]: text, columns["label_column"]: name}
    told = {name: None if np.isnan(v) else int(v) for name, v in zip(labels.names, labels.cells[row], strict=True)}
    return {columns["text_column"]: text, **told}


def _free(name: str, taken: Sequence[str]) -> str:
    """Give a column a name that no label has."""
    while name in taken:
        name += "_"
    return name


def _toml(task: str, seed: int, values: Mapping[str, Mapping[str, Any]]) -> str:
    lines = ["# Written by LimbeckClassifier.", f"task = {toml_value(task)}", f"seed = {seed}"]
    for section, told in values.items():
        lines += ["", f"[{section}]", *(f"{key} = {toml_value(value)}" for key, value in told.items())]
    return "\n".join(lines) + "\n"
