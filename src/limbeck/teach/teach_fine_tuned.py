"""Teaching by fine-tuning: one network for all categories (`partial`), or one a category (`binary-ensemble`)."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from limbeck.scorer import Floats
from limbeck.teach.encoders import encoder_key, reading_key
from limbeck.teach.fine_tuned import FineTunedTeacher, Member
from limbeck.teach.fine_tuned_tasks import Material, Task, train_task
from limbeck.teach.lessons import Lessons, Taught
from limbeck.teach.network import Encoder
from limbeck.teach.states import frozen_states
from limbeck.teach.teach_probe import probe_committee
from limbeck.training.tokens import Tokens


def teach_partial(lessons: Lessons) -> Taught:
    """Fine-tune one encoder a fold, with an output a category, on known labels and on a probe's guesses of the rest."""
    skipped = lessons.skipped()
    columns = tuple(c for c, name in enumerate(lessons.train.names) if name not in skipped)
    tasks = [Task(columns, fold, lessons.config.seed) for fold in lessons.folds] if columns else []
    return _teach("partial", lessons, tasks, skipped, _guesses(lessons) if tasks else None)


def teach_binary_ensemble(lessons: Lessons) -> Taught:
    """Fine-tune an encoder for each category, fold and seed; the best of the seeds stays in each fold."""
    skipped = lessons.skipped()
    seeds = [lessons.config.seed + number for number in range(lessons.config.teach.seeds)]
    columns = [c for c, name in enumerate(lessons.train.names) if name not in skipped]
    tasks = [Task((c,), fold, seed) for c in columns for fold in lessons.folds for seed in seeds]
    return _teach("binary-ensemble", lessons, tasks, skipped)


def _guesses(lessons: Lessons) -> Floats | None:
    """Let a probe fill what training rows don't know [folds, rows, labels]; known labels stay NaN.

    A fold's guesses come from heads that saw none of its rows, so those are as unseen as they were.
    """
    train = lessons.train
    if lessons.config.teach.guesses == 0 or lessons.config.task == "multiclass" or not np.isnan(train.labels).any():
        return None
    return np.where(np.isnan(train.labels), probe_committee(lessons), np.float32(np.nan))


def _teach(
    kind: str, lessons: Lessons, tasks: list[Task], skipped: dict[str, str], guesses: Floats | None = None
) -> Taught:
    names = lessons.train.names
    material = replace(_material(lessons, kind), guesses=guesses)
    work = partial(train_task, lessons, material)
    trained = lessons.executor.run(work, tasks, f"teaching {kind}")
    members = _best_of_seeds(trained)
    teacher = FineTunedTeacher(
        lessons.card(kind, _mean_thresholds(members, len(names))), tuple(members), material.frozen
    )
    return Taught(
        teacher,
        _out_of_fold(teacher, lessons),
        skipped,
        len(tasks),
        chosen={_title(member, names): round(member.score, 4) for member in trained},
        history={_title(member, names): list(member.history) for member in trained},
    )


def _title(member: Member, names: tuple[str, ...]) -> str:
    of = names[member.columns[0]] if len(member.columns) == 1 else "all"
    return f"{of}.fold{member.fold}.seed{member.seed}"


def _material(lessons: Lessons, kind: str) -> Material:
    """Tokenise all texts, and read them with the layers that won't train."""
    config, key = lessons.config, encoder_key(lessons.encoder)
    encoder = Encoder(lessons.encoder.folder)
    tokens = Tokens(lessons.encoder.folder, min(config.encoder.max_tokens, encoder.longest))
    train, tuning = tokens.encode(lessons.train.texts), tokens.encode(lessons.tuning.texts)
    material = Material(train, tuning, tokens.pad_id, key, kind, encoder.lowest(config.train.freeze_layers))
    if not material.frozen:
        return material
    reading = reading_key(lessons.encoder)
    states = [
        frozen_states(lessons.store, encoder, reading, material.frozen, ids, tokens.pad_id, lessons.force)
        for ids in (train, tuning)
    ]
    return replace(material, train_states=states[0], tuning_states=states[1])


def _best_of_seeds(trained: list[Member]) -> list[Member]:
    best: dict[tuple[tuple[int, ...], int], Member] = {}
    for member in trained:
        place = member.columns, member.fold
        if place not in best or member.score > best[place].score:
            best[place] = member
    return list(best.values())


def _mean_thresholds(members: list[Member], labels: int) -> NDArray[np.float64]:
    found: list[list[float]] = [[] for _ in range(labels)]
    for member in members:
        for column, threshold in zip(member.columns, member.thresholds, strict=True):
            found[column].append(threshold)
    return np.array([float(np.mean(values)) if values else 0.5 for values in found])


def _out_of_fold(teacher: FineTunedTeacher, lessons: Lessons) -> Floats:
    """Score each training row by the members that didn't see its fold; NaN where all of them did."""
    train, folds = lessons.train, lessons.prepared.folds
    proba = np.full((len(train), len(train.names)), np.nan, dtype=np.float32)
    for fold in lessons.folds:
        mine = np.flatnonzero(folds == fold)
        blind = replace(teacher, members=tuple(member for member in teacher.members if member.fold == fold))
        proba[mine] = blind.score_cleaned([train.texts[row] for row in mine])
    return proba
