"""Calibration by hand, and against scikit-learn's calibration curve."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.calibration import calibration_curve

from limbeck.errors import MeasureError
from limbeck.measure import Bin, evaluate, expected_calibration_error, reliability

NAN = np.nan


def test_reliability_by_hand():
    table = reliability([0, 1, NAN, 1, 1], [0.25, 0.25, 0.25, 0.5, 1.0], bins=2)
    assert table == (Bin(0.0, 0.5, 2, 0.25, 0.5), Bin(0.5, 1.0, 2, 0.75, 1.0))


def test_an_empty_bin_has_no_rate():
    first, second = reliability([1, 0], [0.9, 0.8], bins=2)
    assert first.count == 0 and math.isnan(first.mean_probability) and math.isnan(first.observed_rate)
    assert second.count == 2


def test_error_by_hand_is_weighted_by_cells_and_then_by_labels():
    truth = np.array([[0, 1, NAN], [1, NAN, NAN], [1, NAN, NAN], [1, NAN, NAN]])
    proba = np.array([[0.25, 0.75, 0.5], [0.25, 0.5, 0.5], [0.25, 0.5, 0.5], [1.0, 0.5, 0.5]])
    # First label: 3 cells promise 0.25 and hold 2/3, one promises 1 and holds 1. Second: 1 cell. Third: unknown.
    first = 3 / 4 * (2 / 3 - 0.25)
    assert expected_calibration_error(truth, proba, bins=2) == pytest.approx((first + 0.25) / 2)
    assert evaluate(truth, proba, [0.5] * 3, ("a", "b", "c")).calibration_error == pytest.approx((first + 0.25) / 2)


def test_bins_of_equal_mass_hold_equally_many_cells():
    table = reliability([0, 0, 1, 1, 1, 1], [0.1, 0.2, 0.3, 0.35, 0.4, 0.9], bins=3, strategy="mass")
    assert [(row.lower, row.upper, row.count) for row in table] == [(0, 0.3, 2), (0.3, 0.4, 2), (0.4, 1, 2)]


def test_equal_probabilities_share_a_bin_also_at_the_ends():
    table = reliability([0, 1, 1, 1], [0.3, 0.3, 1.0, 1.0], bins=2, strategy="mass")
    assert [(row.count, row.mean_probability, row.observed_rate) for row in table] == [(2, 0.3, 0.5), (2, 1, 1)]
    (row,) = reliability([0, 1], [0.0, 0.0], bins=15, strategy="mass")
    assert (row.count, row.observed_rate) == (2, 0.5)


@pytest.mark.parametrize("seed", range(4))
def test_agrees_with_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    proba = rng.random(300)
    truth = (rng.random(300) < proba**2).astype(float)
    rates, means = calibration_curve(truth, proba, n_bins=10)
    table = [row for row in reliability(truth, proba, bins=10) if row.count]
    assert [row.observed_rate for row in table] == pytest.approx(rates)
    assert [row.mean_probability for row in table] == pytest.approx(means)
    expected = sum(row.count * abs(row.mean_probability - row.observed_rate) for row in table) / 300
    assert expected_calibration_error(truth[:, None], proba[:, None], bins=10) == pytest.approx(expected)


@pytest.mark.parametrize("strategy", ["width", "mass"])
def test_honest_probabilities_have_a_small_error_and_boastful_ones_a_large_one(strategy):
    rng = np.random.default_rng(0)
    honest = rng.random((5000, 2))
    truth = (rng.random((5000, 2)) < honest).astype(float)
    assert expected_calibration_error(truth, honest, strategy=strategy) < 0.03
    assert expected_calibration_error(truth, (honest > 0.5).astype(float), strategy=strategy) > 0.2


def test_bins_and_strategies_that_do_not_exist_are_refused():
    with pytest.raises(MeasureError, match="at least one bin"):
        reliability([1], [0.5], bins=0)
    with pytest.raises(MeasureError, match="'width' or 'mass'"):
        expected_calibration_error([[1.0]], [[0.5]], strategy="size")
