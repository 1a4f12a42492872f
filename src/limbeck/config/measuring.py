"""Settings of the baselines, of figures and of where they are reported."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from limbeck.config.section import Section, WithoutRepeats

AceCost = Literal["missed", "spurious", "wrong_type", "wrong_boundary", "overlap"]
BaselineKind = Literal["svm", "tfidf-logreg", "xgboost"]


class BaselineSettings(Section):
    """Simple models that every other model must beat."""

    kinds: Annotated[list[BaselineKind], WithoutRepeats] = Field(
        ["svm", "tfidf-logreg", "xgboost"], description="Which baselines to train."
    )
    target: Literal["auto", "binary", "multilabel"] = Field(
        "auto",
        description="One binary model a category, or one multi-label model, which needs complete labels. "
        "Auto: multilabel where the labels are complete.",
    )
    positive_weight: Annotated[float, Field(gt=0)] | Literal["balanced"] = Field(
        "balanced",
        description="How much a missed positive costs. Above 1 favours recall; balanced: negatives / positives.",
    )
    min_positives: Annotated[int, Field(ge=2)] = Field(
        5, description="A category with fewer positives or negatives is not trained; the others go on."
    )
    svm_c: Annotated[float, Field(ge=0)] = Field(
        0.0, description="How much svm minds errors (C). 0: cross-validation chooses between 1 and 10."
    )
    svm_gamma: Annotated[float, Field(ge=0)] = Field(
        0.0,
        description="How near texts must be for svm to find them alike (gamma). 0: by the spread of counts.",
    )
    logreg_c: Annotated[float, Field(ge=0)] = Field(
        0.0, description="The same C of tfidf-logreg. 0: cross-validation chooses, from 0.3 to 30."
    )
    logreg_words: Annotated[int, Field(ge=1, le=5)] = Field(
        2, description="tfidf-logreg counts runs of up to so many words."
    )
    trials: Annotated[int, Field(ge=1)] = Field(20, description="Trials of XGBoost's search a model (Optuna, TPE).")
    seconds: Annotated[float, Field(gt=0)] = Field(
        120.0,
        description="A model's search starts no trial after so many seconds. A limit that is hit makes runs differ.",
    )


class MeasureSettings(Section):
    """How figures are computed."""

    rounds: Annotated[int, Field(ge=100)] = Field(1000, description="Bootstrap rounds of every confidence interval.")
    level: Annotated[float, Field(gt=0.5, lt=1)] = Field(0.95, description="The intervals' level.")
    thresholds: Literal["pool", "steady", "line-search"] = Field(
        "pool",
        description="How thresholds are tuned for F1 on the tuning half: by line search; steady: between the mean of "
        "many line searches on resampled rows and the best expected F1, which suits small sets better; pool: steady, "
        "and of categories with few positives there the best expected F1 on the pool, as a calibrated teacher sees it.",
    )
    min_positives: Annotated[int, Field(ge=1)] = Field(
        5,
        description="A category with fewer positives in the tuning half is not searched: it gets the threshold of the "
        "best expected F1, or with line-search 0.5.",
    )
    ace_weights: dict[str, Annotated[float, Field(ge=0)]] = Field(
        {}, description="For entities: what one of a type is worth in the ACE value, e.g. { PER = 2.0 }; else 1."
    )
    ace_costs: dict[AceCost, Annotated[float, Field(ge=0)]] = Field(
        {},
        description="For entities: what errors cost there, as shares of an entity's worth: missed (1), spurious "
        "(0.75), wrong_type (0.5), wrong_boundary (0.25); overlap (0.3): how much of an entity must be found.",
    )


class TrackSettings(Section):
    """Where parameters, figures and artefacts are reported, besides the plain JSON beside each result."""

    mlflow: bool = Field(False, description="Report to MLflow as well (needs the extra 'track').")
    uri: str = Field("", description="An MLflow server's address. Empty: a SQLite file in this project.")
    experiment: str = Field("limbeck", description="The MLflow experiment's name.")
