"""What a round learns: a committee of small models, how good it is, and what it says of candidates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from limbeck.annotate.strategies import Chunk, Known
from limbeck.config import Config, Project
from limbeck.data.dataset import Dataset
from limbeck.data.prepare import Prepared, prepare, read_corpus
from limbeck.data.splits import JUDGING
from limbeck.measure import bootstrap_interval, decide, decide_classes
from limbeck.scorer import Floats
from limbeck.store import Store
from limbeck.teach.encoders import find_encoder
from limbeck.teach.features import FeatureCache
from limbeck.teach.heads import level
from limbeck.teach.lessons import Lessons
from limbeck.teach.probe import ProbeTeacher
from limbeck.teach.teach_probe import teach_probe

# Few and small, so that a round takes seconds: three folds are a committee, four layers say nearly all.
FOLDS, LAYERS = 3, "last-four"
# Fewer positives say too little of how good a model is.
LEAST_POSITIVES = 5
# Texts from which it is seen what all have in common, at most and at least.
COMMON, LEAST_COMMON = 2000, 20


@dataclass(frozen=True)
class Estimate:
    """F1 with its 95 % interval, and what it was found on."""

    f1: float
    low: float
    high: float
    on: str


class Learnt(Protocol):
    """What rounds need of a model, whatever the question."""

    @property
    def known(self) -> Known:
        """What is labelled."""
        ...

    @property
    def labels(self) -> int:
        """How many texts are labelled."""
        ...

    @property
    def seen(self) -> Sequence[str]:
        """Texts that need not be asked about: they are labelled, or they judge."""
        ...

    def estimate(self) -> Estimate | None:
        """Say how good it is, if that can be said."""
        ...

    def look(self, rows: NDArray[np.int64], texts: Sequence[str]) -> Any:  # noqa: ANN401 - a chunk of the task's kind
        """Give what strategies are told of candidates."""
        ...

    def guesses(self, texts: Sequence[str]) -> list[dict[str, Any]]:
        """Give what is kept of the model's opinion with each text; nothing without a model."""
        ...


