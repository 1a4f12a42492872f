"""What a round learns about entities: a probe over the words of a frozen encoder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from limbeck.annotate.strategies import Known, TaggedChunk
from limbeck.config import Project
from limbeck.data.splits import JUDGING
from limbeck.data.tagged import prepare_sentences, read_tagged
from limbeck.labelling.learnt import FOLDS, Directions, Estimate
from limbeck.measure.bootstrap import entity_interval
from limbeck.measure.entities import exact_counts
from limbeck.store import Store
from limbeck.tagging.scorer import find_entities
from limbeck.tagging.teach import TagLessons, teach_tagger
from limbeck.teach.encoders import find_encoder
from limbeck.teach.features import FeatureCache
from limbeck.text.words import words

# Sentences that judge each round: more would take longer than learning.
JUDGES = 600


class LearntTags:
    """A probe for entities; the project always has some tagged sentences to begin with."""

    taught = True

    def __init__(self, project: Project, store: Store) -> None:
        """Learn from all tagged sentences of the project."""
        config = project.config
        quick = config.model_copy(
            update={
                "teach": config.teach.model_copy(update={"kind": "probe", "folds": min(FOLDS, config.split.folds)}),
                "probe": config.probe.model_copy(update={"layers": "last-four"}),
            }
        )
        self._prepared = prepare_sentences(read_tagged(project), config)
        encoder = find_encoder(config.encoder.name, project.root)
        self._cache = FeatureCache(store, encoder, config.encoder.max_tokens)
        self._directions = Directions(self._cache)
        self._teacher = teach_tagger(TagLessons(self._prepared, quick, encoder, store, {})).teacher

    @property
    def labels(self) -> int:
        """How many sentences are tagged."""
        return len(self._prepared.train)

    @property
    def seen(self) -> Sequence[str]:
        """Sentences that are tagged, and those that judge."""
        return [s.text for s in (*self._prepared.train, *self._prepared.dev, *self._prepared.test)]

    @property
    def known(self) -> Known:
        """What is tagged, as strategies see it."""
        texts = [sentence.text for sentence in self._prepared.train]
        return Known(self._directions(texts), np.zeros((len(texts), 1), dtype=np.float32))

    def estimate(self) -> Estimate | None:
        """Judge by sentences of dev's judging half."""
        judges = self._prepared.dev_half(JUDGING)[:JUDGES]
        if not judges:
            return None
        truth = [sentence.spans() for sentence in judges]
        found = find_entities(self._teacher, [sentence.text for sentence in judges])
        counted = entity_interval(exact_counts(truth, found), rounds=200)
        return Estimate(counted.estimate, counted.low, counted.high, "dev")

    def look(self, rows: NDArray[np.int64], texts: Sequence[str]) -> TaggedChunk:
        """Give the tags' probabilities of each word, and embeddings."""
        tokens = [[text[a:b] for a, b in words(text)] for text in texts]
        proba = [np.exp(scores) for scores in self._teacher.emissions(tokens)]
        return TaggedChunk(rows, proba, self._directions(texts))

    def guesses(self, texts: Sequence[str]) -> list[dict[str, Any]]:
        """Give the entities that it finds."""
        found = find_entities(self._teacher, texts)
        return [
            {"entities": [{**asdict(span), "confidence": round(span.confidence, 4)} for span in one]} for one in found
        ]
