"""Calibrated probabilities: right on unseen texts, in the same order, with the same decisions, also at other rates."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, logit, softmax
from sklearn.linear_model import LogisticRegression

from limbeck.errors import MeasureError
from limbeck.measure import decide, decide_classes
from limbeck.measure.scaling import (
    LEAST_SLOPE,
    Calibration,
    calibration_figures,
    estimate_rates,
    fit_calibration,
    reliability_tables,
    shifted,
)

NAN = np.nan
LINES = ((0.5, -1.0), (2.0, 0.7), (1.0, 0.0))


def texts(count: int, seed: int, lines=LINES):
    """Give truth and scores [count, labels] that the curves `lines` would make right."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(-0.5, 2.0, (count, len(lines)))
    slopes, offsets = np.array(lines).T
    truth = (rng.random(logits.shape) < expit(slopes * logits + offsets)).astype(np.float64)
    return truth, expit(logits).astype(np.float32)


def class_texts(count: int, seed: int, slope: float, offsets=(0.0, 0.0, 0.0, 0.0)):
    rng = np.random.default_rng(seed)
    proba = softmax(rng.normal(0, 2.0, (count, len(offsets))), axis=1)
    right = softmax(slope * np.log(proba) + np.array(offsets), axis=1)
    classes = (rng.random((count, 1)) > right.cumsum(axis=1)).sum(axis=1).clip(max=len(offsets) - 1)
    return np.eye(len(offsets))[classes], proba.astype(np.float32)


def curve(slope: float, offset: float) -> Calibration:
    return Calibration((slope,), (offset,), one_class=False)


def test_platt_finds_the_curve_that_the_truth_was_drawn_from():
    fitted = fit_calibration(*texts(30_000, 1), "platt", False, 10)
    assert fitted.slopes == pytest.approx([slope for slope, _ in LINES], rel=0.06)
    assert fitted.offsets == pytest.approx([offset for _, offset in LINES], abs=0.06)


def test_temperature_finds_the_slope_and_leaves_the_offset():
    fitted = fit_calibration(*texts(30_000, 2, ((0.4, 0.0), (2.5, 0.0))), "temperature", False, 10)
    assert fitted.slopes == pytest.approx((0.4, 2.5), rel=0.06)
    assert fitted.offsets == (0.0, 0.0)


def test_platt_agrees_with_scikit_learn_s_logistic_regression():
    truth, proba = texts(20_000, 3)
    fitted = fit_calibration(truth, proba, "platt", False, 10)
    for label in range(len(LINES)):
        model = LogisticRegression(C=np.inf, tol=1e-8).fit(logit(proba[:, [label]].astype(float)), truth[:, label])
        # What is left is Platt's smoothing: one positive and one negative among thousands.
        assert fitted.slopes[label] == pytest.approx(model.coef_[0, 0], rel=5e-3)
        assert fitted.offsets[label] == pytest.approx(model.intercept_[0], abs=5e-3)


def test_the_slope_is_found_where_scores_hardly_differ():
    rng = np.random.default_rng(4)
    logits = -3 + 0.02 * rng.normal(size=(20_000, 1))
    truth = (rng.random(logits.shape) < expit(60 * (logits + 3))).astype(float)
    fitted = fit_calibration(truth, expit(logits), "platt", False, 10)
    assert fitted.slopes[0] == pytest.approx(60, rel=0.1)
    assert fitted.offsets[0] == pytest.approx(180, rel=0.1)


@pytest.mark.parametrize("method", ["platt", "temperature"])
def test_unseen_texts_get_better_probabilities(method):
    lines = ((0.3, 0.0), (2.5, 0.0)) if method == "temperature" else ((0.3, -1.5), (2.5, 1.0))
    fitted = fit_calibration(*texts(1000, 5, lines), method, False, 10)
    truth, proba = texts(4000, 6, lines)
    told = calibration_figures(truth, proba, fitted(proba))
    assert told["ece_after"] < 0.4 * told["ece_before"]
    assert told["log_loss_after"] < 0.95 * told["log_loss_before"]
    assert told["brier_after"] < told["brier_before"]


