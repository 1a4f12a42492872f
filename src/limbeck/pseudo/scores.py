"""Scoring the pool with any scorer: bucket by bucket, each kept when it is finished, and no label twice."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from limbeck.errors import RunError
from limbeck.progress import progress
from limbeck.pseudo.buckets import Bucket, BucketCounts, Gathered, bucket_file, bucket_name, label_columns
from limbeck.scale import Executor, ThisMachine
from limbeck.scorer import Floats, Preparable, Scorer
from limbeck.store import Store, key_of

TASK_KIND = "tasks/scores"
TASK_FILE = "scores.parquet"
FILE_NAME = "scores.json"
# A probe then holds some 20 MB of features; ordered by length, 2 to 4 % of the tokens are padding. Batches end with
# their bucket, so that its scores are the same wherever it is scored, and whatever was scored before.
SCORED_AT_ONCE = 2048

# Weighted means of float32 probabilities can pass 1 by a few units in the last place.
_SLACK = 1e-6


@runtime_checkable
class Divisible(Protocol):
    """A scorer that can be asked for some of its labels at their share of the cost."""

    def only(self, labels: Sequence[str]) -> Scorer:
        """Give a scorer of these labels, or of more."""
        ...


@dataclass(frozen=True)
class _Task:
    """A finished task: the labels it scored, by what they came from, and the bucket's rows that it left out."""

    key: str
    identity: Mapping[str, str]
    left_out: frozenset[int]


@dataclass(frozen=True)
class _Work:
    """A bucket, its rows that are labelled, finished tasks with the labels taken from each, and labels to score."""

    number: int
    content: str
    texts: int
    left_out: list[int]
    taken: dict[str, list[str]]
    missing: list[str]


def score_pool(
    pool: Path,
    folder: Path,
    scorer: Scorer,
    identity: Mapping[str, str],
    store: Store,
    made_with: Mapping[str, object],
    force: bool = False,
    executor: Executor | None = None,
) -> dict[str, float]:
    """Score the buckets in `pool`; fill `folder` with a file or more for each, and with `scores.json`.

    `identity` names what each label's probabilities come from: while its name and `made_with` stay, no bucket's label
    is scored again. Texts that are training rows are left out: a model that learnt them is too sure. `scorer` may be
    `Divisible`; any other is asked for all its labels when one of them is missing. Each bucket is a task of `executor`.
    """
    tasks = {} if force else _finished(store, made_with)
    counts = Gathered.load(pool).buckets
    plan = [_look_up(pool, number, counts[number], tasks, identity, store) for number in range(len(counts))]
    todo = sorted((work for work in plan if work.missing), key=lambda work: work.missing)
    for labels, group in groupby(todo, key=lambda work: work.missing):
        asked, works = scorer.only(labels) if isinstance(scorer, Divisible) else scorer, list(group)
        if isinstance(asked, Preparable):
            asked.prepare(_shown(pool, plan))
        keys = (executor or ThisMachine()).run(
            partial(_score, pool, asked, identity, store, made_with),
            works,
            "scoring the pool",
            [work.texts for work in works],
        )
        for work, key in zip(works, keys, strict=True):
            work.taken[key] = work.missing
    listed = [_link(work, folder, store) for work in plan]
    told = {"labels": list(scorer.labels), "buckets": listed}
    (folder / FILE_NAME).write_text(json.dumps(told, ensure_ascii=False), encoding="utf-8")
    return {"buckets": len(plan), "texts": sum(work.texts for work in plan)}


def score_texts(scorer: Scorer, labels: Sequence[str], texts: Sequence[str]) -> Floats:
    """Give probabilities [texts, labels] of some of a scorer's labels; what is no probability is an error."""
    place_of = {label: place for place, label in enumerate(scorer.labels)}
    proba = scorer.predict_proba(texts)[:, [place_of[label] for label in labels]]
    bad = np.argwhere(~((proba >= -_SLACK) & (proba <= 1 + _SLACK)))
    if len(bad):
        row, column = bad[0]
        raise RunError(
            f"The model gives {proba[row, column]} as the probability of '{labels[column]}' for '{texts[row][:60]}' "
            f"({len(bad)} such values in {len(texts)} texts).",
            "Its weights are broken: run the step that made it again with `limbeck run --force`.",
        )
    return np.clip(proba, 0, 1)


