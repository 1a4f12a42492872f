"""Curves by hand and against scikit-learn."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn import metrics

from limbeck.errors import MeasureError
from limbeck.measure import average_precision, precision_recall_curve

NAN = np.nan


def test_curve_by_hand():
    # Falling: 0.9 yes, 0.6 yes and no together, 0.2 no; the unknown cell at 0.8 is not there.
    precision, recall, thresholds = precision_recall_curve([0, 1, 0, NAN, 1], [0.2, 0.6, 0.6, 0.8, 0.9])
    assert thresholds.tolist() == [0.2, 0.6, 0.9]
    assert precision.tolist() == [2 / 4, 2 / 3, 1, 1]
    assert recall.tolist() == [1, 1, 0.5, 0]
    assert average_precision([0, 1, 0, NAN, 1], [0.2, 0.6, 0.6, 0.8, 0.9]) == pytest.approx(0.5 * 1 + 0.5 * 2 / 3)


@pytest.mark.parametrize("seed", range(10))
def test_agrees_with_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    truth = (rng.random(80) < 0.3).astype(np.float32)
    proba = np.clip(rng.random(80) + 0.2 * truth, 0, 1).round(seed % 3 + 1)
    truth[rng.random(80) < 0.2] = NAN
    known = ~np.isnan(truth)
    expected = metrics.precision_recall_curve(truth[known], proba[known])
    for got, wanted in zip(precision_recall_curve(truth, proba), expected, strict=True):
        np.testing.assert_allclose(got, wanted)
    wanted = metrics.average_precision_score(truth[known], proba[known])
    assert average_precision(truth, proba) == pytest.approx(wanted)


def test_without_a_positive_recall_and_average_precision_are_nan():
    precision, recall, _ = precision_recall_curve([0, 0], [0.1, 0.2])
    assert precision.tolist() == [0, 0, 1]
    assert np.isnan(recall[:-1]).all() and recall[-1] == 0
    assert math.isnan(average_precision([0, NAN], [0.1, 0.2]))


def test_one_cell_is_enough():
    assert average_precision([1], [0.0]) == 1
    assert average_precision([1, 1], [0.3, 0.3]) == 1


def test_columns_that_do_not_fit_are_refused():
    with pytest.raises(MeasureError, match="No label"):
        precision_recall_curve([NAN], [0.5])
    with pytest.raises(MeasureError, match=r"proba has shape \(3,\), but \(2,\)"):
        average_precision([0, 1], [0.1, 0.2, 0.3])
    with pytest.raises(MeasureError, match="one label's column"):
        average_precision([[0, 1]], [[0.1, 0.2]])
