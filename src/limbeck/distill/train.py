"""Training one student: kept when it is finished, going on where it was killed."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from limbeck.config import DistillSettings
from limbeck.distill.balance import likelier, raised_to, shifted
from limbeck.distill.course import Course
from limbeck.distill.lesson import Attention, DistillLesson
from limbeck.distill.start import ORIGIN, earlier_student, go_on_from, new_student, pieces_for
from limbeck.errors import TooFewRows
from limbeck.scorer import Floats
from limbeck.store import key_of
from limbeck.students.network import Student, token_vectors_of
from limbeck.students.pieces import Pieces
from limbeck.students.scorer import StudentScorer
from limbeck.students.vectors import vectors_of_reading
from limbeck.teach.network import device
from limbeck.training.checkpoint import Checkpoints, save_weights
from limbeck.training.examples import Examples
from limbeck.training.loop import Job, fit, predict
from limbeck.training.rounding import rounding_of
from limbeck.training.tokens import Tokens

TASK_KIND = "tasks/students"
VIEWS_KIND = "tasks/views"
UNLABELLED = np.float32(np.nan)


@dataclass(frozen=True)
class Graduate:
    """A trained student's folder, and what its training was like."""

    folder: Path
    outcome: dict[str, Any]


def train_student(kind: str, course: Course) -> Graduate:
    """Give a student, from the store or by training it."""
    pieces = pieces_for(kind, course)
    about = _about(kind, course, pieces)
    key = key_of(about)
    if course.force or not course.store.intact(TASK_KIND, key):
        start = None if course.force else earlier_student(course, TASK_KIND, about)
        _train(kind, course, pieces, about, key, start)
    folder = course.store.folder(TASK_KIND, key)
    return Graduate(folder, json.loads((folder / "outcome.json").read_text(encoding="utf-8")))


def _about(kind: str, course: Course, pieces: Pieces) -> dict[str, Any]:
    config = course.config
    students = config.students.model_dump(exclude={"kinds"})
    return {
        "kind": kind,
        "categories": list(course.train.names),
        "content": course.content,
        "vocabulary": key_of(pieces.vocabulary),
        "students": students,
        "distill": config.distill.model_dump(exclude={"checkpoint_seconds"}),
        "clean": list(config.text.clean),
        "task": config.task,
        "seed": config.seed,
        "min_positives": config.measure.min_positives,
        "made_with": dict(course.made_with),
    }


def _train(kind: str, course: Course, pieces: Pieces, about: dict[str, Any], key: str, start: Path | None) -> None:
    began = time.monotonic()
    lesson = lesson_for(kind, course, pieces)
    fold, dev = (_examples(course, pieces, part) for part in ("watched", "tuning"))
    used = _used(pieces, lesson.examples, fold, dev)
    history: list[dict[str, Any]] = []
    for number in range(course.config.distill.rounds):
        network, plan = new_student(kind, course, pieces)
        if start and number == 0:
            go_on_from(start, network, about["categories"])
        _make_room(network, lesson)
        for table in token_vectors_of(network):
            table.narrow(used)
        going_on = start is not None and number == 0
        job = _job(f"{kind} {number}", course, lesson, fold, dev, going_on)
        checkpoints = Checkpoints(course.store, f"{key}-{number}")
        if course.force:
            checkpoints.clear()
        fitted = fit(network, job, checkpoints)
        history += [{"round": number, **told} for told in fitted.history]
        if number + 1 < course.config.distill.rounds and lesson.examples.guesses is not None:
            lesson = lesson.with_guesses(predict(network, lesson.examples, pieces.pad_id, lesson.one_class))
    for table in token_vectors_of(network):
        table.widen()
    # A student of more categories goes on from the weights as they learnt; the folder's are lowered.
    as_learnt = {name: tensor.clone() for name, tensor in network.state_dict().items()}
    network.lower(torch.from_numpy(lesson.raised))
    names = course.train.names
    clean, one_class = tuple(course.config.text.clean), lesson.one_class
    student = StudentScorer(kind, names, clean, one_class, plan, pieces, network)
    outcome = {
        "score": fitted.score,
        "parameters": student.parameters,
        "rows": len(lesson.examples),
        "labelled": lesson.labelled,
        "seconds": time.monotonic() - began,
        "history": history,
        "restarts": fitted.restarts,
        "started_from": start.name if start else None,
    }
    with course.store.write(TASK_KIND, key, about) as folder:
        (folder / "student").mkdir()
        student.save(folder / "student")
        save_weights(as_learnt, folder / "trained.safetensors")
        (folder / "outcome.json").write_text(json.dumps(outcome), encoding="utf-8")
        (folder / "judges.json").write_text(json.dumps(course.judges), encoding="utf-8")
        (folder / ORIGIN).write_text(json.dumps(course.origin), encoding="utf-8")
    for number in range(course.config.distill.rounds):
        Checkpoints(course.store, f"{key}-{number}").clear()


def _settings(kind: str, course: Course) -> DistillSettings:
    """Give the settings as they are for a kind: a transformer's steps cost as much as others' with smaller batches."""
    settings = course.config.distill
    return settings.model_copy(update={"batch": settings.encoder_batch}) if kind == "transformer" else settings


