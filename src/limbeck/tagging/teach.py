"""Teaching entities: one network a fold, kept when it is finished, going on where it was killed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from limbeck.config import Config, TrainSettings
from limbeck.data.sentences import Sentence
from limbeck.data.splits import TUNING
from limbeck.data.tagged import PreparedSentences
from limbeck.errors import BadSetting
from limbeck.scale import Executor, ThisMachine
from limbeck.scorer import Floats
from limbeck.store import Store, key_of
from limbeck.tagging.examples import TaggedExamples, fitting, read_sentences, tag_numbers
from limbeck.tagging.lesson import TagJob, TagLesson, f1_of, tags_of
from limbeck.tagging.network import EncoderTagger
from limbeck.tagging.probe import ProbeTagger, features_of
from limbeck.tagging.teacher import (
    AnyTagger,
    BlendedTagger,
    TaggerCard,
    TaggerTeacher,
    TagMember,
    blended,
    reader_of_encoder,
)
from limbeck.teach.encoders import EncoderFiles, encoder_key
from limbeck.teach.network import Encoder
from limbeck.training.checkpoint import Checkpoints, save_weights
from limbeck.training.loop import fit

TASK_KIND = "tasks/taggers"
# Sentences of dev's tuning half that a run is watched on: all of them would take longer than training does.
WATCHED = 600
# Few sentences are shown often enough to be learnt.
LEAST_STEPS, MOST_EPOCHS = 300, 40
# A probe's outputs are cheap to train, and want more passes.
PROBE_EPOCHS, PROBE_RATE = 12, 3e-3
# Shares of a blend's second part that are tried.
SHARES = np.linspace(0, 1, 11)
KINDS = ("probe", "partial")


@dataclass(frozen=True)
class TagLessons:
    """The sentences of a project, and where finished networks are kept."""

    prepared: PreparedSentences
    config: Config
    encoder: EncoderFiles
    store: Store
    made_with: Mapping[str, object]
    force: bool = False
    executor: Executor = field(default_factory=ThisMachine)

    @property
    def folds(self) -> list[int]:
        """The folds that are used; each is held out once."""
        every = int(self.prepared.folds.max()) + 1
        wanted = self.config.teach.folds
        return list(range(min(wanted, every) if wanted else every))

    @property
    def tuning(self) -> list[Sentence]:
        """The half of dev that may tune."""
        return self.prepared.dev_half(TUNING)

    def card(self, kind: str) -> TaggerCard:
        """Describe a teacher of this project."""
        config = self.config
        return TaggerCard(kind, self.prepared.types, self.encoder, config.encoder.max_tokens, config.probe.layers)


@dataclass(frozen=True)
class TaughtTagger:
    """A teacher, and its log-probabilities of training sentences by members that didn't see them; empty for none."""

    teacher: AnyTagger
    out_of_fold: list[Floats]
    history: dict[str, list[dict[str, Any]]]


def teach_tagger(lessons: TagLessons) -> TaughtTagger:
    """Teach what the configuration asks for."""
    kinds = lessons.config.teach.kinds
    unknown = [kind for kind in kinds if kind not in KINDS]
    if unknown:
        raise BadSetting(
            f"There is no teacher '{unknown[0]}' for entities.", 'Set teach.kind to "probe", "partial" or "blend".'
        )
    teachers = [_teach(kind, lessons) for kind in kinds]
    history = {f"{t.card.kind}.fold{m.fold}": list(m.history) for t in teachers for m in t.members}
    teacher: AnyTagger = teachers[0]
    if len(teachers) > 1:
        teacher = BlendedTagger(tuple(teachers), _weights(teachers, lessons))
    return TaughtTagger(teacher, _out_of_fold(teacher, lessons), history)


def _teach(kind: str, lessons: TagLessons) -> TaggerTeacher:
    material = _material(kind, lessons)
    work = partial(_member, kind, lessons, material)
    members = lessons.executor.run(work, lessons.folds, f"teaching {kind}")
    return TaggerTeacher(lessons.card(kind), tuple(members))


@dataclass(frozen=True)
class _Material:
    train: TaggedExamples
    watched: TaggedExamples


def _material(kind: str, lessons: TagLessons) -> _Material:
    """Read all sentences, for a probe with its encoder."""
    config = lessons.config
    encoder = Encoder(lessons.encoder.folder)
    reader = reader_of_encoder(lessons.encoder, min(config.encoder.max_tokens, encoder.longest))
    watched = _some(lessons.tuning, config.seed)

    def examples(sentences: Sequence[Sentence]) -> TaggedExamples:
        # What is too long for the encoder is cut off here; scoring reads it in parts.
        shown = [fitting(sentence, reader) for sentence in sentences]
        reads = read_sentences(reader, [sentence.tokens for sentence in shown])
        tags = tag_numbers(shown, lessons.prepared.types)
        if kind == "probe":
            return TaggedExamples(*features_of(encoder, reader, reads, config.probe.layers), tags)
        return TaggedExamples(reads, reader.collate, tags)

    return _Material(examples(lessons.prepared.train), examples(watched))


def _some(sentences: list[Sentence], seed: int) -> list[Sentence]:
    if len(sentences) <= WATCHED:
        return sentences
    rows = np.random.default_rng(seed).choice(len(sentences), WATCHED, replace=False)
    return [sentences[row] for row in np.sort(rows)]


