"""TF-IDF over words and word pairs with logistic regression."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from limbeck.baselines.features import Sparse, WordFeatures
from limbeck.baselines.task import FitTask, Floats, mean_average_precision, out_of_fold, squash

STRENGTHS = (0.3, 1.0, 3.0, 10.0, 30.0)


@dataclass(frozen=True)
class Logistic:
    """Weights [columns, words] and an intercept a column; `strength` is the C that cross-validation chose."""

    features: WordFeatures
    weights: Floats
    intercepts: Floats
    strength: float

    @classmethod
    def fit(cls, task: FitTask) -> Self:
        """Choose the regularisation by cross-validated average precision, unless it is set, then fit on everything."""
        features = WordFeatures.fit(task.texts, longest=task.settings.logreg_words, tfidf=True)
        rows = features.transform(task.texts)
        folds = task.inner_folds()

        def scores(strength: float) -> list[Floats]:
            def held_out_scores(column: int, held_out: NDArray[np.bool_]) -> Floats:
                model = _regress(
                    rows[~held_out], task.labels[~held_out, column], task.weights[column], strength, task.seed
                )
                return np.asarray(model.decision_function(rows[held_out]))

            return [out_of_fold(folds, lambda out, c=c: held_out_scores(c, out)) for c in range(task.labels.shape[1])]  # type: ignore[misc]

        strength = task.settings.logreg_c or max(
            STRENGTHS, key=lambda s: mean_average_precision(task.labels, scores(s))
        )
        models = [_regress(rows, task.labels[:, c], w, strength, task.seed) for c, w in enumerate(task.weights)]
        return cls(
            features, np.vstack([m.coef_ for m in models]), np.concatenate([m.intercept_ for m in models]), strength
        )

    def predict_proba(self, texts: Sequence[str]) -> Floats:
        """Give probabilities [texts, columns]."""
        return squash(np.asarray(self.features.transform(texts) @ self.weights.T) + self.intercepts)

    def save(self, folder: Path) -> None:
        """Write words, weights and intercepts."""
        self.features.save(folder)
        np.savez(folder / "weights.npz", weights=self.weights, intercepts=self.intercepts, strength=self.strength)

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read what `save` wrote."""
        with np.load(folder / "weights.npz", allow_pickle=False) as arrays:
            return cls(WordFeatures.load(folder), arrays["weights"], arrays["intercepts"], float(arrays["strength"]))

    def about(self) -> dict[str, Any]:
        """Give the chosen strength."""
        return {"C": self.strength, "words": len(self.features.words)}


def _regress(
    rows: Sparse, labels: NDArray[np.float32], weight: float, strength: float, seed: int
) -> LogisticRegression:
    model = LogisticRegression(C=strength, class_weight={0: 1.0, 1: weight}, max_iter=1000, random_state=seed)
    return model.fit(rows, labels)
