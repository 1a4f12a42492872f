"""Where a student starts: its word pieces, its token vectors or layers, and an earlier student if there is one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file

from limbeck.distill.course import Course
from limbeck.errors import BadSetting
from limbeck.scorer import Floats
from limbeck.store import key_of
from limbeck.students.network import WIDTHS, Plan, Student, token_vectors_of
from limbeck.students.pieces import Pieces, learn_pieces, pieces_of_encoder
from limbeck.students.registry import NETWORKS
from limbeck.students.shrink import shrink
from limbeck.students.transformer import Transformer, keep_layers
from limbeck.students.vectors import (
    narrowed,
    vectors_by_chance,
    vectors_of_encoder,
    vectors_of_files,
    vectors_of_texts,
    vectors_of_words,
)
from limbeck.students.wordvectors import read_word_vectors
from limbeck.teach.encoders import find_encoder
from limbeck.teach.network import Encoder
from limbeck.training.tokens import Tokens

VECTORS_KIND = "tasks/vectors"
READ_FOR_VECTORS = 20_000
ORIGIN = "origin.json"
# What a student with more categories or labels may differ in from the one that it goes on from.
GROWN = ("categories", "content", "files", "finished")


def pieces_for(kind: str, course: Course) -> Pieces:
    """Give the word pieces of a student."""
    settings, encoder = course.config.students, course.teacher.card.encoder.folder
    if kind == "transformer":
        if settings.encoder:
            encoder = find_encoder(settings.encoder, course.root).folder
        return pieces_of_encoder(encoder, settings.max_tokens)
    if settings.tokens == "encoder":
        return pieces_of_encoder(encoder, settings.max_tokens)
    texts = [*course.train.texts, *course.pool.texts]
    return learn_pieces(texts, settings.vocabulary, settings.max_tokens)


def new_student(kind: str, course: Course, pieces: Pieces) -> tuple[Student, Plan]:
    """Build a student that has learnt nothing of the labels yet."""
    config = course.config
    width, labels = WIDTHS[config.students.size], len(course.train.names)
    torch.manual_seed(config.seed)
    if kind == "transformer":
        encoder = _layers(course)
        plan = Plan(labels, pieces.size, encoder.width, encoder.width, config.distill.dropout, pieces.pad_id)
        torch.manual_seed(config.seed)
        return Transformer(encoder, plan), plan
    vectors = token_vectors(course, pieces, width)
    plan = Plan(labels, pieces.size, vectors.shape[1], width, config.distill.dropout, pieces.pad_id)
    torch.manual_seed(config.seed)
    network = NETWORKS[kind](plan)
    for table in token_vectors_of(network):
        table.start(torch.from_numpy(vectors))
    return network, plan


def _layers(course: Course) -> Encoder:
    settings = course.config.students
    if settings.encoder:
        return Encoder(find_encoder(settings.encoder, course.root).folder)
    encoder = course.taught_encoder()
    keep_layers(encoder, settings.layers)
    shrink(encoder, course.teacher.card.encoder.folder, settings, course.pool.texts or course.train.texts)
    return encoder


def token_vectors(course: Course, pieces: Pieces, width: int) -> Floats:
    """Give the vectors that tokens start with [tokens, width]; those that cost time are kept for the next student."""
    settings, seed = course.config.students, course.config.seed
    vocabulary = pieces.vocabulary
    if settings.vectors == "random":
        return vectors_by_chance(len(vocabulary), width, seed)
    if settings.vectors == "files":
        if not settings.vector_files:
            raise BadSetting('students.vectors = "files" needs files.', "Set students.vector_files.")
        files = [read_word_vectors(entry, course.root) for entry in settings.vector_files]
        return vectors_of_files(files, vocabulary, seed)
    if settings.vectors == "pool":
        ids = pieces.encode([*course.train.texts, *course.pool.texts])
        return narrowed(vectors_of_texts(ids, len(vocabulary), width, seed), width)
    return narrowed(*_vectors_of_teacher(course, vocabulary, width))


def _vectors_of_teacher(course: Course, vocabulary: list[str], width: int) -> tuple[Floats, int, Floats | None]:
    """Give the taught encoder's vectors of tokens, the width that is wanted, and how often tokens stand in texts."""
    same = course.config.students.tokens == "encoder"
    texts = _some([*course.train.texts, *course.pool.texts], course.config.seed) if same else []
    about = {
        "teacher": course.content["teacher"],
        "vocabulary": key_of(vocabulary),
        "texts": key_of(texts),
        "made_with": dict(course.made_with),
    }
    key = key_of(about)
    if course.force or not course.store.intact(VECTORS_KIND, key):
        tokens = Tokens(course.teacher.card.encoder.folder, course.config.encoder.max_tokens)
        encoder = course.taught_encoder()
        with course.store.write(VECTORS_KIND, key, about) as folder:
            if same:
                found, often = vectors_of_encoder(encoder, tokens, vocabulary, texts)
                np.save(folder / "often.npy", often)
            else:
                found = vectors_of_words(encoder, tokens, vocabulary)
            np.save(folder / "vectors.npy", found)
    folder = course.store.folder(VECTORS_KIND, key)
    vectors: Floats = np.load(folder / "vectors.npy", allow_pickle=False)
    return vectors, width, np.load(folder / "often.npy", allow_pickle=False) if same else None


def _some(texts: list[str], seed: int) -> list[str]:
    """Draw as many texts as it takes to know what tokens mean in them."""
    if len(texts) <= READ_FOR_VECTORS:
        return texts
    rows = np.random.default_rng(seed).choice(len(texts), READ_FOR_VECTORS, replace=False)
    return [texts[row] for row in np.sort(rows)]


def earlier_student(course: Course, kind: str, about: dict[str, Any]) -> Path | None:
    """Find the newest student of the same make that learnt less, and no text that now judges.

    It knew fewer categories, or had fewer labels and all else the same. Any other is no start: what changed then is how
    a teacher is made or what is selected, and figures must not hang on what was tried before.
    """
    same = json.loads(json.dumps({name: value for name, value in about.items() if name not in GROWN}))
    for key, manifest in course.store.newest_first(kind):
        if {name: value for name, value in manifest.items() if name not in GROWN} != same:
            continue
        folder, knew, knows = course.store.folder(kind, key), set(manifest["categories"]), set(about["categories"])
        if not course.store.intact(kind, key) or not (knew < knows or (knew == knows and _grew(folder, course))):
            continue
        left_out = set(json.loads((folder / "judges.json").read_text(encoding="utf-8")))
        if left_out.issuperset(course.judges):
            return folder
    return None


def _grew(folder: Path, course: Course) -> bool:
    """Say whether there are more labels than a student had, and no other reason for another one."""
    had = json.loads((folder / ORIGIN).read_text(encoding="utf-8"))
    return had["made_of"] == course.origin["made_of"] and set(had["labels"]) < set(course.origin["labels"])


def go_on_from(folder: Path, network: Student, categories: list[str]) -> None:
    """Give a student another one's weights; outputs of categories that are new stay fresh."""
    weights = load_file(folder / "trained.safetensors")
    learnt = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["categories"]
    places = [categories.index(category) for category in learnt]
    fresh = network.state_dict()
    for name in ("head.weight", "head.bias"):
        grown = fresh[name].clone()
        grown[places] = weights[name]
        weights[name] = grown
    network.load_state_dict(weights, strict=False)