def test_what_was_right_already_is_hardly_changed():
    truth, proba = texts(4000, 7, ((1.0, 0.0),))
    assert np.abs(fit_calibration(truth, proba, "platt", False, 10)(proba) - proba).max() < 0.03


def test_unknown_cells_are_as_if_they_were_not_there():
    truth, proba = texts(2000, 8)
    unknown = np.random.default_rng(8).random(truth.shape) < 0.4
    fitted = fit_calibration(np.where(unknown, NAN, truth), proba, "platt", False, 10)
    for label in range(len(LINES)):
        rows = ~unknown[:, label]
        alone = fit_calibration(truth[rows][:, [label]], proba[rows][:, [label]], "platt", False, 10)
        assert (fitted.slopes[label], fitted.offsets[label]) == (alone.slopes[0], alone.offsets[0])


def test_too_few_positives_fit_the_offset_alone_and_none_fits_nothing():
    truth, proba = texts(500, 9)
    truth[:, 0] = 0
    truth[proba[:, 0].argsort()[-40::10], 0] = 1
    truth[:, 1] = 0
    truth[:, 2] = NAN
    fitted = fit_calibration(truth, proba, "platt", False, least=5)
    assert fitted.slopes == (1.0, 1.0, 1.0)
    assert fitted.offsets[0] < -1 and fitted.offsets[1:] == (0.0, 0.0)
    # With the offset alone, the likeliest curve promises as many positives as the smoothed targets hold.
    assert fitted(proba)[:, 0].sum() == pytest.approx(4 * 5 / 6 + 496 / 498, rel=1e-3)
    assert fit_calibration(truth, proba, "platt", False, least=4).slopes[0] != 1
    assert fit_calibration(truth, proba, "temperature", False, least=5) == Calibration.identity(3, False)


def test_a_score_that_points_the_wrong_way_is_not_reversed():
    truth, proba = texts(2000, 10, ((-1.0, 0.5),))
    platt = fit_calibration(truth, proba, "platt", False, 10)
    assert platt.slopes == (1.0,)
    assert platt(proba).mean() == pytest.approx(truth.mean(), abs=0.01)
    assert fit_calibration(truth, proba, "temperature", False, 10) == Calibration.identity(1, False)


def test_a_constant_score_becomes_the_rate():
    truth = (np.arange(1000) % 10 == 0).astype(float)[:, None]
    proba = np.full((1000, 1), 0.4, dtype=np.float32)
    fitted = fit_calibration(truth, proba, "platt", False, 10)
    assert fitted.slopes == (1.0,)
    assert fitted(proba)[0, 0] == pytest.approx(0.1, abs=2e-3)


@pytest.mark.parametrize("method", ["platt", "temperature"])
def test_perfect_separation_stays_finite(method):
    truth = np.repeat([0.0, 1.0], 100)[:, None]
    proba = np.where(truth == 1, 0.9, 0.1).astype(np.float32)
    fitted = fit_calibration(truth, proba, method, False, 10)
    assert 1 < fitted.slopes[0] < 5
    assert fitted(proba)[[0, -1], 0] == pytest.approx([1 / 102, 101 / 102], abs=1e-3)
    classes = fit_calibration(np.hstack([1 - truth, truth]), np.hstack([1 - proba, proba]), method, True, 10)
    assert 1 < classes.slopes[0] < 5 and np.isfinite(classes.offsets).all()


@pytest.mark.parametrize("one_class", [False, True])
def test_none_leaves_every_bit(one_class):
    truth, proba = class_texts(200, 11, 2.0)
    proba[0] = [0, 1, 0, 0]
    fitted = fit_calibration(truth, proba, "none", one_class, 1)
    assert fitted == Calibration.identity(4, one_class)
    assert np.array_equal(fitted(proba), proba) and fitted(proba).dtype == np.float32


def test_nan_stays_nan_and_the_edges_stay_numbers():
    proba = np.array([[0.0, NAN], [1.0, 0.5]], dtype=np.float32)
    calibrated = Calibration((3.0, 0.5), (-1.0, 2.0), one_class=False)(proba)
    assert calibrated.dtype == np.float32
    assert np.isnan(calibrated).tolist() == [[False, True], [False, False]]
    assert calibrated[1, 1] == pytest.approx(expit(2.0))
    rows = Calibration((1.0, 1.0), (0.0, 2.0), one_class=True)(np.array([[0.0, NAN], [0.5, 0.5]], dtype=np.float32))
    assert np.isnan(rows[0]).all() and rows[1] == pytest.approx([expit(-2.0), expit(2.0)])


