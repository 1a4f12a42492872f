"""Intervals and differences: equal to evaluate, like the slow bootstrap, the same again by seed."""

from __future__ import annotations

import math

import numpy as np
import pytest

from limbeck.errors import MeasureError
from limbeck.measure import (
    bootstrap,
    bootstrap_interval,
    decide,
    decide_classes,
    evaluate,
    evaluate_classes,
    paired_bootstrap,
)

FIGURES = [
    "macro_f1",
    "macro_precision",
    "macro_recall",
    "micro_f1",
    "micro_precision",
    "micro_recall",
    "accuracy",
    "hamming_loss",
    "subset_loss",
]


def random_case(seed: int = 0, rows: int = 200, labels: int = 5, unknown: float = 0.4):
    rng = np.random.default_rng(seed)
    truth = (rng.random((rows, labels)) < 0.3).astype(np.float32)
    proba = np.clip(0.4 * truth + 0.6 * rng.random((rows, labels)), 0, 1)
    truth[rng.random((rows, labels)) < unknown] = np.nan
    return truth, proba


@pytest.mark.parametrize("figure", FIGURES)
def test_estimate_is_that_of_evaluate(figure):
    truth, proba = random_case()
    truth[:, 4] = np.where(truth[:, 4] == 1, np.nan, truth[:, 4])
    truth[:7] = np.nan
    thresholds = np.full(5, 0.5)
    interval = bootstrap_interval(truth, decide(proba, thresholds), figure, rounds=200)
    assert interval.estimate == getattr(evaluate(truth, proba, thresholds, tuple("abcde")), figure)
    assert interval.low < interval.estimate < interval.high
    assert (interval.level, interval.rounds) == (0.95, 200)


@pytest.mark.parametrize("figure", ["macro_f1", "subset_loss"])
def test_interval_is_like_that_of_the_slow_bootstrap(figure):
    truth, proba = random_case(rows=150, labels=3)
    thresholds, rng, drawn = np.full(3, 0.5), np.random.default_rng(1), []
    for _ in range(300):
        rows = rng.integers(0, 150, 150)
        drawn.append(getattr(evaluate(truth[rows], proba[rows], thresholds, ("a", "b", "c")), figure))
    interval = bootstrap_interval(truth, decide(proba, thresholds), figure, rounds=4000)
    low, high = np.quantile(drawn, [0.025, 0.975])
    assert interval.low == pytest.approx(low, abs=0.015)
    assert interval.high == pytest.approx(high, abs=0.015)


def test_same_seed_same_interval_whatever_the_order_of_rows_and_the_size_of_chunks(monkeypatch):
    truth, proba = random_case()
    decisions = decide(proba, np.full(5, 0.5))
    first = bootstrap_interval(truth, decisions, rounds=300, seed=3)
    order = np.random.default_rng(0).permutation(len(truth))
    assert bootstrap_interval(truth[order], decisions[order], rounds=300, seed=3) == first
    assert bootstrap_interval(truth, decisions, rounds=300, seed=4) != first
    monkeypatch.setattr(bootstrap, "_DRAWS_AT_ONCE", 1000)
    assert bootstrap_interval(truth, decisions, rounds=300, seed=3) == first


def test_rows_that_nobody_labelled_change_nothing():
    truth, proba = random_case()
    decisions = decide(proba, np.full(5, 0.5))
    more = np.vstack([truth, np.full_like(truth, np.nan)])
    both = bootstrap_interval(more, np.vstack([decisions, decisions]), rounds=100)
    assert both == bootstrap_interval(truth, decisions, rounds=100)


def test_interval_narrows_with_rows_and_widens_with_level():
    def width(rows: int, level: float) -> float:
        truth, proba = random_case(rows=rows)
        interval = bootstrap_interval(truth, decide(proba, np.full(5, 0.5)), rounds=300, level=level)
        return interval.high - interval.low

    assert width(4000, 0.95) < 0.5 * width(200, 0.95)
    assert width(200, 0.8) < width(200, 0.95) < width(200, 0.99)


