"""Two models in one bundle: the small one answers where it is sure, the larger one where it isn't."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from limbeck.errors import BundleBroken, Place
from limbeck.runtime.bundle import Bundle
from limbeck.runtime.confidence import confidence
from limbeck.runtime.predictor import PROBABILITIES, Predictor, Scored, checked
from limbeck.runtime.tokenise import Tokenised
from limbeck.scorer import Floats


@dataclass(frozen=True)
class Passing:
    """How answers of a small model are put in the terms of a larger one, and which of them are passed on."""

    mine: Floats
    theirs: Floats
    limit: float
    one_class: bool

    def sure(self, proba: Floats) -> Floats:
        """Give how sure each row of the small model's probabilities is: that of its least certain category."""
        if self.one_class:
            return np.asarray(proba.max(axis=1), dtype=np.float32)
        return np.asarray(confidence(proba, self.mine).min(axis=1), dtype=np.float32)

    def moved(self, proba: Floats) -> Floats:
        """Move the small model's probabilities so that its thresholds come to lie where the larger one's are."""
        if self.one_class:
            return proba
        mine, theirs = self.mine.astype(np.float64), self.theirs.astype(np.float64)
        below = proba * (theirs / np.maximum(mine, _TINY))
        above = theirs + (proba - mine) * ((1 - theirs) / np.maximum(1 - mine, _TINY))
        yes = proba >= self.mine
        found = np.where(yes, np.maximum(above, self.theirs), below).astype(np.float32)
        # Rounding must not turn a no into a yes.
        return np.where(
            yes, np.maximum(found, self.theirs), np.minimum(found, np.nextafter(self.theirs, np.float32(0)))
        )


_TINY = 1e-12


class Cascade(Predictor):
    """A bundle of two models at work; `passed_on` and `asked` count what the larger one had to answer."""

    def __init__(self, bundle: Bundle, threads: int = 1, warn: bool = True) -> None:
        """Load both."""
        told = bundle.manifest.cascade
        if told is None or bundle.larger is None:
            raise BundleBroken("This bundle holds one model.", "Use limbeck.load.", Place(bundle.folder))
        super().__init__(bundle, threads, warn)
        self.larger = Predictor(bundle.larger, threads, warn=False)
        self.passing = Passing(
            np.array(told.thresholds, dtype=np.float32), self.thresholds, told.confidence, self._one_class
        )
        self.asked = self.passed_on = 0

    def predict_proba(self, texts: Sequence[str]) -> Floats:
        """Give probabilities [texts, labels]."""
        return self.score(checked(texts)).proba

    def score(self, texts: Sequence[str]) -> Scored:
        """Give probabilities and all that was seen on the way."""
        found = super().score(texts)
        proba = self.passing.moved(found.proba)
        unsure = np.flatnonzero(self.passing.sure(found.proba) < self.passing.limit).tolist()
        self.asked += len(texts)
        if not unsure:
            return Scored(proba, found.read, found.reading)
        self.passed_on += len(unsure)
        proba[unsure] = self.larger.predict_proba([texts[row] for row in unsure])
        return Scored(proba, found.read, found.reading)

    def _many(self, texts: Sequence[str], output: str) -> tuple[Floats, list[Tokenised]]:
        if output != PROBABILITIES:
            return super()._many(texts, output)
        found = self.score(texts)
        return found.proba, found.read
