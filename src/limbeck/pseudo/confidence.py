"""Which guesses are certain enough to learn from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from limbeck.config import PseudoSettings
from limbeck.errors import BadSetting, nearest
from limbeck.runtime.confidence import Doubles, confidence

Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Judged:
    """Guesses [texts, labels]: yes or no, how certain, how certain they must be, and whether they are.

    A cell that isn't `known` has no probability; it is neither certain nor uncertain.
    """

    known: Bools
    yes: Bools
    confidence: Doubles
    needed: Doubles

    @property
    def certain(self) -> Bools:
        """Whether a guess counts."""
        return self.known & (self.confidence >= self.needed)

    @property
    def lowest(self) -> Doubles:
        """Each text's least certain guess; 0 where nothing is known."""
        return np.where(self.known.any(axis=1), np.where(self.known, self.confidence, 1.0).min(axis=1, initial=1), 0.0)

    @property
    def highest(self) -> Doubles:
        """Each text's most certain guess; 0 where nothing is known."""
        return np.asarray(np.where(self.known, self.confidence, 0.0).max(axis=1, initial=0), dtype=np.float64)


@dataclass(frozen=True)
class Rule:
    """What makes a guess certain: a threshold a label, and the confidence that its yes and its no need.

    With `one_class` the most probable class is the guess, its probability is the confidence of the whole row, and
    thresholds play no part. With `leave_out` a text needs all its known guesses to be certain, otherwise one.
    """

    thresholds: Doubles
    yes_needs: Doubles
    no_needs: Doubles
    one_class: bool
    leave_out: bool

    @staticmethod
    def of(settings: PseudoSettings, labels: Sequence[str], thresholds: Doubles, one_class: bool) -> Rule:
        """Read the settings; a category's own confidence goes before that of its side."""
        for name in settings.categories:
            if name not in labels:
                raise BadSetting(f"pseudo.categories names '{name}', which is no category.", nearest(name, labels))
        yes = settings.positive_confidence or settings.confidence
        no = settings.negative_confidence or settings.confidence
        return Rule(
            thresholds=thresholds,
            yes_needs=np.array([settings.categories.get(label, yes) for label in labels]),
            no_needs=np.array([settings.categories.get(label, no) for label in labels]),
            one_class=one_class,
            leave_out=settings.uncertain == "leave-out",
        )

    def judge(self, proba: ArrayLike) -> Judged:
        """Judge calibrated probabilities [texts, labels]."""
        given = np.asarray(proba, dtype=np.float64)
        known = ~np.isnan(given)
        if self.one_class:
            best = np.where(known, given, -1).argmax(axis=1)
            yes = known & (np.arange(given.shape[1]) == best[:, None])
            certainty = np.broadcast_to(np.take_along_axis(given, best[:, None], axis=1), given.shape)
            return Judged(known, yes, certainty, np.broadcast_to(self.yes_needs[best][:, None], given.shape))
        yes = known & (given >= self.thresholds)
        return Judged(known, yes, confidence(given, self.thresholds), np.where(yes, self.yes_needs, self.no_needs))

    def stays(self, judged: Judged) -> Bools:
        """Say which texts are certain enough to learn from."""
        certain = judged.certain
        if self.leave_out:
            return np.asarray((certain | ~judged.known).all(axis=1) & judged.known.any(axis=1), dtype=np.bool_)
        return np.asarray(certain.any(axis=1), dtype=np.bool_)
