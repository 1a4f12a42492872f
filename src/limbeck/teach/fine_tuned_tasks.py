"""One network to fine-tune: its task, its key, where it starts, and keeping it when it is finished."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file

from limbeck.scorer import Floats
from limbeck.store import key_of
from limbeck.teach.fine_tuned import Member
from limbeck.teach.lessons import Lessons, Rows
from limbeck.teach.network import Classifier, Encoder
from limbeck.teach.states import States
from limbeck.text import normalise
from limbeck.training.checkpoint import Checkpoints, save_weights
from limbeck.training.examples import Examples
from limbeck.training.lesson import LabelledLesson
from limbeck.training.loop import Job, fit
from limbeck.training.tokens import Ids

TASK_KIND = "tasks/networks"

Learnt = dict[str, dict[str, int]]


@dataclass(frozen=True)
class Task:
    """One network to train: the categories it learns, the fold it doesn't see, and its seed."""

    columns: tuple[int, ...]
    fold: int
    seed: int


@dataclass(frozen=True)
class Material:
    """What all tasks share: training and tuning texts as token ids, and the encoder's hash.

    `frozen` layers don't train; the texts' states after them, if any are frozen, are known. `guesses` [folds, rows,
    labels] fill what training rows don't know, for each fold by a model that didn't see it; NaN where a label is known.
    """

    train: list[Ids]
    tuning: list[Ids]
    pad_id: int
    encoder: str
    kind: str
    frozen: int = 0
    train_states: States | None = None
    tuning_states: States | None = None
    guesses: Floats | None = None

    @property
    def goes_on(self) -> bool:
        """Whether a network that was taught before may be the start of a new one."""
        return self.kind == "partial"


def train_task(lessons: Lessons, material: Material, task: Task) -> Member:
    """Give a task's network, from the store or by training it; a killed training goes on where it was."""
    rows, labels, held_out = _rows_of(lessons, task)
    about = _about(lessons, material, task, rows, labels, held_out)
    key = key_of(about)
    if lessons.force or not lessons.store.intact(TASK_KIND, key):
        checkpoints = Checkpoints(lessons.store, key)
        if lessons.force:
            checkpoints.clear()
        network = _network(lessons, task, material.frozen)
        learnt = _learnt(lessons, task, rows[~held_out])
        start = _earlier(lessons, about, learnt) if material.goes_on and not lessons.force else None
        if start:
            _go_on_from(start, network, about["categories"])
        job = _job(lessons, material, task, rows, labels, held_out, going_on=start is not None)
        fitted = fit(network, job, checkpoints)
        with lessons.store.write(TASK_KIND, key, about) as folder:
            save_weights(fitted.weights, folder / "weights.safetensors")
            outcome = {
                "score": fitted.score,
                "thresholds": fitted.thresholds.tolist(),
                "history": fitted.history,
                "restarts": fitted.restarts,
                "started_from": start.name if start else None,
            }
            (folder / "outcome.json").write_text(json.dumps(outcome), encoding="utf-8")
            (folder / "trained_on.json").write_text(json.dumps(learnt), encoding="utf-8")
        checkpoints.clear()
    return _member(task, lessons.store.folder(TASK_KIND, key))


def _about(
    lessons: Lessons, material: Material, task: Task, rows: Rows, labels: Floats, held_out: NDArray[np.bool_]
) -> dict[str, Any]:
    """Collect what a network depends on; categories by name, so that others may come and go around them."""
    config, train, tuning = lessons.config, lessons.train, lessons.tuning
    guesses = _guesses(lessons, material, task, rows)
    return {
        "kind": material.kind,
        "categories": [train.names[column] for column in task.columns],
        "fold": task.fold,
        "seed": task.seed,
        "encoder": [material.encoder, config.encoder.max_tokens],
        "rows": key_of([[train.texts[row] for row in rows], np.nan_to_num(labels, nan=-1).tolist(), held_out.tolist()]),
        "dev": key_of([tuning.texts, np.nan_to_num(tuning.labels[:, task.columns], nan=-1).tolist()]),
        "settings": config.train.model_dump(exclude={"checkpoint_seconds"}),
        "one_class": config.task == "multiclass",
        "min_positives": config.measure.min_positives,
        **({"weights": train.weights[rows][:, task.columns].tolist()} if len(train.weights) else {}),
        "guess_weight": 0.0 if material.guesses is None else config.teach.guesses,
        "guesses": None if guesses is None else hashlib.sha256(guesses.tobytes()).hexdigest()[:20],
        "made_with": dict(lessons.made_with),
    }


