"""XGBoost on TF-IDF, its settings found by a short search."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from limbeck.baselines.features import Sparse, WordFeatures
from limbeck.baselines.search import search
from limbeck.baselines.task import FitTask, Floats, out_of_fold
from limbeck.errors import ExtraMissing
from limbeck.measure import average_precision

if TYPE_CHECKING:
    import optuna
    import xgboost as xgb


@dataclass(frozen=True)
class Boosted:
    """One booster a column over shared features, all with the settings that the search found."""

    features: WordFeatures
    boosters: tuple[xgb.Booster, ...]
    found: dict[str, Any]

    @classmethod
    def fit(cls, task: FitTask) -> Self:
        """Search by cross-validated average precision, then fit on everything."""
        features = WordFeatures.fit(task.texts, longest=2, tfidf=True, least_texts=2)
        rows = features.transform(task.texts)
        folds = task.inner_folds()

        def objective(trial: optuna.Trial) -> float:
            settings = _suggest(trial)
            columns = []
            for column, weight in enumerate(task.weights):
                labels = task.labels[:, column]

                def held_out_scores(
                    held_out: NDArray[np.bool_], labels: NDArray[np.float32] = labels, weight: float = weight
                ) -> Floats:
                    return _score(
                        _boost(rows[~held_out], labels[~held_out], weight, settings, task.seed), rows[held_out]
                    )

                columns.append(average_precision(labels, out_of_fold(folds, held_out_scores, side_by_side=True)))
            return float(np.mean(columns))

        limits = task.settings.trials, task.settings.seconds
        found = search(task.name, objective, *limits, task.seed, task.studies, task.fresh)
        boosters = [_boost(rows, task.labels[:, c], w, found.best, task.seed) for c, w in enumerate(task.weights)]
        about = {
            "settings": found.best,
            "score": found.score,
            "trials": found.trials,
            "stopped_by_time": found.stopped_by_time,
        }
        return cls(features, tuple(boosters), about)

    def predict_proba(self, texts: Sequence[str]) -> Floats:
        """Give probabilities [texts, columns]."""
        rows = self.features.transform(texts)
        return np.stack([_score(booster, rows) for booster in self.boosters], axis=1)

    def save(self, folder: Path) -> None:
        """Write words, boosters (XGBoost's own format) and the search."""
        self.features.save(folder)
        (folder / "search.json").write_text(json.dumps(self.found, indent=1), encoding="utf-8")
        for number, booster in enumerate(self.boosters):
            booster.save_model(folder / f"booster-{number}.ubj")

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read what `save` wrote."""
        xgb = _xgboost()
        boosters = []
        for number in range(len(list(folder.glob("booster-*.ubj")))):
            boosters.append(xgb.Booster(model_file=folder / f"booster-{number}.ubj"))
        return cls(
            WordFeatures.load(folder), tuple(boosters), json.loads((folder / "search.json").read_text(encoding="utf-8"))
        )

    def about(self) -> dict[str, Any]:
        """Give the search's outcome."""
        return {
            "trials": len(self.found["trials"]),
            **{k: self.found[k] for k in ("settings", "score", "stopped_by_time")},
        }


def _suggest(trial: optuna.Trial) -> dict[str, Any]:
    return {
        "trees": trial.suggest_int("trees", 50, 200),
        "max_depth": trial.suggest_int("max_depth", 2, 8),
        "learning_rate": trial.suggest_float("learning_rate", 0.03, 0.5, log=True),
        "min_child_weight": trial.suggest_float("min_child_weight", 0.1, 10.0, log=True),
        "subsample": trial.suggest_float("subsample", 0.5, 1.0),
        "colsample_bytree": trial.suggest_float("colsample_bytree", 0.1, 1.0),
        "lambda": trial.suggest_float("lambda", 1e-2, 10.0, log=True),
    }


def _boost(rows: Sparse, labels: NDArray[np.float32], weight: float, settings: dict[str, Any], seed: int) -> Any:  # noqa: ANN401 - a Booster, of a module that is imported late
    xgb = _xgboost()
    fixed = {
        "objective": "binary:logistic",
        "tree_method": "hist",
        "scale_pos_weight": weight,
        "seed": seed,
        "nthread": 1,  # the folds already run side by side
        "verbosity": 0,
    }
    chosen = {name: value for name, value in settings.items() if name != "trees"}
    return xgb.train({**fixed, **chosen}, xgb.DMatrix(rows, label=labels), num_boost_round=settings["trees"])


def _score(booster: xgb.Booster, rows: Sparse) -> Floats:
    return np.asarray(booster.predict(_xgboost().DMatrix(rows)), dtype=np.float64)


def _xgboost() -> Any:  # noqa: ANN401 - a module
    try:
        import xgboost
    except ImportError:
        raise ExtraMissing("baselines", "The XGBoost baseline") from None
    return xgboost