def test_interval_holds_the_true_figure_about_as_often_as_it_says():
    held = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        truth = np.zeros((300, 1))
        interval = bootstrap_interval(truth, rng.random((300, 1)) < 0.2, "hamming_loss", rounds=300, level=0.9)
        held += interval.low <= 0.2 <= interval.high
    assert 48 <= held <= 60


def test_classes_are_resampled_through_their_decisions():
    rng = np.random.default_rng(0)
    truth = np.eye(3)[rng.integers(0, 3, 100)]
    proba = rng.dirichlet(np.ones(3), 100)
    interval = bootstrap_interval(truth, decide_classes(proba), "subset_loss", rounds=200)
    assert interval.estimate == evaluate_classes(truth, proba, ("a", "b", "c")).subset_loss


@pytest.mark.parametrize("figure", FIGURES)
def test_a_model_does_not_differ_from_itself(figure):
    truth, proba = random_case()
    decisions = decide(proba, np.full(5, 0.5))
    difference = paired_bootstrap(truth, decisions, decisions, figure, rounds=200)
    assert (difference.estimate, difference.low, difference.high, difference.p_value) == (0, 0, 0, 1)


def test_a_better_model_is_found_better_and_the_sign_follows_the_order():
    truth, proba = random_case(rows=400)
    good, poor = decide(proba, np.full(5, 0.5)), decide(proba, np.full(5, 0.2))
    gain, loss = paired_bootstrap(truth, good, poor, rounds=999), paired_bootstrap(truth, poor, good, rounds=999)
    assert 0 < gain.low < gain.estimate < gain.high
    assert gain.p_value == pytest.approx(2 / 1000)
    assert loss.estimate == -gain.estimate and loss.high < 0
    expected = bootstrap_interval(truth, good).estimate - bootstrap_interval(truth, poor).estimate
    assert gain.estimate == expected


def test_p_values_of_equally_good_models_are_spread_out():
    values = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        a, b = rng.random((200, 1)) < 0.2, rng.random((200, 1)) < 0.2
        values.append(paired_bootstrap(np.zeros((200, 1)), a, b, "hamming_loss", rounds=200).p_value)
    assert np.mean(np.array(values) < 0.1) < 0.25
    assert 0.3 < np.median(values) < 0.75


def test_pairing_gives_a_narrower_difference_than_two_intervals():
    truth, proba = random_case(rows=300)
    a, b = decide(proba, np.full(5, 0.5)), decide(proba, np.full(5, 0.52))
    alone = bootstrap_interval(truth, a, rounds=300)
    paired = paired_bootstrap(truth, a, b, rounds=300)
    assert paired.high - paired.low < alone.high - alone.low


def test_rounds_without_a_positive_do_not_count():
    truth = np.array([[1.0], [0.0], [0.0]])
    interval = bootstrap_interval(truth, truth, rounds=200)
    assert (interval.estimate, interval.low, interval.high) == (1, 1, 1)
    nothing = bootstrap_interval(np.zeros((3, 1)), np.zeros((3, 1)), rounds=20)
    assert math.isnan(nothing.estimate) and math.isnan(nothing.low)
    assert paired_bootstrap(np.zeros((3, 1)), np.zeros((3, 1)), np.zeros((3, 1)), rounds=20).p_value == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"decisions": [[0.7], [0.2]]}, r"decisions\[0, 0\] is 0.7 .*decide\(proba, thresholds\)"),
        ({"decisions": [[1, 0]]}, r"decisions has shape \(1, 2\), but \(2, 1\) is needed"),
        ({"figure": "macro_f2"}, "Did you mean 'macro_f1'"),
        ({"rounds": 0}, "at least one round"),
        ({"level": 95}, "level between 0 and 1"),
        ({"truth": [[np.nan], [np.nan]]}, "No label"),
    ],
)
def test_what_can_not_be_resampled_is_refused(options, message):
    with pytest.raises(MeasureError, match=message):
        bootstrap_interval(**({"truth": [[1.0], [0.0]], "decisions": [[1], [1]]} | options))
