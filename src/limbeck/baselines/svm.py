"""A support vector machine with an RBF kernel on word counts; Platt scaling turns its margins into probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from limbeck.baselines.features import Sparse, WordFeatures
from limbeck.baselines.task import FitTask, Floats, mean_average_precision, out_of_fold, squash

COSTS = (1.0, 10.0)
SCORED_AT_ONCE = 2048


@dataclass(frozen=True)
class Machine:
    """The support vectors of one column, with their weights, and the line that maps a margin to log-odds."""

    vectors: Sparse
    duals: Floats
    intercept: float
    gamma: float
    slope: float
    offset: float

    def log_odds(self, rows: Sparse) -> Floats:
        """Score rows; K(x, v) = exp(-gamma |x - v|²)."""
        norms = np.asarray(self.vectors.multiply(self.vectors).sum(axis=1)).ravel()
        own = np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
        distance = own[:, None] + norms[None, :] - 2.0 * (rows @ self.vectors.T).toarray()
        margin = np.exp(-self.gamma * np.maximum(distance, 0.0)) @ self.duals + self.intercept
        return np.asarray(self.slope * margin + self.offset, dtype=np.float64)


@dataclass(frozen=True)
class RbfSvm:
    """One machine a column over shared word counts; `cost` is the C that cross-validation chose."""

    features: WordFeatures
    machines: tuple[Machine, ...]
    cost: float

    @classmethod
    def fit(cls, task: FitTask) -> Self:
        """Choose the cost by cross-validated average precision; the same held-out margins fit Platt's line.

        A cost that the settings name is the only one that is tried.
        """
        features = WordFeatures.fit(task.texts)
        rows = features.transform(task.texts)
        folds = task.inner_folds()
        costs = (task.settings.svm_c,) if task.settings.svm_c else COSTS
        gamma = task.settings.svm_gamma or "scale"

        def margins(cost: float, column: int) -> Floats:
            def held_out_margins(held_out: NDArray[np.bool_]) -> Floats:
                model = _machine(rows[~held_out], task.labels[~held_out, column], task.weights[column], cost, gamma)
                return np.asarray(model.decision_function(rows[held_out]))

            return out_of_fold(folds, held_out_margins, side_by_side=True)

        tried = {cost: [margins(cost, c) for c in range(task.labels.shape[1])] for cost in costs}
        cost = max(costs, key=lambda c: mean_average_precision(task.labels, tried[c]))
        machines = []
        for column, weight in enumerate(task.weights):
            labels = task.labels[:, column]
            slope, offset = _platt(tried[cost][column], labels)
            model = _machine(rows, labels, weight, cost, gamma)
            machines.append(
                Machine(
                    model.support_vectors_,
                    np.asarray(model.dual_coef_.todense()).ravel(),
                    float(model.intercept_[0]),
                    float(model._gamma),
                    slope,
                    offset,
                )
            )
        return cls(features, tuple(machines), cost)

    def predict_proba(self, texts: Sequence[str]) -> Floats:
        """Give probabilities [texts, columns], a bounded number of texts at a time."""
        parts = [np.zeros((0, len(self.machines)))]
        for start in range(0, len(texts), SCORED_AT_ONCE):
            rows = self.features.transform(texts[start : start + SCORED_AT_ONCE])
            parts.append(squash(np.stack([machine.log_odds(rows) for machine in self.machines], axis=1)))
        return np.concatenate(parts)

    def save(self, folder: Path) -> None:
        """Write words, support vectors and lines."""
        self.features.save(folder)
        arrays: dict[str, Any] = {"cost": self.cost, "columns": len(self.machines)}
        for number, machine in enumerate(self.machines):
            vectors = machine.vectors.tocsr()
            arrays |= {
                f"{number}.data": vectors.data,
                f"{number}.indices": vectors.indices,
                f"{number}.indptr": vectors.indptr,
                f"{number}.duals": machine.duals,
                f"{number}.line": np.array([machine.intercept, machine.gamma, machine.slope, machine.offset]),
            }
        np.savez(folder / "machines.npz", **arrays)

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read what `save` wrote."""
        from scipy.sparse import csr_matrix

        features = WordFeatures.load(folder)
        with np.load(folder / "machines.npz", allow_pickle=False) as arrays:
            machines = []
            for number in range(int(arrays["columns"])):
                indptr = arrays[f"{number}.indptr"]
                shape = (len(indptr) - 1, len(features.words))
                vectors = csr_matrix((arrays[f"{number}.data"], arrays[f"{number}.indices"], indptr), shape=shape)
                machines.append(Machine(vectors, arrays[f"{number}.duals"], *map(float, arrays[f"{number}.line"])))
            return cls(features, tuple(machines), float(arrays["cost"]))

    def about(self) -> dict[str, Any]:
        """Give the chosen cost and the number of support vectors."""
        return {"C": self.cost, "support_vectors": [machine.vectors.shape[0] for machine in self.machines]}


def _machine(rows: Sparse, labels: NDArray[np.float32], weight: float, cost: float, gamma: float | str) -> SVC:
    return SVC(C=cost, kernel="rbf", gamma=gamma, class_weight={0: 1.0, 1: weight}, cache_size=500).fit(rows, labels)


def _platt(margins: Floats, labels: NDArray[np.float32]) -> tuple[float, float]:
    """Fit log-odds = slope × margin + offset; a slope below zero would turn the ranking round, so it is not taken."""
    line = LogisticRegression(C=1e3).fit(margins[:, None], labels)
    slope = float(line.coef_[0, 0])
    return (slope, float(line.intercept_[0])) if slope > 0 else (1.0, 0.0)