def _job(name: str, course: Course, lesson: DistillLesson, fold: Examples, dev: Examples, going_on: bool) -> Job:
    settings = lesson.settings
    if going_on:
        settings = settings.model_copy(update={"epochs": -(-settings.epochs // 2), "steps": -(-settings.steps // 2)})
    return Job(
        lesson,
        fold,
        dev,
        settings,
        course.config.seed,
        lesson.pad_id,
        lesson.one_class,
        course.config.measure.min_positives,
        rounding_of(settings),
        name,
    )


def lesson_for(kind: str, course: Course, pieces: Pieces) -> DistillLesson:
    """Put labelled rows first, selected and made-up texts after them; what has no weight in the losses is left out.

    Labelled rows whose labels aren't learnt, because they watch or because the task has no weight, are learnt as the
    teacher that didn't see them guesses, like the pool's.
    """
    config, settings, train = course.config, _settings(kind, course), course.train
    heeds_guesses = settings.soft > 0 or settings.hard > 0
    seen = course.seen if settings.task > 0 else course.seen[:0]
    unread = not heeds_guesses and settings.relation == 0 and settings.hidden == 0
    pool = course.pool.take([]) if unread else course.pool
    made_up = course.made_up if heeds_guesses else pool.take([])
    others = seen[:0] if unread else np.setdiff1d(course.guessed, seen)
    texts = [*(train.texts[row] for row in [*seen, *others]), *pool.texts, *made_up.texts]
    if not texts:
        raise TooFewRows("There is nothing for a student to learn.", "Give a loss under [distill] a weight.")
    blank = np.full((len(others) + len(pool) + len(made_up), len(train.names)), UNLABELLED, dtype=np.float32)
    one_class = config.task == "multiclass"
    raised = curated = np.zeros(len(train.names), dtype=np.float32)
    beside_labels = np.where(np.isnan(train.labels[seen]), course.labelled_guesses[seen], UNLABELLED)
    of_others = [course.labelled_guesses[others], pool.labels, made_up.labels]
    guesses = np.concatenate([beside_labels, *of_others]).astype(np.float32)
    if heeds_guesses and not one_class:
        raised = raised_to(guesses, settings.balance)
        guesses = shifted(guesses, raised)
        curated = likelier(train.labels[seen], guesses)
    examples = Examples(
        pieces.encode(texts),
        np.concatenate([train.labels[seen], blank]),
        guesses=guesses if heeds_guesses else None,
        weights=np.concatenate([train.weights[seen], np.ones_like(blank)]) if len(train.weights) else None,
    )
    return DistillLesson(
        examples,
        len(seen),
        settings,
        pieces.pad_id,
        pieces.mask_id,
        one_class,
        shifted(course.thresholds, raised),
        raised,
        curated,
        _vectors(course, texts) if settings.hidden > 0 or settings.relation > 0 else None,
        _attention(course) if kind == "transformer" and settings.attention > 0 else None,
    )


def _examples(course: Course, pieces: Pieces, part: str) -> Examples:
    rows = course.train.take(course.watched) if part == "watched" else course.tuning
    return Examples(pieces.encode(rows.texts), rows.strong)


def _used(pieces: Pieces, *parts: Examples) -> Tensor:
    """Give the tokens that any text has."""
    ids = [ids for examples in parts for ids in examples.ids]
    always = [pieces.pad_id] if pieces.mask_id is None else [pieces.pad_id, pieces.mask_id]
    return torch.from_numpy(np.unique(np.concatenate([*ids, np.array(always)])).astype(np.int64))


def _vectors(course: Course, texts: list[str]) -> Floats:
    """Give the teacher's view of each text [texts, encoder width]; it is kept for the next student."""
    max_tokens = course.config.encoder.max_tokens
    about = {
        "teacher": course.content["teacher"],
        "texts": key_of(texts),
        "max_tokens": max_tokens,
        "made_with": dict(course.made_with),
    }
    key = key_of(about)
    if course.force or not course.store.intact(VIEWS_KIND, key):
        tokens = Tokens(course.teacher.card.encoder.folder, max_tokens)
        ids = tokens.encode(texts)
        found = vectors_of_reading(course.taught_encoder(), ids, tokens.pad_id, "reading as the teacher")
        with course.store.write(VIEWS_KIND, key, about) as folder:
            np.save(folder / "vectors.npy", found.astype(np.float16))
    vectors: Floats = np.load(course.store.folder(VIEWS_KIND, key) / "vectors.npy", mmap_mode="r", allow_pickle=False)
    return vectors


def _attention(course: Course) -> Attention:
    encoder = course.taught_encoder().eval().to(device())

    def maps(ids: Tensor, mask: Tensor) -> tuple[Tensor, ...]:
        with torch.no_grad():
            return encoder.with_attention(ids, mask)[1]

    return maps


def _make_room(network: Student, lesson: DistillLesson) -> None:
    """Give a student that shall look like its teacher a projection between the two."""
    if lesson.vectors is not None and lesson.settings.hidden > 0:
        ids = torch.from_numpy(lesson.examples.ids[0].astype(np.int64))[None]
        with torch.no_grad():
            width = network.eval().read(ids, torch.ones_like(ids)).vector.shape[1]
        network.learn_projection(width, lesson.vectors.shape[1])
