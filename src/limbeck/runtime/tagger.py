"""Finding entities with a bundle: from plain text to spans of characters."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from limbeck.errors import BundleBroken, Place
from limbeck.runtime.batches import batches_by_length
from limbeck.runtime.bundle import Bundle
from limbeck.runtime.lexicon import read_lexicon
from limbeck.runtime.manifest import Manifest, Tagging
from limbeck.runtime.session import open_session
from limbeck.runtime.viterbi import Moves, decode
from limbeck.runtime.wordforms import affixes_of, alphabet_of, characters_of
from limbeck.runtime.wordinputs import EncoderReader, Read, Reader, VectorReader, parts
from limbeck.scorer import Floats, Span
from limbeck.text.words import words

EMISSIONS = "emissions"
# Sentences that run together: larger batches leave the processor's cache.
AT_ONCE = 32
# Texts that are read before their sentences are sorted by length.
SORTED_TOGETHER = 4096
# After these a sentence may end.
ENDS = frozenset(".!?…。！？")
# Probabilities are kept this far from 0 and 1.
EDGE = 1e-6

Tags = NDArray[np.intp]
# The tags and scores of some words in a row, and where each of them stands in its text.
Part = tuple[tuple[Tags, Floats], Sequence[tuple[int, int]]]


@dataclass(frozen=True)
class Entity:
    """An entity in a text: its characters `start` (included) to `end` (excluded), its type, and how sure that is."""

    start: int
    end: int
    type: str
    text: str
    confidence: float


class EntityPredictor:
    """A bundle that finds entities, at work. It may be used from several threads at a time."""

    def __init__(self, bundle: Bundle, threads: int = 1) -> None:
        """Load the network; a batch is worked on by so many threads."""
        tagging = bundle.manifest.tagging
        if tagging is None:
            raise BundleBroken("This bundle finds no entities.", "Use limbeck.load.", Place(bundle.folder))
        self.manifest: Manifest = bundle.manifest
        self.threads = threads
        self.labels: tuple[str, ...] = tuple(label.name for label in bundle.manifest.labels)
        self.reader = reader_of(bundle.manifest, bundle.tokeniser)
        self._limits = {label.name: label.threshold for label in bundle.manifest.labels}
        self._moves, self._plain = moves_of(tagging, len(self.labels))
        self._run = open_session(bundle, threads)

    def predict(self, texts: Sequence[str]) -> list[list[Entity]]:
        """Give the entities of each text, in order; they never overlap."""
        return [
            [Entity(span.start, span.end, span.type, text[span.start : span.end], span.confidence) for span in spans]
            for text, spans in zip(texts, self.tag(texts), strict=True)
        ]

    def tag(self, sentences: Sequence[str]) -> list[list[Span]]:
        """Give the entities of each text by characters alone."""
        found: list[list[Span]] = []
        for start in range(0, len(sentences), SORTED_TOGETHER):
            found += self._tag(sentences[start : start + SORTED_TOGETHER])
        return found

    def emissions(self, sentences: Sequence[Sequence[str]]) -> list[Floats]:
        """Give the scores [words, tags] of sentences that are cut into words already."""
        found: list[list[Floats]] = [[] for _ in sentences]
        cut = [(row, tokens[a:b]) for row, tokens in enumerate(sentences) for a, b in self._parts(tokens)]
        for (row, _), scores in zip(cut, self._scores([tokens for _, tokens in cut]), strict=True):
            found[row].append(scores)
        empty = np.zeros((0, 2 * len(self.labels) + 1), dtype=np.float32)
        return [np.concatenate(scores) if scores else empty for scores in found]

    def _tag(self, texts: Sequence[str]) -> list[list[Span]]:
        return [self._found(text) for text in self.seen(texts)]

    def _found(self, text: Sequence[Part]) -> list[Span]:
        return [span for decoded, places in text for span in self._spans(decoded, places)]

    def seen(self, texts: Sequence[str]) -> list[list[Part]]:
        """Give the tags of each text's parts: nearly always one, none if it has no words."""
        _check(texts)
        places = [words(text) for text in texts]
        tokens = [[text[a:b] for a, b in mine] for text, mine in zip(texts, places, strict=True)]
        whole = [self._parts(mine) for mine in tokens]
        if len(whole) == 1 and len(whole[0]) == 1:
            return [[(self._one(tokens[0]), places[0])]]
        pieces = [tokens[row][a:b] for row, cut in enumerate(whole) for a, b in cut]
        decoded = self._decoded(pieces)
        return [
            [(next(decoded), mine[first:last]) for first, last in cut] for mine, cut in zip(places, whole, strict=True)
        ]

    def _parts(self, tokens: Sequence[str]) -> list[tuple[int, int]]:
        """Divide a text that is too long."""
        costs = self.reader.costs(tokens)
        if sum(costs) <= self.reader.most:
            return [(0, len(tokens))] if tokens else []
        return parts(costs, [token in ENDS for token in tokens], self.reader.most)

    def _one(self, words: Sequence[str]) -> tuple[Tags, Floats]:
        """Give the tags of one sentence, and its scores."""
        given = self.reader.collate([self.reader.read(words)])
        scores = self._run([EMISSIONS], dict(zip(self.reader.names, given, strict=True)))[0]
        [tags] = decode(scores, np.array((len(words),)), self._moves, self._plain)
        return tags, scores[0]

    def _decoded(self, pieces: Sequence[Sequence[str]]) -> Iterator[tuple[Tags, Floats]]:
        """Give each piece's tags, and its scores."""
        lengths = np.array([len(piece) for piece in pieces], dtype=np.intp)
        ready: list[tuple[Tags, Floats] | None] = [None] * len(pieces)
        for rows, scores in self._batches(pieces, lengths):
            tags = decode(scores, lengths[rows], self._moves, self._plain)
            for place, row in enumerate(rows):
                ready[row] = tags[place], scores[place, : lengths[row]]
        yield from (one for one in ready if one is not None)

    def _spans(self, decoded: tuple[Tags, Floats], places: Sequence[tuple[int, int]]) -> Iterator[Span]:
        tags, scores = decoded
        tagging = self.manifest.tagging
        assert tagging is not None
        for first, last, kind in entities(tags):
            likely = float(chosen_log(scores[first:last], tags[first:last]).sum())
            confidence = calibrated(likely, tagging.slope, tagging.offset)
            name = self.labels[kind]
            if confidence >= self._limits[name]:
                yield Span(places[first][0], places[last - 1][1], name, confidence)

    def _scores(self, pieces: Sequence[Sequence[str]]) -> list[Floats]:
        lengths = np.array([len(piece) for piece in pieces], dtype=np.intp)
        found: list[Floats] = [np.zeros(0, dtype=np.float32)] * len(pieces)
        for rows, scores in self._batches(pieces, lengths):
            for place, row in enumerate(rows):
                found[row] = scores[place, : lengths[row]]
        return found

    def _batches(
        self, pieces: Sequence[Sequence[str]], lengths: NDArray[np.intp]
    ) -> Iterator[tuple[NDArray[np.intp], Floats]]:
        reads: list[Read] = [self.reader.read(piece) for piece in pieces]
        for rows in batches_by_length(lengths, AT_ONCE):
            given = self.reader.collate([reads[row] for row in rows])
            yield rows, self._run([EMISSIONS], dict(zip(self.reader.names, given, strict=True)))[0]