class LearntTexts:
    """A probe a category, on features that are computed once."""

    def __init__(self, project: Project, categories: Sequence[str], store: Store) -> None:
        """Learn from all labels of these categories that the project has."""
        config = _quick(project.config)
        prepared = prepare(read_corpus(project), config).prepared
        self._categories = list(categories)
        self._one_class = config.task == "multiclass"
        train = _columns(prepared.train, self._categories)
        mine = np.flatnonzero(~np.isnan(train.labels).all(axis=1))
        parts = Prepared(
            train.take(mine),
            prepared.folds[mine],
            _columns(prepared.dev, self._categories),
            prepared.halves,
            prepared.test,
        )
        encoder = find_encoder(config.encoder.name, project.root)
        self._prepared, self._cache = parts, FeatureCache(store, encoder, config.encoder.max_tokens)
        self._directions = Directions(self._cache)
        self._teacher: ProbeTeacher | None = None
        if len(mine):
            lessons = Lessons(parts, config, encoder, store, {}, root=project.root)
            self.missing = lessons.skipped()
            if len(self.missing) < len(self._categories):
                taught = teach_probe(lessons)
                assert isinstance(taught.teacher, ProbeTeacher)
                self._teacher, self._out_of_fold = taught.teacher, taught.out_of_fold

    @property
    def taught(self) -> bool:
        """Whether there are labels enough for a model."""
        return self._teacher is not None

    @property
    def labels(self) -> int:
        """How many texts are labelled."""
        return len(self._prepared.train)

    @property
    def seen(self) -> Sequence[str]:
        """Texts all of whose categories are known, and those that judge."""
        train, test = self._prepared.train, self._prepared.test
        settled = np.flatnonzero(~np.isnan(train.strong).any(axis=1))
        judges = [*self._prepared.dev.texts, *(test.texts if test else [])]
        return [*(train.texts[row] for row in settled), *judges]

    @property
    def known(self) -> Known:
        """What is labelled, as strategies see it."""
        return Known(self._directions(self._prepared.train.texts), self._prepared.train.labels)

    def estimate(self) -> Estimate | None:
        """Judge by dev's judging half, or, where that has too few positives, by the folds."""
        if self._teacher is None:
            return None
        judges = self._prepared.dev_half(JUDGING)
        enough = np.nansum(judges.labels == 1, axis=0) >= LEAST_POSITIVES
        if enough.all():
            proba = self._teacher.with_cache(self._cache).predict_proba(judges.texts)
            return self._judged(judges.labels, proba, "dev")
        if np.nansum(self._prepared.train.strong == 1) < LEAST_POSITIVES:
            return None
        return self._judged(self._prepared.train.strong, self._out_of_fold, "cross-validation")

    def _judged(self, truth: Floats, proba: Floats, on: str) -> Estimate:
        assert self._teacher is not None
        thresholds = self._teacher.card.thresholds
        decisions = decide_classes(proba) if self._one_class else decide(np.nan_to_num(proba), thresholds)
        found = bootstrap_interval(truth, decisions, rounds=200)
        return Estimate(found.estimate, found.low, found.high, on)

    def look(self, rows: NDArray[np.int64], texts: Sequence[str]) -> Chunk:
        """Give committee and embeddings of candidates; without a model, even odds."""
        vectors = self._cache(texts)
        if self._teacher is None:
            even = np.full((1, len(texts), len(self._categories)), 0.5)
            return Chunk(
                rows, even, even[0, 0] if len(texts) else even[0].mean(axis=0), self._directions(texts, vectors)
            )
        committee = self._teacher.score_vectors(vectors)
        return Chunk(rows, committee, self._teacher.card.thresholds, self._directions(texts, vectors), self._one_class)

    def guesses(self, texts: Sequence[str]) -> list[dict[str, Any]]:
        """Give probabilities and labels."""
        if self._teacher is None or not texts:
            return [{} for _ in texts]
        proba = self._teacher.score_vectors(self._cache(texts)).mean(axis=0)
        yes = decide_classes(proba) if self._one_class else decide(proba, self._teacher.card.thresholds)
        return [
            {
                "labels": [name for name, taken in zip(self._categories, mine, strict=True) if taken],
                "probabilities": {n: round(float(p), 4) for n, p in zip(self._categories, row, strict=True)},
            }
            for row, mine in zip(proba, yes, strict=True)
        ]


def _quick(config: Config) -> Config:
    probe = config.probe.model_copy(update={"layers": LAYERS, "head": "linear"})
    return config.model_copy(update={"probe": probe, "teach": config.teach.model_copy(update={"folds": FOLDS})})


def _columns(dataset: Dataset, categories: Sequence[str]) -> Dataset:
    """Give the columns of these categories; those that no file knows are unknown everywhere."""
    labels = np.full((len(dataset), len(categories)), np.nan, dtype=np.float32)
    weights = np.ones_like(labels) if len(dataset.weights) else dataset.weights
    for column, name in enumerate(categories):
        if name in dataset.names:
            labels[:, column] = dataset.column(name)
            if len(weights):
                weights[:, column] = dataset.weights[:, dataset.names.index(name)]
    return Dataset(dataset.texts, labels, tuple(categories), weights=weights)


class Directions:
    """One vector a text for strategies: the mean of the encoder's last layers, less what all texts have in common.

    Some encoders put every text near every other; what is left then is what tells texts apart.
    """

    def __init__(self, cache: FeatureCache) -> None:
        """Read vectors from `cache`."""
        self._cache = cache
        self._common: Floats | None = None

    def __call__(self, texts: Sequence[str], vectors: Floats | None = None) -> Floats:
        """Give [texts, width]; the first texts that are seen say what is common."""
        if not texts:
            return np.zeros((0, self._cache(["a"]).shape[2] if self._common is None else len(self._common)), np.float32)
        mean = level(self._cache(texts) if vectors is None else vectors)[:, -4:].mean(axis=1)
        if self._common is None:
            self._common = np.asarray(mean[:COMMON].mean(axis=0) * (len(mean) >= LEAST_COMMON), dtype=np.float32)
        return np.asarray(mean - self._common, dtype=np.float32)