def scores(seed: int, count: int = 20_000):
    """Give probabilities all over the place: even, crowded at both ends, the ends themselves, and next neighbours."""
    rng = np.random.default_rng(seed)
    even, ends = rng.random(count), expit(rng.uniform(-25, 25, count))
    near = np.float32(rng.random()) + np.arange(-20, 21) * np.float32(6e-8)
    return np.concatenate([even, ends, near.clip(0, 1), [0.0, 1.0]]).astype(np.float32)[:, None]


CURVES = {"slope": st.floats(LEAST_SLOPE, 12), "offset": st.floats(-15, 15), "seed": st.integers(0, 2**32 - 1)}


@settings(max_examples=60, deadline=None)
@given(**CURVES)
def test_no_two_texts_change_places(slope, offset, seed):
    proba = np.sort(scores(seed), axis=0)
    calibrated = curve(slope, offset)(proba)
    assert (np.diff(calibrated[:, 0]) >= 0).all()
    assert calibrated.min() >= 0 and calibrated.max() <= 1


@settings(max_examples=60, deadline=None)
@given(**CURVES, threshold=st.floats(0, 1))
def test_decisions_change_only_where_float32_can_t_tell_texts_apart(slope, offset, seed, threshold):
    proba, calibration = scores(seed), curve(slope, offset)
    proba[:2, 0] = threshold, np.nextafter(np.float32(threshold), np.float32(2))
    proba = proba.clip(0, 1)
    limits = np.array([threshold])
    before, calibrated = decide(proba, limits), calibration(proba)
    after = decide(calibrated, calibration.thresholds(limits))
    yes, no = calibrated[before], calibrated[~before]
    if len(yes) and len(no) and yes.min() == no.max():
        tied = calibrated == yes.min()
        assert len(np.unique(after[tied])) == 1
        before, after = before[~tied], after[~tied]
    assert np.array_equal(before, after)


def test_tuned_thresholds_decide_exactly_as_before():
    rng = np.random.default_rng(12)
    for _ in range(40):
        slopes, offsets = rng.uniform(0.3, 2, 5), rng.uniform(-3, 3, 5)
        calibration = Calibration(tuple(slopes), tuple(offsets), one_class=False)
        proba = rng.beta(0.3, 0.6, (4000, 5)).astype(np.float32)
        # Some thresholds are a text's own probability, so that `>=` hangs on the last bit.
        limits = np.where(rng.random(5) < 0.5, rng.uniform(0.01, 0.95, 5), proba[0].clip(0.01, 0.95))
        mapped = calibration.thresholds(limits)
        assert mapped.dtype == np.float64
        assert mapped == pytest.approx(expit(slopes * logit(limits) + offsets), rel=1e-6)
        assert np.array_equal(decide(proba, limits), decide(calibration(proba), mapped))


def test_thresholds_at_the_ends_keep_their_sense():
    calibration = curve(8.0, -1.0)
    proba = np.array([[0.0], [1e-9], [1e-7], [0.3], [1.0]], dtype=np.float32)
    for limit, decisions in ((0.0, [1, 1, 1, 1, 1]), (1e-8, [0, 0, 0, 1, 1]), (1.0, [0, 0, 0, 0, 1])):
        mapped = calibration.thresholds(np.array([limit]))
        assert decide(calibration(proba), mapped)[:, 0].tolist() == [bool(yes) for yes in decisions], limit


def test_one_class_temperature_finds_the_slope_and_keeps_the_best_class():
    truth, proba = class_texts(20_000, 13, slope=0.5)
    fitted = fit_calibration(truth, proba, "temperature", True, 10)
    assert fitted.one_class and fitted.slopes == pytest.approx((0.5,) * 4, rel=0.05)
    assert fitted.offsets == (0.0,) * 4
    calibrated = fitted(proba)
    assert calibrated.sum(axis=1) == pytest.approx(np.ones(len(proba)), abs=1e-6)
    assert np.array_equal(decide_classes(calibrated), decide_classes(proba))
    limits = np.array([0.5, 0.1, 0.2, 0.3])
    assert np.array_equal(fitted.thresholds(limits), limits)


