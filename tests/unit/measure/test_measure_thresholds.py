"""Tuned thresholds by hand; the search against brute force stands in test_measure_promises."""

from __future__ import annotations

import numpy as np
import pytest

from limbeck.errors import MeasureError
from limbeck.measure import tune_thresholds

NAN = np.nan


def tune(truth, proba, **options) -> float:
    (threshold,) = tune_thresholds(np.array(truth)[:, None], np.array(proba)[:, None], **options)
    return threshold


def test_threshold_stands_midway_between_its_neighbours():
    assert tune([0, 0, 1, 1], [0.1, 0.2, 0.4, 0.9], min_positives=1) == pytest.approx(0.3)


def test_unknown_cells_are_no_neighbours():
    assert tune([0, 0, NAN, 1, 1], [0.1, 0.2, 0.39, 0.4, 0.9], min_positives=1) == pytest.approx(0.3)


def test_ties_stay_on_one_side():
    # A cut through the three at 0.6 would be best, but no threshold makes it.
    assert tune([1, 1, 0, 0], [0.6, 0.6, 0.6, 0.2], min_positives=1) == pytest.approx(0.4)


def test_of_equal_cuts_the_one_closest_to_a_half_wins():
    # Saying yes from 0.9 finds one of two (F1 2/3); from 0.3 both, with two false alarms (F1 2/3).
    assert tune([1, 0, 0, 1, 0], [0.9, 0.8, 0.7, 0.3, 0.25], min_positives=1) == pytest.approx(0.275)
    assert tune([1, 0, 0, 1, 0], [0.55, 0.5, 0.4, 0.1, 0.05], min_positives=1) == pytest.approx(0.525)


def test_lowest_cut_stands_midway_to_zero():
    assert tune([1, 1, 0], [0.4, 0.6, 0.5], min_positives=1) == pytest.approx(0.2)
    assert tune([1, 0], [0.0, 0.0], min_positives=1) == 0


def test_few_positives_or_no_negative_keep_the_fallback():
    truth = np.array([[1, 1, NAN], [1, 1, NAN], [1, 1, NAN], [1, 1, NAN], [0, 1, NAN], [0, NAN, 0]])
    proba = np.full((6, 3), 0.2) + 0.1 * np.nan_to_num(truth)
    assert tune_thresholds(truth, proba, min_positives=5, fallback=0.4).tolist() == [0.4, 0.4, 0.4]
    assert tune_thresholds(truth, proba, min_positives=4).tolist() == pytest.approx([0.25, 0.5, 0.5])
    assert tune_thresholds(truth, proba, min_positives=0).tolist() == pytest.approx([0.25, 0.5, 0.5])


@pytest.mark.parametrize("low", [np.float32(0.7), np.nextafter(np.float32(0.7), np.float32(1))])
def test_neighbours_without_room_between_them_are_still_told_apart_in_float32(low):
    high = np.nextafter(low, np.float32(1))
    threshold = tune(np.float32([0, 1]), np.array([low, high]), min_positives=1)
    for served in (np.float64(threshold), np.float32(threshold)):
        assert low < served <= high


def test_an_impossible_fallback_is_refused():
    with pytest.raises(MeasureError, match="from 0 to 1"):
        tune([1, 0], [0.5, 0.5], fallback=1.5)
