"""Any tagger as what finds entities in plain text: words, scores of tags, the best of them, spans of characters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from limbeck.progress import progress
from limbeck.runtime.tagger import ENDS, calibrated, chosen_log, entities
from limbeck.runtime.viterbi import Moves
from limbeck.runtime.wordinputs import Reader, parts
from limbeck.scorer import Floats, Span
from limbeck.tagging.examples import Tags
from limbeck.tagging.lesson import tags_of
from limbeck.text.words import words

Words = Sequence[str]
# Sentences whose scores are held in memory together.
AT_ONCE = 2048


class WordScorer(Protocol):
    """A tagger that scores the tags of words: O, then B- and I- of each type."""

    @property
    def labels(self) -> tuple[str, ...]:
        """The entity types."""
        ...

    @property
    def moves(self) -> tuple[Moves, bool]:
        """What moves between tags score, and whether that is the same for all that BIO allows."""
        ...

    def emissions(self, sentences: Sequence[Words]) -> list[Floats]:
        """Give scores [words, tags] of each sentence."""
        ...


@dataclass(frozen=True)
class Confidence:
    """How the log-odds that an entity's tags have together become a probability that it is right."""

    slope: float = 1.0
    offset: float = 0.0


def find_entities(scorer: WordScorer, texts: Sequence[str], confidence: Confidence | None = None) -> list[list[Span]]:
    """Give the entities of each text, by its characters."""
    told = confidence or Confidence()
    found: list[list[Span]] = []
    for start in progress(range(0, len(texts), AT_ONCE), "finding entities", -(-len(texts) // AT_ONCE)):
        some = texts[start : start + AT_ONCE]
        places = [words(text) for text in some]
        tokens = [[text[a:b] for a, b in mine] for text, mine in zip(some, places, strict=True)]
        scores = scorer.emissions(tokens)
        tags = tags_of(scores, scorer.moves)
        for one, mine, at in zip(scores, tags, places, strict=True):
            found.append(list(_spans(one, mine, at, scorer.labels, told)))
    return found


def _spans(
    scores: Floats, tags: Tags, places: Sequence[tuple[int, int]], types: Sequence[str], told: Confidence
) -> Iterator[Span]:
    likely = chosen_log(scores, tags) if len(tags) else np.zeros(0, dtype=np.float32)
    for first, last, kind in entities(tags):
        confidence = calibrated(float(likely[first:last].sum()), told.slope, told.offset)
        yield Span(places[first][0], places[last - 1][1], types[kind], confidence)


def in_parts(reader: Reader, sentences: Sequence[Words]) -> tuple[list[Words], list[int]]:
    """Divide sentences that are too long for a network; give the parts, and the sentence that each is of."""
    found: list[Words] = []
    of: list[int] = []
    for row, sentence in enumerate(sentences):
        for first, last in parts(reader.costs(sentence), [word in ENDS for word in sentence], reader.most):
            found.append(sentence[first:last])
            of.append(row)
    return found, of


def together(scores: Sequence[Floats], of: Sequence[int], sentences: int, tags: int) -> list[Floats]:
    """Put the scores of parts together again."""
    found: list[list[Floats]] = [[np.zeros((0, tags), dtype=np.float32)] for _ in range(sentences)]
    for row, mine in zip(of, scores, strict=True):
        found[row].append(mine)
    return [np.concatenate(mine) for mine in found]


def log_softmax(scores: Floats) -> Floats:
    """Give log-probabilities [words, tags]."""
    high = scores - scores.max(axis=1, keepdims=True, initial=0)
    return np.asarray(high - np.log(np.exp(high).sum(axis=1, keepdims=True)), dtype=np.float32)