def test_one_class_platt_finds_slope_and_offsets_up_to_a_constant():
    offsets = np.array([1.0, -0.5, 0.0, -0.5])
    truth, proba = class_texts(20_000, 14, 1.6, tuple(offsets))
    fitted = fit_calibration(truth, proba, "platt", True, 10)
    assert len(set(fitted.slopes)) == 1 and fitted.slopes[0] == pytest.approx(1.6, rel=0.05)
    assert fitted.offsets - np.mean(fitted.offsets) == pytest.approx(offsets, abs=0.1)
    unseen, scored = class_texts(3000, 15, 1.6, tuple(offsets))
    told = calibration_figures(unseen, scored, fitted(scored))
    assert told["log_loss_after"] < told["log_loss_before"] and told["ece_after"] < 0.5 * told["ece_before"]


def test_one_class_learns_from_rows_whose_class_is_known():
    truth, proba = class_texts(1000, 16, 0.5)
    told = np.where(truth == 1, 1.0, NAN)
    told[600:] = NAN
    told[700:, 0] = 0
    alone = fit_calibration(truth[:600], proba[:600], "platt", True, 10)
    assert fit_calibration(told, proba, "platt", True, 10) == alone
    assert fit_calibration(told, proba, "platt", True, 601) == Calibration.identity(4, True)
    assert fit_calibration(told * NAN, proba, "temperature", True, 0) == Calibration.identity(4, True)


def test_a_class_that_no_row_shows_sinks_but_does_not_vanish():
    truth, proba = class_texts(2000, 17, 1.0)
    rows = truth[:, 3] == 0
    fitted = fit_calibration(truth[rows], proba[rows], "platt", True, 10)
    assert -10 < fitted.offsets[3] < -2 < min(fitted.offsets[:3])
    # Where the penalty balances the likelihood: a third of a row by smoothing, the rest held up by the offset's cost.
    assert fitted(proba[rows])[:, 3].sum() == pytest.approx(1 / 3 - fitted.offsets[3], abs=0.01)


@pytest.mark.parametrize("method", ["platt", "temperature"])
def test_classes_that_point_the_wrong_way_are_not_reversed(method):
    fitted = fit_calibration(*class_texts(2000, 18, -0.7), method, True, 10)
    assert fitted.slopes == (1.0,) * 4


def two_bells(count: int, rate: float, seed: int):
    """Give truth and x for two labels whose positives and negatives always look the same, however many there are."""
    rng = np.random.default_rng(seed)
    truth = rng.random((count, 2)) < rate
    return truth.astype(float), rng.normal(np.where(truth, 1.0, -1.0))


@pytest.mark.parametrize("rate", [0.02, 0.3, 0.8])
def test_em_finds_the_rates_that_moved(rate):
    truth, x = two_bells(20_000, rate, 19)
    proba = expit(2 * x + logit(0.2)).astype(np.float32)
    proba[:5000, 0] = NAN
    found = estimate_rates(proba, [0.2, 0.2], one_class=False)
    assert found == pytest.approx([truth[5000:, 0].mean(), truth[:, 1].mean()], rel=0.1)
    moved = shifted(Calibration.identity(2, False), [0.2, 0.2], found)
    told = calibration_figures(truth[5000:], proba[5000:], moved(proba[5000:]))
    assert told["ece_before"] > 0.05 and told["ece_after"] < 0.02
    # Bayes' rule with the new rate is what the label's own likelihoods give.
    assert moved(proba)[:, 1] == pytest.approx(expit(2 * x[:, 1] + logit(found[1])), abs=1e-4)


