"""What holds for every matrix: unknown cells say nothing, order says nothing, the threshold search is exact."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from limbeck.measure import (
    average_precision,
    bootstrap_interval,
    decide,
    evaluate,
    expected_calibration_error,
    paired_bootstrap,
    precision_recall_curve,
    tune_thresholds,
)

promise = settings(max_examples=100, deadline=None, derandomize=True)
# Few distinct values make ties; any float in between finds what a grid hides.
SCORES = st.one_of(st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.75, 1.0]), st.floats(0, 1))


@st.composite
def cases(draw: st.DrawFn):
    shape = (draw(st.integers(1, 14)), draw(st.integers(1, 4)))
    truth = draw(arrays.arrays(np.float32, shape, elements=st.sampled_from([0.0, 1.0, np.nan])))
    truth[0, 0] = draw(st.sampled_from([0.0, 1.0]))
    proba = draw(arrays.arrays(np.float64, shape, elements=SCORES))
    thresholds = draw(arrays.arrays(np.float64, shape[1:], elements=SCORES))
    return truth, proba, thresholds


def measured(truth, proba, thresholds) -> dict[str, object]:
    return evaluate(truth, proba, thresholds, [f"label {i}" for i in range(truth.shape[1])]).as_dict()


def f1(yes, predicted) -> float:
    hits = (yes & predicted).sum()
    return 2 * hits / (yes.sum() + predicted.sum()) if hits else 0.0


@promise
@given(cases(), st.data())
def test_unknown_cells_never_change_a_figure(case, data):
    truth, proba, thresholds = case
    other = np.where(np.isnan(truth), data.draw(arrays.arrays(np.float64, truth.shape, elements=SCORES)), proba)
    assert measured(truth, other, thresholds) == measured(truth, proba, thresholds)
    assert tune_thresholds(truth, other, 1).tolist() == tune_thresholds(truth, proba, 1).tolist()
    for strategy in ("width", "mass"):
        before, after = (expected_calibration_error(truth, p, 5, strategy) for p in (proba, other))
        assert before == after
    before, after = (bootstrap_interval(truth, decide(p, thresholds), rounds=10) for p in (proba, other))
    assert repr(before) == repr(after)


@promise
@given(cases(), st.randoms(use_true_random=False))
def test_order_of_rows_changes_nothing(case, random):
    truth, proba, thresholds = case
    order = list(range(len(truth)))
    random.shuffle(order)
    before, after = measured(truth, proba, thresholds), measured(truth[order], proba[order], thresholds)
    # Sums of probabilities depend on their order in the last digit.
    assert before.pop("calibration_error") == pytest.approx(after.pop("calibration_error"), abs=1e-12)
    assert before == after
    assert tune_thresholds(truth, proba, 1).tolist() == tune_thresholds(truth[order], proba[order], 1).tolist()


@promise
@given(cases())
def test_all_figures_are_shares(case):
    truth, proba, thresholds = case
    figures = measured(truth, proba, thresholds)
    shares = {k: v for k, v in figures.items() if k not in ("labels", "rows", "known") and v is not None}
    assert all(-1e-12 <= share <= 1 + 1e-12 for share in shares.values())
    assert figures["accuracy"] + figures["hamming_loss"] == pytest.approx(1)
    assert figures["known"] == sum(label["known"] for label in figures["labels"])


@promise
@given(cases())
def test_tuned_threshold_is_as_good_as_the_best_of_all_cuts(case):
    truth, proba, _ = case
    for label, threshold in enumerate(tune_thresholds(truth, proba, min_positives=1, fallback=0.5)):
        known = ~np.isnan(truth[:, label])
        yes, scores = truth[known, label] == 1, proba[known, label]
        if not yes.any() or yes.all():
            assert threshold == 0.5
            continue
        tuned = f1(yes, scores >= threshold)
        assert tuned == max(f1(yes, scores >= cut) for cut in scores)
        assert tuned >= f1(yes, scores >= 0.5)


@promise
@given(cases())
def test_average_precision_is_the_area_under_the_steps_of_the_curve(case):
    truth, proba, _ = case
    precision, recall, thresholds = precision_recall_curve(truth[:, 0], proba[:, 0])
    assert (np.diff(thresholds) > 0).all()
    assert len(precision) == len(recall) == len(thresholds) + 1
    area = -np.sum(np.diff(recall) * precision[:-1])
    assert average_precision(truth[:, 0], proba[:, 0]) == pytest.approx(area, nan_ok=True)


@promise
@given(cases(), st.sampled_from(["macro_f1", "micro_f1", "accuracy", "subset_loss"]))
def test_bootstrap_starts_from_the_measured_figure_and_knows_no_difference_from_itself(case, figure):
    truth, proba, thresholds = case
    decisions = decide(proba, thresholds)
    interval = bootstrap_interval(truth, decisions, figure, rounds=20)
    expected = measured(truth, proba, thresholds)[figure]
    assert math.isnan(interval.estimate) if expected is None else interval.estimate == expected
    difference = paired_bootstrap(truth, decisions, decisions, figure, rounds=20)
    assert difference.p_value == 1
    assert difference.estimate == 0 or math.isnan(interval.estimate)
