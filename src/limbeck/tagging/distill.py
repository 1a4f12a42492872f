"""Training one small tagger: kept when it is finished, going on where it was killed."""

from __future__ import annotations

import json
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from limbeck.config import DistillSettings
from limbeck.errors import BadSetting, TooFewRows
from limbeck.runtime.wordforms import FIRST_CHARACTER
from limbeck.store import key_of
from limbeck.students.network import WIDTHS
from limbeck.students.shrink import shrink
from limbeck.students.transformer import keep_layers
from limbeck.tagging.course import TagCourse
from limbeck.tagging.examples import (
    Guesses,
    TaggedExamples,
    fitting,
    read_sentences,
    tag_numbers,
    unknown_tags,
    words_that_fit,
)
from limbeck.tagging.lesson import TagDistillLesson, TagJob
from limbeck.tagging.network import TAGGERS, BiLstmTagger, CnnTagger, EncoderTagger, TaggerNetwork, TaggerPlan
from limbeck.tagging.start import Start, start_of
from limbeck.tagging.student import Lexical, TaggerStudent
from limbeck.tagging.teacher import tokeniser_of
from limbeck.teach.encoders import find_encoder
from limbeck.teach.network import Encoder
from limbeck.training.checkpoint import Checkpoints
from limbeck.training.loop import fit
from limbeck.training.rounding import rounding_of

TASK_KIND = "tasks/tagger-students"
# Characters that a network tells apart, at most.
MOST_CHARACTERS = 250
KINDS = (*TAGGERS, "transformer")


@dataclass(frozen=True)
class TagGraduate:
    """A trained student's folder, and what its training was like."""

    folder: Path
    outcome: dict[str, Any]


def train_tagger(kind: str, course: TagCourse) -> TagGraduate:
    """Give a student, from the store or by training it."""
    if kind not in KINDS:
        raise BadSetting(f"There is no student '{kind}' for entities.", f"Set students.kinds to some of {list(KINDS)}.")
    about = _about(kind, course)
    key = key_of(about)
    if course.force or not course.store.intact(TASK_KIND, key):
        _train(kind, course, about, key)
    folder = course.store.folder(TASK_KIND, key)
    return TagGraduate(folder, json.loads((folder / "outcome.json").read_text(encoding="utf-8")))


def _about(kind: str, course: TagCourse) -> dict[str, Any]:
    config = course.config
    return {
        "kind": kind,
        "types": list(course.prepared.types),
        "content": course.content,
        "pseudo": config.pseudo.model_dump(),
        "students": config.students.model_dump(exclude={"kinds"}),
        "distill": config.distill.model_dump(exclude={"checkpoint_seconds"}),
        "seed": config.seed,
        "made_with": dict(course.made_with),
    }


def _train(kind: str, course: TagCourse, about: dict[str, Any], key: str) -> None:
    began = time.monotonic()
    torch.manual_seed(course.config.seed)
    network, plan, lexical = new_tagger(kind, course)
    settings = _settings(kind, course)
    lesson = _lesson(kind, course, settings, lexical)
    reader = lexical.reader(kind)
    watched = [fitting(sentence, reader) for sentence in course.tuning]
    dev = TaggedExamples(
        read_sentences(reader, [s.tokens for s in watched]), reader.collate, tag_numbers(watched, course.prepared.types)
    )
    checkpoints = Checkpoints(course.store, key)
    if course.force:
        checkpoints.clear()
    types = len(course.prepared.types)
    rounding = rounding_of(settings)
    job = TagJob(lesson, dev.take([]), dev, settings, course.config.seed, rounding=rounding, name=kind, types=types)
    fitted = fit(network, job, checkpoints)
    student = TaggerStudent(kind, course.prepared.types, plan, lexical, network)
    outcome = {
        "score": fitted.score,
        "parameters": student.parameters,
        "rows": len(lesson.examples),
        "labelled": lesson.labelled,
        "seconds": time.monotonic() - began,
        "history": fitted.history,
        "restarts": fitted.restarts,
    }
    with course.store.write(TASK_KIND, key, about) as folder:
        (folder / "student").mkdir()
        student.save(folder / "student")
        (folder / "outcome.json").write_text(json.dumps(outcome), encoding="utf-8")
    checkpoints.clear()