def _network(lessons: Lessons, task: Task, frozen: int) -> Classifier:
    settings = lessons.config.train
    torch.manual_seed(task.seed)
    encoder = Encoder(lessons.encoder.folder)
    return Classifier(encoder, len(task.columns), settings.dropout, frozen, settings.freeze_embeddings)


def _job(
    lessons: Lessons,
    material: Material,
    task: Task,
    rows: Rows,
    labels: Floats,
    held_out: NDArray[np.bool_],
    going_on: bool,
) -> Job:
    train, settings = lessons.train, lessons.config.train
    every = Examples(
        [material.train[row] for row in rows],
        labels,
        [train.sources[row] for row in rows] if train.sources else [],
        [material.train_states[row] for row in rows] if material.train_states is not None else None,
        _guesses(lessons, material, task, rows),
        train.weights[rows][:, task.columns] if len(train.weights) else None,
    )
    if going_on:
        settings = settings.model_copy(update={"epochs": -(-settings.epochs // 2)})
    one_class = lessons.config.task == "multiclass" and len(task.columns) > 1
    seen = every.take(np.flatnonzero(~held_out))
    return Job(
        lesson=LabelledLesson(seen, settings, material.pad_id, one_class, lessons.config.teach.guesses),
        fold=replace(every, labels=train.strong[rows][:, task.columns]).take(np.flatnonzero(held_out)),
        dev=Examples(material.tuning, lessons.tuning.labels[:, task.columns], states=material.tuning_states),
        settings=settings,
        seed=task.seed,
        pad_id=material.pad_id,
        one_class=one_class,
        min_positives=lessons.config.measure.min_positives,
        name=f"{material.kind} {task.columns} {task.fold} {task.seed}",
    )


def _guesses(lessons: Lessons, material: Material, task: Task, rows: Rows) -> Floats | None:
    if material.guesses is None:
        return None
    of_fold: Floats = material.guesses[lessons.folds.index(task.fold)]
    return of_fold[rows][:, task.columns]


def _member(task: Task, folder: Path) -> Member:
    told = json.loads((folder / "outcome.json").read_text(encoding="utf-8"))
    return Member(
        task.columns,
        task.fold,
        task.seed,
        told["score"],
        tuple(told["thresholds"]),
        folder / "weights.safetensors",
        tuple(told["history"]),
    )


def _rows_of(lessons: Lessons, task: Task) -> tuple[Rows, Floats, NDArray[np.bool_]]:
    """Give the rows that know any of a task's categories, their labels, and which of them are held out."""
    rows = lessons.known(*task.columns)
    return rows, lessons.train.labels[rows][:, task.columns], lessons.prepared.folds[rows] == task.fold


def _learnt(lessons: Lessons, task: Task, rows: Rows) -> Learnt:
    """Say what a network learns: of each text, by its hash, the labels that are known."""
    found: Learnt = {}
    for row in rows:
        labels = lessons.train.labels[row]
        known = {lessons.train.names[c]: int(labels[c]) for c in task.columns if not np.isnan(labels[c])}
        found.setdefault(key_of(normalise(lessons.train.texts[row])), {}).update(known)
    return found


def _earlier(lessons: Lessons, about: dict[str, Any], to_learn: Learnt) -> Path | None:
    """Find the newest network of the same make that learnt nothing but a part of `to_learn`.

    So it learnt no label that was corrected since, and no text that was held out or moved to dev or test.
    """
    grown = ("categories", "rows", "dev", "guesses", "files", "finished")
    same = json.loads(json.dumps({name: value for name, value in about.items() if name not in grown}))
    for key, manifest in lessons.store.newest_first(TASK_KIND):
        if {name: value for name, value in manifest.items() if name not in grown} != same:
            continue
        if not set(manifest["categories"]) <= set(about["categories"]) or not lessons.store.intact(TASK_KIND, key):
            continue
        folder = lessons.store.folder(TASK_KIND, key)
        learnt: Learnt = json.loads((folder / "trained_on.json").read_text(encoding="utf-8"))
        if all(text in to_learn and labels.items() <= to_learn[text].items() for text, labels in learnt.items()):
            return folder
    return None


def _go_on_from(folder: Path, network: Classifier, categories: list[str]) -> None:
    """Give a network another one's weights; outputs of categories that are new to it stay fresh."""
    weights = load_file(folder / "weights.safetensors")
    learnt = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["categories"]
    with torch.no_grad():
        for name, parameter in network.head.named_parameters():
            old = weights.pop(f"head.{name}")
            for row, category in enumerate(learnt):
                parameter[categories.index(category)] = old[row]
    network.load_state_dict(weights, strict=False)
