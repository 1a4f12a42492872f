"""Where a small tagger starts: its words or pieces, and their vectors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

import numpy as np

from limbeck.errors import BadSetting
from limbeck.runtime.lexicon import PAD, UNKNOWN, word_list
from limbeck.runtime.wordforms import simple_form
from limbeck.scorer import Floats
from limbeck.students.vectors import narrowed, vectors_by_chance, vectors_of_encoder, vectors_of_texts
from limbeck.students.wordvectors import WordVectors, read_word_vectors
from limbeck.tagging.course import TagCourse
from limbeck.tagging.teacher import tokeniser_of
from limbeck.training.tokens import Tokens

# How wide vectors are that don't come from files, by size.
WIDTHS = {"small": 48, "medium": 96, "large": 160}
# A word without a vector in any file has its own if it stands in so many places.
OFTEN = 5
# Texts that the teacher reads to say what its pieces mean.
READ = 10_000
VECTORS_KIND = "tasks/piece-vectors"
# Words that share a vector, on average, unless that makes too many vectors.
SHARE, MOST_SHARED = 30, 4000
SHARED_KIND = "tasks/words-alike"


@dataclass(frozen=True)
class Start:
    """A lexicon as tokenizer.json, its numbers of padding and of unknown words, and vectors [words, width]."""

    told: bytes
    pad_id: int
    unknown_id: int
    vectors: Floats


def start_of(course: TagCourse) -> Start:
    """Give what the settings ask for: pieces with the teacher's vectors, or words with vectors from elsewhere."""
    settings = course.config.students
    if settings.vectors == "teacher":
        return _pieces_of_teacher(course)
    counts = Counter(simple_form(word) for sentence in course.sentences for word in sentence)
    if settings.vectors == "files":
        if not settings.vector_files:
            raise BadSetting('students.vectors = "files" needs files.', "Set students.vector_files.")
        files = [read_word_vectors(entry, course.root) for entry in settings.vector_files]
        most = settings.vocabulary + settings.shared_words
        every = _listed(counts, files, most)
        listed, others = every[: max(settings.vocabulary, 2)], every[max(settings.vocabulary, 2) :]
        vectors = _looked_up(listed, files, course.config.seed)
        shared = _alike(others, files, course)
        return Start(word_list(listed, shared.words), 0, 1, np.concatenate([vectors, shared.vectors]))
    listed = [PAD, UNKNOWN, *(word for word, times in counts.most_common(settings.vocabulary) if times > 1)]
    width = WIDTHS[settings.size]
    if settings.vectors == "pool":
        numbers = {word: number for number, word in enumerate(listed)}
        ids = [
            np.array([numbers.get(simple_form(word), 1) for word in sentence], dtype=np.int32)
            for sentence in course.sentences
        ]
        vectors = narrowed(vectors_of_texts(ids, len(listed), width, course.config.seed), width)
    else:
        vectors = vectors_by_chance(len(listed), width, course.config.seed)
    return Start(word_list(listed), 0, 1, vectors)


def _listed(counts: Counter[str], files: Sequence[WordVectors], most: int) -> list[str]:
    """List words: those of the texts that a file knows or that are frequent, then the files' own, in their order."""
    known = [word for word, times in counts.most_common() if times >= OFTEN or _found(word, files)]
    listed = dict.fromkeys([PAD, UNKNOWN, *known])
    for words in files:
        if words.pieces:
            continue
        for word in words.words:
            if len(listed) >= most:
                break
            listed.setdefault(simple_form(word))
    return list(listed)[: max(most, 2)]


@dataclass(frozen=True)
class Shared:
    """Words that share a vector, by vector, and the vectors [rows, width]."""

    words: list[list[str]]
    vectors: Floats


def _alike(words: Sequence[str], files: Sequence[WordVectors], course: TagCourse) -> Shared:
    """Put words of the files that are alike together: a name that is rare is worth knowing as a name."""
    known = [word for word in words if " " not in word and _found(word, files)]
    seed = course.config.seed
    if len(known) <= SHARE:
        return Shared([], np.zeros((0, sum(file.width for file in files)), dtype=np.float32))
    # Its first two rows are those of no word.
    theirs = _looked_up([PAD, UNKNOWN, *known], files, seed)[2:]
    about = {"vectors": sha256(theirs.tobytes()).hexdigest(), "seed": seed}
    group = course.remembered(SHARED_KIND, about, lambda: _grouped(theirs, seed)).astype(np.intp)
    rows = np.unique(group)
    alike: dict[int, list[str]] = {row: [] for row in rows.tolist()}
    for word, row in zip(known, group.tolist(), strict=True):
        alike[row].append(word)
    return Shared(list(alike.values()), np.stack([theirs[group == row].mean(axis=0) for row in rows]))


def _grouped(vectors: Floats, seed: int) -> Floats:
    """Give each vector the number of a group of vectors of about the same direction, `SHARE` on average."""
    from sklearn.cluster import MiniBatchKMeans

    unit = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    groups = min(MOST_SHARED, max(1, len(vectors) // SHARE))
    fitted = MiniBatchKMeans(groups, batch_size=4096, n_init=1, max_iter=15, random_state=seed).fit(unit)
    return np.asarray(fitted.labels_, dtype=np.float32)


def _found(word: str, files: Sequence[WordVectors]) -> bool:
    return any(words.find(word) is not None for words in files)


def _looked_up(listed: Sequence[str], files: Sequence[WordVectors], seed: int) -> Floats:
    """Give the vectors of words, those of several files side by side; what isn't found starts small at random."""
    rng = np.random.default_rng(seed)
    parts = []
    for words in files:
        found = [words.find(word) for word in listed]
        known = np.array([vector is not None for vector in found])
        known[:2] = False
        table = rng.normal(0.0, 0.1, (len(listed), words.width)).astype(np.float32)
        if known.any():
            given = np.stack([vector for vector, use in zip(found, known, strict=True) if use and vector is not None])
            table[known] = given / max(float(given.std()), 1e-9)
        parts.append(table)
    return np.concatenate(parts, axis=1)


def _pieces_of_teacher(course: TagCourse) -> Start:
    """Take the encoder's pieces, each with what the taught encoder says of it where it stands in the texts."""
    encoder = course.teacher.card.encoder
    told, pad_id, unknown_id = tokeniser_of(encoder.folder)
    tokens = Tokens(encoder.folder, course.config.encoder.max_tokens)
    vocabulary = [""] * len(tokens.tokenizer)
    for piece, number in tokens.tokenizer.get_vocab().items():
        vocabulary[number] = piece
    texts = [" ".join(sentence) for sentence in course.sentences[:READ]]

    def make() -> Floats:
        found, often = vectors_of_encoder(course.teacher.taught_encoder(), tokens, vocabulary, texts)
        return narrowed(found, WIDTHS[course.config.students.size], often)

    vectors = course.remembered(VECTORS_KIND, {"texts": texts, "size": course.config.students.size}, make)
    return Start(told, pad_id, unknown_id, vectors)