def new_tagger(kind: str, course: TagCourse) -> tuple[TaggerNetwork, TaggerPlan, Lexical]:
    """Build a student that has learnt no tags yet."""
    config, types = course.config, len(course.prepared.types)
    settings, crf = config.students, config.students.decoder == "crf"
    if kind == "transformer":
        folder = course.teacher.card.encoder.folder
        if settings.encoder:
            folder = find_encoder(settings.encoder, course.root).folder
            encoder = Encoder(folder)
        else:
            encoder = course.teacher.taught_encoder()
            keep_layers(encoder, settings.layers)
            shrink(encoder, folder, settings, [" ".join(words) for words in course.chosen[0]])
        told, pad_id, unknown_id = tokeniser_of(folder)
        plan = TaggerPlan(types, 0, encoder.width, encoder.width, config.distill.dropout, pad_id, 0, 1, crf)
        torch.manual_seed(config.seed)
        lexical = Lexical(told, pad_id, unknown_id, "", min(settings.max_tokens, encoder.longest))
        return EncoderTagger(encoder, types, plan.dropout, crf), plan, lexical
    start: Start = start_of(course)
    alphabet = _alphabet(course)
    plan = TaggerPlan(
        types,
        len(start.vectors),
        start.vectors.shape[1],
        WIDTHS[settings.size],
        config.distill.dropout,
        start.pad_id,
        FIRST_CHARACTER + len(alphabet),
        settings.depth,
        crf,
    )
    torch.manual_seed(config.seed)
    network = TAGGERS[kind](plan)
    assert isinstance(network, (BiLstmTagger, CnnTagger))
    network.words.start(torch.from_numpy(start.vectors))
    return network, plan, Lexical(start.told, start.pad_id, start.unknown_id, alphabet)


def _alphabet(course: TagCourse) -> str:
    """Give the characters that stand in more than one word, the most frequent first."""
    counts = Counter(char for sentence in course.sentences for word in sentence for char in word)
    return "".join(char for char, times in counts.most_common(MOST_CHARACTERS) if times > 1)


def _settings(kind: str, course: TagCourse) -> DistillSettings:
    settings = course.config.distill
    return settings.model_copy(update={"batch": settings.encoder_batch}) if kind == "transformer" else settings


def _lesson(kind: str, course: TagCourse, settings: DistillSettings, lexical: Lexical) -> TagDistillLesson:
    """Put tagged sentences first, the pool's after them; what has no weight in the losses is left out."""
    reader = lexical.reader(kind)
    heeds = settings.soft > 0 or settings.hard > 0 or settings.sequences > 0 or settings.marginals > 0
    tagged = [fitting(sentence, reader) for sentence in course.train] if settings.task > 0 else []
    pool, guesses = course.chosen if heeds else ([], [])
    if not tagged and not pool:
        raise TooFewRows("There is nothing for a student to learn.", "Give a loss under [distill] a weight.")
    cut = [sentence[: words_that_fit(sentence, reader)] for sentence in pool]
    beside: list[Guesses] = [guess[: len(s.tokens)] for guess, s in zip(course.labelled_guesses, tagged, strict=False)]
    examples = TaggedExamples(
        read_sentences(reader, [*(s.tokens for s in tagged), *cut]),
        reader.collate,
        [*tag_numbers(tagged, course.prepared.types), *unknown_tags([len(sentence) for sentence in cut])],
        [*beside, *(g[: len(s)] for g, s in zip(guesses, cut, strict=True))] if heeds else None,
    )
    hide_id = -1 if kind == "transformer" else lexical.unknown_id
    return TagDistillLesson(examples, len(tagged), settings, len(course.prepared.types), hide_id, lexical.pad_id)
