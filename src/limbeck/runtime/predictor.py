"""Answering with a bundle: a short way for one text, batches by length for many."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from limbeck.errors import BundleBroken
from limbeck.runtime.batches import batches_by_length
from limbeck.runtime.bundle import Bundle
from limbeck.runtime.manifest import Manifest
from limbeck.runtime.session import open_session
from limbeck.runtime.tokenise import Tokenised, Tokeniser
from limbeck.scorer import Floats
from limbeck.text import Cleaner

# Windows that run together: larger batches leave the processor's cache.
AT_ONCE = 32
# Texts that are tokenised before their windows are sorted by length.
SORTED_TOGETHER = 4096
PROBABILITIES, EMBEDDING = "probabilities", "embedding"


class LongText(UserWarning):
    """Part of a text was not read."""


@dataclass(frozen=True)
class Answer:
    """What a bundle says of one text; `truncated` means that its end was not read."""

    labels: tuple[str, ...]
    probabilities: dict[str, float]
    tokens: int
    windows: int
    truncated: bool


@dataclass(frozen=True)
class Scored:
    """Probabilities [texts, labels], how each text was read, and the seconds that reading took."""

    proba: Floats
    read: list[Tokenised]
    reading: float


class Predictor:
    """A bundle at work. It may be used from several threads at a time."""

    def __init__(self, bundle: Bundle, threads: int = 1, warn: bool = True) -> None:
        """Load the network; one text is worked on by so many threads, and so many batches run at a time.

        With `warn`, the first text whose end isn't read is told of in a warning; answers always tell.
        """
        self.manifest: Manifest = bundle.manifest
        self.threads = threads
        self.labels: tuple[str, ...] = tuple(label.name for label in bundle.manifest.labels)
        self.thresholds: Floats = np.array([label.threshold for label in bundle.manifest.labels], dtype=np.float32)
        reading = bundle.manifest.reading
        windows = reading.max_windows if reading.long_texts == "windows" else 1
        self.tokeniser = Tokeniser(bundle.tokeniser, reading.max_tokens, reading.overlap, windows)
        self._clean = Cleaner(reading.clean)
        self._pad_id = reading.pad_id
        self._mean = reading.combine == "mean"
        self._one_class = bundle.manifest.task == "multiclass"
        self.bundle = bundle
        self._run = open_session(bundle, threads)
        self._ones = np.ones((1, reading.max_tokens), dtype=np.int64)
        self._warned = not warn

    def predict(self, texts: Sequence[str]) -> list[list[str]]:
        """Give each text's labels: all past their thresholds or, if one class is right, the likeliest."""
        return self.chosen(self.predict_proba(texts))

    def predict_proba(self, texts: Sequence[str]) -> Floats:
        """Give probabilities [texts, labels]."""
        given = checked(texts)
        if len(given) == 1:
            read = self.read(given[0])
            if len(read.windows) == 1:
                return self._one(read.windows[0], PROBABILITIES)
        proba, _ = self._many(given, PROBABILITIES)
        return proba

    def score(self, texts: Sequence[str]) -> Scored:
        """Give probabilities and all that was seen on the way, for who answers many."""
        began = time.perf_counter()
        if len(texts) == 1:
            read = self.read(texts[0])
            if len(read.windows) == 1:
                reading = time.perf_counter() - began
                return Scored(self._one(read.windows[0], PROBABILITIES), [read], reading)
        proba, seen, reading = self._seen(texts, PROBABILITIES)
        return Scored(proba, seen, reading)

    def embed(self, texts: Sequence[str]) -> Floats:
        """Give the vectors [texts, width] that the last layer reads; of several windows, the mean."""
        if not self.manifest.model.embedding:
            raise BundleBroken("This bundle gives no embeddings.", "Make it again with compress.embedding = true.")
        found, _ = self._many(checked(texts), EMBEDDING)
        return found

    def answer(self, text: str) -> Answer:
        """Give all that is known of one text."""
        return self.answers([text])[0]

    def answers(self, texts: Sequence[str]) -> list[Answer]:
        """Give all that is known of each text."""
        proba, read = self._many(checked(texts), PROBABILITIES)
        return [
            Answer(
                tuple(self._chosen(row)),
                dict(zip(self.labels, row.tolist(), strict=True)),
                sum(map(len, one.windows)),
                len(one.windows),
                one.cut,
            )
            for row, one in zip(proba, read, strict=True)
        ]

    def chosen(self, proba: Floats) -> list[list[str]]:
        """Give the labels that probabilities [texts, labels] stand for."""
        return [self._chosen(row) for row in proba]

    def _chosen(self, row: Floats) -> list[str]:
        if self._one_class:
            return [self.labels[int(row.argmax())]]
        return [self.labels[column] for column in np.flatnonzero(row >= self.thresholds)]

    def read(self, text: str) -> Tokenised:
        """Clean and tokenise a text; the first time that an end is cut off, warn."""
        read = self.tokeniser(self._clean(text))
        if read.cut and not self._warned:
            self._warned = True
            limit = self.manifest.reading.max_tokens
            warnings.warn(
                f"The end of a text was not read: it has more than {len(read.windows) * limit} tokens.",
                LongText,
                stacklevel=4,
            )
        return read

    def _one(self, window: list[int], output: str) -> Floats:
        ids = np.array((window,), dtype=np.int64)
        found: Floats = self._run([output], {"input_ids": ids, "attention_mask": self._ones[:, : len(window)]})[0]
        return found

    def _many(self, texts: Sequence[str], output: str) -> tuple[Floats, list[Tokenised]]:
        proba, read, _ = self._seen(texts, output)
        return proba, read

    def _seen(self, texts: Sequence[str], output: str) -> tuple[Floats, list[Tokenised], float]:
        width = len(self.labels) if output == PROBABILITIES else self.manifest.model.embedding
        parts: list[Floats] = [np.zeros((0, width), dtype=np.float32)]
        read: list[Tokenised] = []
        reading = 0.0
        for start in range(0, len(texts), SORTED_TOGETHER):
            began = time.perf_counter()
            some = [self.read(text) for text in texts[start : start + SORTED_TOGETHER]]
            reading += time.perf_counter() - began
            windows = [window for one in some for window in one.windows]
            scores = np.zeros((len(windows), width), dtype=np.float32)
            for rows, found in self._batches(windows, output):
                scores[rows] = found
            parts.append(self._together(scores, some, output))
            read += some
        return np.concatenate(parts), read, reading

    def _together(self, scores: Floats, read: Sequence[Tokenised], output: str) -> Floats:
        """Make one row of each text's windows."""
        counts = np.array([len(one.windows) for one in read])
        if (counts == 1).all():
            return scores
        starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
        mean = self._mean or output == EMBEDDING or self._one_class
        joined = np.add.reduceat(scores, starts) / counts[:, None] if mean else np.maximum.reduceat(scores, starts)
        return np.asarray(joined, dtype=np.float32)

    def _batches(self, windows: Sequence[list[int]], output: str) -> Iterator[tuple[NDArray[np.intp], Floats]]:
        lengths = np.array([len(window) for window in windows], dtype=np.intp)
        groups = batches_by_length(lengths, AT_ONCE)

        def run(rows: NDArray[np.intp]) -> Floats:
            ids = np.full((len(rows), lengths[rows[0]]), self._pad_id, dtype=np.int64)
            mask = np.zeros_like(ids)
            for place, row in enumerate(rows):
                ids[place, : lengths[row]] = windows[row]
                mask[place, : lengths[row]] = 1
            found: Floats = self._run_batch([output], {"input_ids": ids, "attention_mask": mask})[0]
            return found

        if self.threads == 1 or len(groups) == 1:
            yield from ((rows, run(rows)) for rows in groups)
        else:
            from concurrent.futures import ThreadPoolExecutor  # takes longer to load than many an answer

            with ThreadPoolExecutor(self.threads) as workers:
                yield from zip(groups, workers.map(run, groups), strict=True)

    @cached_property
    def _run_batch(self) -> Any:  # noqa: ANN401 - onnxruntime has no types
        """A session that leaves the other threads to other batches."""
        return self._run if self.threads == 1 else open_session(self.bundle, 1, callers=self.threads)


def checked(texts: Sequence[str]) -> Sequence[str]:
    """Give the texts; anything that is no list of them is an error."""
    if isinstance(texts, str):
        raise TypeError("texts is one text; give a list: [text].")
    for place, text in enumerate(texts):
        if not isinstance(text, str):
            raise TypeError(f"texts[{place}] is {type(text).__name__}, not a text.")
    return texts