def test_em_finds_the_rates_of_four_classes():
    rng = np.random.default_rng(20)
    old, new = np.array([0.4, 0.3, 0.2, 0.1]), np.array([0.1, 0.2, 0.15, 0.55])
    middles = np.array([[0, 0], [2, 0], [0, 2], [2, 2]])
    classes = rng.choice(4, 8000, p=new)
    x = rng.normal(middles[classes])
    heights = x @ middles.T - (middles**2).sum(axis=1) / 2
    proba = softmax(heights + np.log(old), axis=1).astype(np.float32)
    proba[:3] = NAN
    found = estimate_rates(proba, old, one_class=True)
    assert found.sum() == pytest.approx(1) and found == pytest.approx(new, abs=0.02)
    moved = shifted(Calibration.identity(4, True), old, found)
    assert moved(proba[3:]) == pytest.approx(softmax(heights + np.log(found), axis=1)[3:], abs=1e-4)


def test_em_stays_where_nothing_moved_and_off_the_ends():
    _, x = two_bells(20_000, 0.2, 21)
    proba = expit(2 * x + logit(0.2))
    assert estimate_rates(proba, [0.2, 0.2], False) == pytest.approx([0.2, 0.2], abs=0.01)
    few = np.array([[0.0, 1.0, 0.3, NAN]] * 50)
    assert estimate_rates(few, [0.3, 0.3, 0.3, 0.0], False) == pytest.approx([0.01, 0.99, 0.3, 0.0])
    assert estimate_rates(few[:, [0, 1]], [0.0, 1.0], True) == pytest.approx([0.01, 0.99])
    assert estimate_rates(few[:0, :2], [0.4, 0.6], True) == pytest.approx([0.4, 0.6])


@pytest.mark.parametrize("one_class", [False, True])
def test_a_shift_there_and_back_is_no_shift(one_class):
    start = Calibration((0.7,) * 3, (0.5, -1.0, 0.0), one_class)
    there, back = [0.1, 0.2, 0.7], [0.6, 0.4, 0.0]
    moved = shifted(start, there, back)
    returned = shifted(moved, back, there)
    assert moved.slopes == start.slopes and moved.offsets != pytest.approx(start.offsets)
    assert np.isfinite(moved.offsets).all() and returned.offsets == pytest.approx(start.offsets)
    assert shifted(start, there, there) == start


@pytest.mark.parametrize("one_class", [False, True])
def test_a_calibration_survives_json(one_class):
    fitted = fit_calibration(*class_texts(500, 22, 0.5), "platt", one_class, 10)
    assert Calibration.from_dict(json.loads(json.dumps(fitted.as_dict()))) == fitted


def test_figures_by_hand():
    truth = np.array([[1, 0, NAN], [0, NAN, NAN], [NAN, NAN, NAN]])
    before = np.full((3, 3), 0.5)
    after = np.array([[0.75, 0.0, 0.1], [0.25, 0.9, 0.1], [0.5, 0.9, 0.1]])
    assert calibration_figures(truth, before, after) == pytest.approx(
        {
            "ece_before": 0.25,
            "ece_after": 0.125,
            "brier_before": 0.25,
            "brier_after": 0.0625 / 2,
            "log_loss_before": np.log(2),
            "log_loss_after": -np.log(0.75) / 2,
        },
        abs=1e-6,
    )
    wrong = calibration_figures([[1.0]], [[0.5]], [[0.0]])
    assert wrong["log_loss_after"] == pytest.approx(-np.log(1e-6))
    with pytest.raises(MeasureError, match="No label"):
        calibration_figures(truth * NAN, before, after)


def test_reliability_tables_are_plain_and_leave_unknown_labels_out():
    truth = np.array([[1, NAN], [0, NAN], [1, NAN]])
    before = np.array([[0.9, 0.5], [0.9, 0.5], [0.8, 0.5]])
    tables = reliability_tables(("a", "b"), truth, before, 1 - before, bins=2)
    assert list(tables) == ["a"] and json.loads(json.dumps(tables, allow_nan=False)) == tables
    empty = {"count": 0, "mean_probability": None, "observed_rate": None}
    first, second = tables["a"]["before"]
    assert first == {"lower": 0.0, "upper": 0.5, **empty}
    assert second == pytest.approx(
        {"lower": 0.5, "upper": 1.0, "count": 3, "mean_probability": 2.6 / 3, "observed_rate": 2 / 3}
    )
    assert [row["count"] for row in tables["a"]["after"]] == [3, 0]
