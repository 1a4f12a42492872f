"""Teaching by fine-tuning: one network for all categories (`partial`), or one a category (`binary-ensemble`)."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

import numpy as np
import torch

from limbeck.data.dataset import Dataset
from limbeck.progress import progress
from limbeck.scorer import Floats
from limbeck.store import key_of
from limbeck.teach.checkpoint import Checkpoints, save_weights
from limbeck.teach.examples import Examples
from limbeck.teach.features import encoder_key
from limbeck.teach.lessons import Lessons, Rows, Taught
from limbeck.teach.loop import Job, fit
from limbeck.teach.network import Classifier, Encoder
from limbeck.teach.networks import Member, NetworkTeacher
from limbeck.teach.tokens import Ids, Tokens

TASK_KIND = "tasks/networks"


@dataclass(frozen=True)
class Task:
    """One network to train: the categories it learns, the fold it doesn't see, and its seed."""

    columns: tuple[int, ...]
    fold: int
    seed: int


@dataclass(frozen=True)
class _Material:
    """What all tasks share: token ids of training and tuning texts, and the encoder's hash."""

    train: list[Ids]
    tuning: list[Ids]
    pad_id: int
    encoder: str


def teach_partial(lessons: Lessons) -> Taught:
    """Fine-tune one encoder a fold, with an output a category and a loss that skips unknown labels."""
    skipped = _skipped(lessons)
    columns = tuple(c for c, name in enumerate(lessons.train.names) if name not in skipped)
    tasks = [Task(columns, fold, lessons.config.seed) for fold in lessons.folds] if columns else []
    return _teach("partial", lessons, tasks, skipped)


def teach_binary_ensemble(lessons: Lessons) -> Taught:
    """Fine-tune an encoder for each category, fold and seed; the best of the seeds stays in each fold."""
    skipped = _skipped(lessons)
    seeds = [lessons.config.seed + number for number in range(lessons.config.teach.seeds)]
    columns = [c for c, name in enumerate(lessons.train.names) if name not in skipped]
    tasks = [Task((c,), fold, seed) for c in columns for fold in lessons.folds for seed in seeds]
    return _teach("binary-ensemble", lessons, tasks, skipped)


def _skipped(lessons: Lessons) -> dict[str, str]:
    reasons = {name: lessons.why_not(column) for column, name in enumerate(lessons.train.names)}
    return {name: reason for name, reason in reasons.items() if reason}


def _teach(kind: str, lessons: Lessons, tasks: list[Task], skipped: dict[str, str]) -> Taught:
    config, train, tuning = lessons.config, lessons.train, lessons.tuning
    encoder = Encoder(lessons.encoder.folder)
    tokens = Tokens(lessons.encoder.folder, min(config.encoder.max_tokens, encoder.longest))
    material = _Material(
        tokens.encode(train.texts), tokens.encode(tuning.texts), tokens.pad_id, encoder_key(lessons.encoder)
    )
    trained = [_train(lessons, task, material) for task in progress(tasks, f"teaching {kind}", len(tasks))]
    members = _best_of_seeds(trained)
    teacher = NetworkTeacher(lessons.card(kind, _mean_thresholds(members, len(train.names))), tuple(members))
    chosen: dict[str, object] = {f"{m.columns}/{m.fold}/{m.seed}": round(m.score, 4) for m in trained}
    return Taught(teacher, _out_of_fold(teacher, lessons), skipped, len(tasks), chosen)


def _train(lessons: Lessons, task: Task, material: _Material) -> Member:
    """Give a task's network, from the store or by training it; a killed training goes on where it was."""
    rows, labels, held_out = _rows_of(lessons, task)
    config, train = lessons.config, lessons.train
    about = {
        "task": [task.columns, task.fold, task.seed],
        "encoder": [material.encoder, config.encoder.max_tokens],
        "rows": key_of([[train.texts[row] for row in rows], np.nan_to_num(labels, nan=-1).tolist(), held_out.tolist()]),
        "dev": _key_of_labels(lessons.tuning, task),
        "settings": config.train.model_dump(exclude={"checkpoint_seconds"}),
        "one_class": config.task == "multiclass",
        "made_with": dict(lessons.made_with),
    }
    key = key_of(about)
    if lessons.force or not lessons.store.intact(TASK_KIND, key):
        torch.manual_seed(task.seed)
        settings = config.train
        network = Classifier(
            Encoder(lessons.encoder.folder), len(task.columns), settings.dropout, settings.freeze_layers
        )
        every = Examples(
            [material.train[row] for row in rows], labels, [train.sources[row] for row in rows] if train.sources else []
        )
        job = Job(
            train=every.take(np.flatnonzero(~held_out)),
            fold=every.take(np.flatnonzero(held_out)),
            dev=Examples(material.tuning, lessons.tuning.labels[:, task.columns]),
            settings=settings,
            seed=task.seed,
            pad_id=material.pad_id,
            one_class=config.task == "multiclass",
        )
        checkpoints = Checkpoints(lessons.store, key)
        if lessons.force:
            checkpoints.clear()
        fitted = fit(network, job, checkpoints)
        with lessons.store.write(TASK_KIND, key, about) as folder:
            save_weights(fitted.weights, folder / "weights.safetensors")
            outcome = {
                "score": fitted.score,
                "thresholds": fitted.thresholds.tolist(),
                "history": fitted.history,
                "restarts": fitted.restarts,
            }
            (folder / "outcome.json").write_text(json.dumps(outcome), encoding="utf-8")
        checkpoints.clear()
    folder = lessons.store.folder(TASK_KIND, key)
    told = json.loads((folder / "outcome.json").read_text(encoding="utf-8"))
    weights = folder / "weights.safetensors"
    return Member(task.columns, task.fold, task.seed, told["score"], tuple(told["thresholds"]), weights)


def _rows_of(lessons: Lessons, task: Task) -> tuple[Rows, Floats, np.ndarray]:
    """Give the rows that know any of a task's categories, their labels, and which of them are held out."""
    labels = lessons.train.labels[:, task.columns]
    rows = np.flatnonzero(~np.isnan(labels).all(axis=1))
    return rows, labels[rows], lessons.prepared.folds[rows] == task.fold


def _key_of_labels(tuning: Dataset, task: Task) -> str:
    return key_of([tuning.texts, np.nan_to_num(tuning.labels[:, task.columns], nan=-1).tolist()])


def _best_of_seeds(trained: list[Member]) -> list[Member]:
    best: dict[tuple[tuple[int, ...], int], Member] = {}
    for member in trained:
        place = member.columns, member.fold
        if place not in best or member.score > best[place].score:
            best[place] = member
    return list(best.values())


def _mean_thresholds(members: list[Member], labels: int) -> np.ndarray:
    found: list[list[float]] = [[] for _ in range(labels)]
    for member in members:
        for column, threshold in zip(member.columns, member.thresholds, strict=True):
            found[column].append(threshold)
    return np.array([float(np.mean(values)) if values else 0.5 for values in found])


def _out_of_fold(teacher: NetworkTeacher, lessons: Lessons) -> Floats:
    """Score each training row by the members that didn't see its fold; NaN where all of them did."""
    train, folds = lessons.train, lessons.prepared.folds
    proba = np.full((len(train), len(train.names)), np.nan, dtype=np.float32)
    for fold in lessons.folds:
        mine = np.flatnonzero(folds == fold)
        blind = [member for member in teacher.members if member.fold == fold]
        asked = replace(teacher, members=tuple(blind))
        for member, scores in asked.each_member([train.texts[row] for row in mine]):
            proba[np.ix_(mine, np.array(member.columns))] = scores
    return proba
