"""Two taggers in one bundle: the small one tags the texts that it is sure of, the larger one the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from limbeck.errors import BundleBroken, Place
from limbeck.runtime.bundle import Bundle
from limbeck.runtime.manifest import Label
from limbeck.runtime.tagger import EntityPredictor, Part, chosen_log
from limbeck.scorer import Span


class EntityCascade(EntityPredictor):
    """A bundle of two taggers at work; `passed_on` and `asked` count the texts that the larger one had to tag."""

    def __init__(self, bundle: Bundle, threads: int = 1) -> None:
        """Load both."""
        told = bundle.manifest.cascade
        if told is None or bundle.larger is None:
            raise BundleBroken("This bundle holds one model.", "Use limbeck.load.", Place(bundle.folder))
        super().__init__(small_of(bundle), threads)
        self.manifest = bundle.manifest
        self.larger = EntityPredictor(bundle.larger, threads)
        self.limit = told.confidence
        self.asked = self.passed_on = 0

    def _tag(self, texts: Sequence[str]) -> list[list[Span]]:
        read = self.seen(texts)
        unsure = [place for place, text in enumerate(read) if sureness(text) < self.limit]
        self.asked += len(texts)
        self.passed_on += len(unsure)
        found = [self._found(text) for text in read]
        for place, spans in zip(unsure, self.larger.tag([texts[place] for place in unsure]), strict=True):
            found[place] = spans
        return found


def small_of(bundle: Bundle) -> Bundle:
    """Give the small tagger of a cascade alone, with thresholds of its own."""
    told = bundle.manifest.cascade
    assert told is not None
    limits = zip(bundle.manifest.labels, told.thresholds, strict=True)
    labels: list[Label] = [replace(label, threshold=limit) for label, limit in limits]
    return replace(bundle, manifest=replace(bundle.manifest, labels=labels, cascade=None), larger=None)


def sureness(text: Sequence[Part]) -> float:
    """Give the probability of the tag that a text's tagger is least sure of; 1 for a text without words."""
    worst = [float(chosen_log(scores, tags).min(initial=0.0)) for (tags, scores), _ in text]
    return float(np.exp(min(worst, default=0.0)))