def _member(kind: str, lessons: TagLessons, material: _Material, fold: int) -> TagMember:
    """Give a fold's network, from the store or by training it."""
    held_out = lessons.prepared.folds == fold
    about = _about(kind, lessons, fold, held_out)
    key = key_of(about)
    if lessons.force or not lessons.store.intact(TASK_KIND, key):
        checkpoints = Checkpoints(lessons.store, key)
        if lessons.force:
            checkpoints.clear()
        seen = material.train.take(np.flatnonzero(~held_out))
        settings = _settings(kind, lessons.config.train, len(seen))
        types = len(lessons.prepared.types)
        torch.manual_seed(lessons.config.seed + fold)
        if kind == "probe":
            network: Any = ProbeTagger(types, seen.reads[0][0].shape[1])
        else:
            network = EncoderTagger(Encoder(lessons.encoder.folder), types, settings.dropout)
        fold_part = material.train.take(np.flatnonzero(held_out))
        lesson = TagLesson(seen, settings.batch)
        seed = lessons.config.seed + fold
        job = TagJob(lesson, fold_part, material.watched, settings, seed, name=f"{kind} {fold}", types=types)
        fitted = fit(network, job, checkpoints)
        with lessons.store.write(TASK_KIND, key, about) as folder:
            save_weights(fitted.weights, folder / "weights.safetensors")
            outcome = {"score": fitted.score, "history": fitted.history, "restarts": fitted.restarts}
            (folder / "outcome.json").write_text(json.dumps(outcome), encoding="utf-8")
        checkpoints.clear()
    folder = lessons.store.folder(TASK_KIND, key)
    told = json.loads((folder / "outcome.json").read_text(encoding="utf-8"))
    return TagMember(fold, told["score"], folder / "weights.safetensors", tuple(told["history"]))


def _settings(kind: str, settings: TrainSettings, sentences: int) -> TrainSettings:
    """Give the settings with as many steps as few sentences want, judged ten times."""
    if kind == "probe":
        steps = max(LEAST_STEPS, PROBE_EPOCHS * sentences // settings.batch)
        return settings.model_copy(update={"steps": settings.steps or steps, "head_rate": PROBE_RATE})
    an_epoch = max(1, sentences // settings.batch)
    steps = min(max(LEAST_STEPS, settings.epochs * an_epoch), MOST_EPOCHS * an_epoch)
    return settings.model_copy(update={"steps": settings.steps or steps})


def _about(kind: str, lessons: TagLessons, fold: int, held_out: NDArray[np.bool_]) -> dict[str, Any]:
    config, prepared = lessons.config, lessons.prepared

    def told(sentences: Sequence[Sentence]) -> str:
        return key_of([[list(s.tokens), list(s.tags)] for s in sentences])

    return {
        "kind": kind,
        "types": list(prepared.types),
        "fold": fold,
        "seed": config.seed,
        "encoder": [encoder_key(lessons.encoder), config.encoder.max_tokens],
        "layers": config.probe.layers if kind == "probe" else "",
        "rows": key_of([told(prepared.train), held_out.tolist()]),
        "dev": told(lessons.tuning),
        "settings": config.train.model_dump(exclude={"checkpoint_seconds"}),
        "made_with": dict(lessons.made_with),
    }


def _weights(teachers: Sequence[TaggerTeacher], lessons: TagLessons) -> tuple[float, ...]:
    """Weigh teachers for the best F1 on sentences of dev's tuning half, adding one after the other."""
    sentences = _some(lessons.tuning, lessons.config.seed)
    truth = tag_numbers(sentences, lessons.prepared.types)
    scores = [teacher.emissions([s.tokens for s in sentences]) for teacher in teachers]
    weights = np.array([1.0])
    for number in range(1, len(teachers)):
        tried = [np.append((1 - share) * weights, share) for share in SHARES]
        found = [f1_of(truth, tags_of(blended(scores[: number + 1], tuple(w)), teachers[0].moves)) for w in tried]
        weights = tried[int(np.argmax(found))]
    return tuple(float(w) for w in weights)


def _out_of_fold(teacher: AnyTagger, lessons: TagLessons) -> list[Floats]:
    """Score each training sentence by the members that didn't see its fold."""
    prepared = lessons.prepared
    none = np.zeros((0, 2 * len(prepared.types) + 1), dtype=np.float32)
    found = [none] * len(prepared.train)
    for fold in lessons.folds:
        mine = np.flatnonzero(prepared.folds == fold)
        scores = teacher.only_fold(fold).emissions([prepared.train[row].tokens for row in mine])
        for row, one in zip(mine, scores, strict=True):
            found[row] = one
    return found


def save_out_of_fold(scores: Sequence[Floats], file: Path) -> None:
    """Write scores of sentences side by side."""
    lengths = np.array([len(one) for one in scores])
    np.savez(file, lengths=lengths, scores=np.concatenate(scores).astype(np.float16))


def load_scores(file: Path) -> list[Floats]:
    """Read what `save_out_of_fold` wrote."""
    with np.load(file, allow_pickle=False) as told:
        return np.split(told["scores"].astype(np.float32), np.cumsum(told["lengths"])[:-1])
