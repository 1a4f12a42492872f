"""How good decisions and probabilities are, label by label and overall. Unknown cells are skipped everywhere."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from limbeck.errors import MeasureError
from limbeck.measure.calibration import expected_calibration_error
from limbeck.measure.checks import as_names, as_proba, as_thresholds, as_truth
from limbeck.measure.counts import Bools, Counts, Floats, count, decide, decide_classes, mean_over, wrong_rows
from limbeck.measure.curves import average_precision_of

Absent = Literal["skip", "zero"]


@dataclass(frozen=True)
class LabelFigures:
    """One label's figures.

    `support` counts known positives, `known` counts known cells. A figure is NaN where nothing defines it: precision,
    recall and F1 without a positive and without a prediction, average precision without a positive, accuracy without a
    known cell, the threshold of a class that was chosen by argmax.
    """

    name: str
    precision: float
    recall: float
    f1: float
    accuracy: float
    average_precision: float
    support: int
    known: int
    threshold: float


@dataclass(frozen=True)
class Figures:
    """All labels' figures and their summaries.

    Macro figures are means over labels (macro F1 is the mean of F1s), micro figures pool the cells. `accuracy` and
    `hamming_loss` are shares of known cells; `subset_loss` is the share of rows with at least one wrong known cell, so
    in a multi-class task the share of texts put into the right class is 1 - subset_loss. `rows` counts the rows with a
    known label. `calibration_error` is the expected calibration error with 15 bins of equal width.
    """

    labels: tuple[LabelFigures, ...]
    macro_precision: float
    macro_recall: float
    macro_f1: float
    micro_precision: float
    micro_recall: float
    micro_f1: float
    hamming_loss: float
    subset_loss: float
    accuracy: float
    macro_average_precision: float
    calibration_error: float
    rows: int
    known: int

    def as_dict(self) -> dict[str, object]:
        """Give the figures as plain values for JSON; NaN becomes None."""
        plain: dict[str, object] = {key: _plain(value) for key, value in asdict(self).items() if key != "labels"}
        plain["labels"] = [{key: _plain(value) for key, value in asdict(label).items()} for label in self.labels]
        return plain

    def flat(self) -> dict[str, float]:
        """Give the headline figures for tracking; a figure that is not defined is left out."""
        values = {key: value for key, value in vars(self).items() if key != "labels"}
        return {key: float(value) for key, value in values.items() if not math.isnan(value)}


def evaluate(
    truth: ArrayLike, proba: ArrayLike, thresholds: ArrayLike, names: Sequence[str], absent: Absent = "skip"
) -> Figures:
    """Measure probabilities of several labels a row, yes where a probability reaches its label's threshold.

    `truth` and `proba` are [rows, labels], `thresholds` and `names` have one entry a label. A ratio with nothing below
    the line is 0 for a label with a known positive or a prediction. With `absent="skip"` labels without a known
    positive are left out of the macro means and what is not defined is NaN; "zero" counts both as 0, as scikit-learn
    does with zero_division=0.
    """
    answers = as_truth(truth)
    scores = as_proba(proba, answers.shape)
    limits = as_thresholds(thresholds, answers.shape[1])
    return _figures(answers, scores, decide(scores, limits), limits, as_names(names, answers.shape[1]), absent)


def evaluate_classes(truth: ArrayLike, proba: ArrayLike, names: Sequence[str], absent: Absent = "skip") -> Figures:
    """Measure probabilities of one class a row; the most probable class is the decision.

    `truth` has at most one 1 a row; a row that nobody labelled is all NaN. Thresholds in the result are NaN.
    """
    answers = as_truth(truth)
    several = np.flatnonzero((answers == 1).sum(axis=1) > 1)
    if len(several):
        raise MeasureError(
            f"Row {several[0]} of truth has more than one class ({len(several)} such row(s)).",
            "Measure labels that go together with evaluate and thresholds.",
        )
    scores = as_proba(proba, answers.shape)
    limits = np.full(answers.shape[1], np.nan)
    return _figures(answers, scores, decide_classes(scores), limits, as_names(names, answers.shape[1]), absent)


def evaluate_by_source(
    truth: ArrayLike,
    proba: ArrayLike,
    thresholds: ArrayLike | None,
    names: Sequence[str],
    sources: Sequence[str],
    absent: Absent = "skip",
) -> dict[str, Figures]:
    """Measure each source's rows alone, sources in order of name; without `thresholds` as classes, by argmax.

    Sources without a known label are left out; no `sources` at all (the files don't say) gives an empty result.
    """
    answers = as_truth(truth)
    scores = as_proba(proba, answers.shape)
    if not len(sources):
        return {}
    if len(sources) != len(answers):
        raise MeasureError(f"{len(sources)} sources for {len(answers)} rows.", "Pass one source a row, or none at all.")
    origin = np.asarray(sources, dtype=np.str_)
    has_label = ~np.isnan(answers).all(axis=1)
    figures = {}
    for source in sorted(set(origin[has_label].tolist())):
        rows = origin == source
        if thresholds is None:
            figures[source] = evaluate_classes(answers[rows], scores[rows], names, absent)
        else:
            figures[source] = evaluate(answers[rows], scores[rows], thresholds, names, absent)
    return figures


def _figures(
    truth: Floats, proba: Floats, decisions: Bools, thresholds: Floats, names: tuple[str, ...], absent: Absent
) -> Figures:
    if absent not in ("skip", "zero"):
        raise MeasureError(f"absent can't be '{absent}'.", "Use 'skip' or 'zero'.")
    undefined = 0.0 if absent == "zero" else math.nan
    counts = count(truth, decisions)
    pooled = counts.total()
    ranking = _average_precisions(truth, proba, undefined)
    counted = np.full(len(names), True) if absent == "zero" else counts.support > 0
    wrong, rows = wrong_rows(truth, decisions)
    return Figures(
        labels=_label_figures(counts, ranking, thresholds, names, undefined),
        macro_precision=float(mean_over(counts.precision(undefined), counted)),
        macro_recall=float(mean_over(counts.recall(undefined), counted)),
        macro_f1=float(mean_over(counts.f1(undefined), counted)),
        micro_precision=float(pooled.precision(undefined)),
        micro_recall=float(pooled.recall(undefined)),
        micro_f1=float(pooled.f1(undefined)),
        hamming_loss=float(pooled.hamming_loss()),
        subset_loss=float(wrong.sum() / rows.sum()),
        accuracy=float(pooled.accuracy()),
        macro_average_precision=float(mean_over(ranking, counted)),
        calibration_error=expected_calibration_error(truth, proba),
        rows=int(rows.sum()),
        known=int(pooled.known),
    )


def _label_figures(
    counts: Counts, ranking: Floats, thresholds: Floats, names: tuple[str, ...], undefined: float
) -> tuple[LabelFigures, ...]:
    precision, recall, f1 = counts.precision(undefined), counts.recall(undefined), counts.f1(undefined)
    accuracy, support, known = counts.accuracy(), counts.support, counts.known
    return tuple(
        LabelFigures(
            name=name,
            precision=float(precision[i]),
            recall=float(recall[i]),
            f1=float(f1[i]),
            accuracy=float(accuracy[i]),
            average_precision=float(ranking[i]),
            support=int(support[i]),
            known=int(known[i]),
            threshold=float(thresholds[i]),
        )
        for i, name in enumerate(names)
    )


def _average_precisions(truth: Floats, proba: Floats, undefined: float) -> Floats:
    values = np.full(truth.shape[1], undefined)
    for label, column in enumerate(truth.T):
        if (column == 1).any():
            known = ~np.isnan(column)
            values[label] = average_precision_of(column[known] == 1, proba[known, label])
    return values


def _plain(value: object) -> object:
    return None if isinstance(value, float) and math.isnan(value) else value
