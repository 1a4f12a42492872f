"""What a kind of baseline is, and which there are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from limbeck.baselines.boosted import Boosted
from limbeck.baselines.logistic import Logistic
from limbeck.baselines.svm import RbfSvm
from limbeck.baselines.task import FitTask


class Model(Protocol):
    """A trained model of one category, or of several whose labels are complete."""

    @classmethod
    def fit(cls, task: FitTask) -> Self:
        """Train on a task."""
        ...

    def predict_proba(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Give probabilities [texts, columns of the task]."""
        ...

    def save(self, folder: Path) -> None:
        """Write the model without pickle."""
        ...

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read what `save` wrote."""
        ...

    def about(self) -> dict[str, Any]:
        """Give the settings that the fit chose."""
        ...


KINDS: dict[str, type[Model]] = {"svm": RbfSvm, "tfidf-logreg": Logistic, "xgboost": Boosted}

# The settings of [baselines] that only one kind heeds.
HEEDED: dict[str, tuple[str, ...]] = {
    "svm": ("svm_c", "svm_gamma"),
    "tfidf-logreg": ("logreg_c", "logreg_words"),
    "xgboost": ("trials", "seconds"),
}