def _finished(store: Store, made_with: Mapping[str, object]) -> dict[str, list[_Task]]:
    """Give the finished tasks of every bucket, by its hash, newest first."""
    same = key_of(dict(made_with))
    found: dict[str, list[_Task]] = {}
    for key, manifest in store.newest_first(TASK_KIND):
        if key_of(manifest["made_with"]) == same:
            task = _Task(key, manifest["identity"], frozenset(manifest["left_out"]))
            found.setdefault(manifest["bucket"], []).append(task)
    return found


def _look_up(
    pool: Path,
    number: int,
    counts: BucketCounts,
    tasks: Mapping[str, list[_Task]],
    identity: Mapping[str, str],
    store: Store,
) -> _Work:
    """Find what is known of a bucket; a task that left a text out which is no training row any more is no use."""
    bucket = Bucket(bucket_file(pool, number))
    left_out = bucket.row[bucket.train_row >= 0].tolist() if counts.labelled else []
    texts = counts.texts - counts.labelled
    missing = list(identity) if texts else []
    taken: dict[str, list[str]] = {}
    for task in tasks.get(counts.content, []):
        useful = [label for label in missing if task.identity.get(label) == identity[label]]
        if useful and task.left_out.issubset(left_out) and store.intact(TASK_KIND, task.key):
            taken[task.key] = useful
            missing = [label for label in missing if task.identity.get(label) != identity[label]]
    return _Work(number, counts.content, texts, left_out, taken, missing)


def _shown(pool: Path, plan: Sequence[_Work]) -> list[str]:
    """Give the texts that are scored first if none are yet: a scorer that looks at some always looks at the same."""
    for work in plan:
        if work.texts >= min(SCORED_AT_ONCE, max(other.texts for other in plan)):
            return _longest_first(Bucket(bucket_file(pool, work.number)))[0][:SCORED_AT_ONCE]
    return []


def _longest_first(bucket: Bucket) -> tuple[list[str], NDArray[np.intp]]:
    """Give a bucket's texts that are no training rows by length, and their rows."""
    rows = np.flatnonzero(bucket.train_row < 0)
    ordered = rows[np.argsort([-len(bucket.texts[row]) for row in rows], kind="stable")]
    return [bucket.texts[row] for row in ordered], ordered


def _score(
    pool: Path,
    scorer: Scorer,
    identity: Mapping[str, str],
    store: Store,
    made_with: Mapping[str, object],
    work: _Work,
) -> str:
    """Score a bucket's missing labels; give the key under which they are kept."""
    bucket = Bucket(bucket_file(pool, work.number))
    about = {
        "bucket": work.content,
        "identity": {label: identity[label] for label in work.missing},
        "left_out": work.left_out,
        "made_with": dict(made_with),
    }
    key = key_of(about)
    texts, ordered = _longest_first(bucket)
    proba = np.empty((len(bucket.row), len(work.missing)), dtype=np.float32)
    with store.write(TASK_KIND, key, about) as folder:
        starts = range(0, len(texts), SCORED_AT_ONCE)
        for start in progress(starts, f"bucket {work.number}", len(starts)):
            now = slice(start, start + SCORED_AT_ONCE)
            proba[ordered[now]] = score_texts(scorer, work.missing, texts[now])
        rows = np.sort(ordered)
        columns = {"row": pa.array(bucket.row[rows]), **label_columns(work.missing, proba[rows])}
        pq.write_table(pa.table(columns), folder / TASK_FILE)
    return key


def _link(work: _Work, folder: Path, store: Store) -> dict[str, list[str]]:
    """Link a bucket's files into the result; give the labels of each."""
    mine = folder / bucket_name(work.number)
    mine.mkdir()
    labels = {}
    for number, (key, taken) in enumerate(work.taken.items()):
        os.link(store.folder(TASK_KIND, key) / TASK_FILE, mine / f"{number}.parquet")
        labels[f"{number}.parquet"] = taken
    return labels
