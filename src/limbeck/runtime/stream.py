"""Answering a stream of texts, some at a time, in constant memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from itertools import islice
from typing import Any

from limbeck.runtime.predictor import Predictor
from limbeck.runtime.tagger import EntityPredictor

DIGITS = 4
# Texts that are answered together, on one machine or on many: batches, and so their answers, are the same.
AT_ONCE = 1024


def answers_to(
    predictor: Predictor, texts: Iterable[str], at_once: int, probabilities: bool = True
) -> Iterator[dict[str, Any]]:
    """Give an answer a text, in order, as plain values; `truncated` stands there only if a text's end was not read."""
    waiting = iter(texts)
    while some := list(islice(waiting, at_once)):
        for text, answer in zip(some, predictor.answers(some), strict=True):
            told: dict[str, Any] = {"text": text, "labels": list(answer.labels)}
            if probabilities:
                told["probabilities"] = {name: round(p, DIGITS) for name, p in answer.probabilities.items()}
            if answer.truncated:
                told["truncated"] = True
            yield told


def entities_in(predictor: EntityPredictor, texts: Iterable[str], at_once: int) -> Iterator[dict[str, Any]]:
    """Give the entities of each text, in order, as plain values."""
    waiting = iter(texts)
    while some := list(islice(waiting, at_once)):
        for text, found in zip(some, predictor.predict(some), strict=True):
            entities = [asdict(entity) | {"confidence": round(entity.confidence, DIGITS)} for entity in found]
            yield {"text": text, "entities": entities}