def reader_of(manifest: Manifest, tokeniser: bytes) -> Reader:
    """Give what turns words into a bundle's inputs."""
    tagging, reading = manifest.tagging, manifest.reading
    assert tagging is not None
    unknown = reading.unknown_id if reading.unknown_id is not None else reading.pad_id
    if tagging.reads == "encoder":
        return EncoderReader(tokeniser, reading.max_tokens, reading.pad_id, unknown)
    return VectorReader(read_lexicon(tokeniser, reading.pad_id, unknown), marks_of(tagging.marks, tagging.alphabet))


def marks_of(kind: str, alphabet: str) -> Callable[[str], list[int]]:
    """Give what describes the form of a word."""
    return partial(characters_of, alphabet=alphabet_of(alphabet)) if kind == "characters" else affixes_of


def moves_of(tagging: Tagging, types: int) -> tuple[Moves, bool]:
    """Give what moves between tags score, and whether that is the same for all that BIO allows."""
    if not tagging.between:
        return Moves.bio(types), True
    learnt = Moves(*(np.array(told, dtype=np.float32) for told in (tagging.between, tagging.first, tagging.last)))
    return Moves.bio(types, learnt), False


def entities(tags: Sequence[int] | Tags) -> Iterator[tuple[int, int, int]]:
    """Give the entities of valid BIO tags, by number, as (first word, word after the last, number of the type)."""
    start, kind = -1, -1
    for at, tag in enumerate([*(tags if isinstance(tags, list) else np.asarray(tags).tolist()), 0]):
        inside = tag > 0 and tag % 2 == 0
        if start >= 0 and not inside:
            yield start, at, kind
            start = -1
        if tag % 2:
            start, kind = at, tag // 2


def chosen_log(scores: Floats, tags: Tags) -> Floats:
    """Give the log-probability of each word's tag among all, by its own scores [words, tags]."""
    highest = scores.max(axis=1, initial=0)
    total = np.log(np.exp(scores - highest[:, None]).sum(axis=1)) + highest
    chosen: Floats = scores[np.arange(len(tags)), tags] - total
    return chosen


def calibrated(log_probability: float, slope: float, offset: float) -> float:
    """Give an entity's confidence from the log-probability that its tags have together."""
    likely = min(max(math.exp(min(log_probability, 0.0)), EDGE), 1 - EDGE)
    return 1 / (1 + math.exp(-(slope * math.log(likely / (1 - likely)) + offset)))


def _check(texts: Any) -> None:  # noqa: ANN401 - whatever was given
    if isinstance(texts, str):
        raise TypeError("texts is one text; give a list: [text].")
    for place, text in enumerate(texts):
        if not isinstance(text, str):
            raise TypeError(f"texts[{place}] is {type(text).__name__}, not a text.")
