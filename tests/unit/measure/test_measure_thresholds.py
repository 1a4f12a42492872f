"""Tuned thresholds by hand; the search against brute force stands in test_measure_promises."""

from __future__ import annotations

import numpy as np
import pytest

from limbeck.errors import MeasureError
from limbeck.measure import evaluate, steady_thresholds, tune_thresholds
from limbeck.measure.thresholds import Unlabelled, choose_thresholds, leaning_thresholds

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


def rare(rows, seed, rate=0.05):
    """Draw truth and probabilities that a Platt curve links, as curated training rows would give them."""
    rng = np.random.default_rng(seed)
    truth = (rng.random((rows, 1)) < rate).astype(np.float32)
    logits = rng.normal(size=(rows, 1)) * 1.2 + 2.0 * truth - 0.5
    return truth, (1 / (1 + np.exp(-logits))).astype(np.float32)


def test_steady_thresholds_do_better_on_new_rows_than_the_line_search_when_positives_are_few():
    unseen, scores = rare(40_000, seed=999)

    def f1(tune):
        return np.mean([evaluate(unseen, scores, tune(*rare(200, seed)), ["a"]).macro_f1 for seed in range(40)])

    assert f1(steady_thresholds) > f1(tune_thresholds) + 0.01


def test_steady_thresholds_come_to_the_best_ones_when_rows_are_many():
    truth, proba = rare(30_000, seed=1)
    best, steady = tune_thresholds(truth, proba), steady_thresholds(truth, proba)
    names = ["a"]
    assert evaluate(truth, proba, steady, names).macro_f1 > evaluate(truth, proba, best, names).macro_f1 - 0.01


def test_steady_thresholds_skip_unknown_rows_and_fall_back_without_an_answer():
    truth, proba = rare(300, seed=2)
    unknown = np.concatenate([truth, np.full_like(truth, np.nan)])
    doubled = np.concatenate([proba, 1 - proba])
    assert steady_thresholds(unknown, doubled) == pytest.approx(steady_thresholds(truth, proba))
    assert steady_thresholds(np.zeros_like(truth), proba).tolist() == [0.5]
    few = truth.copy()
    few[np.flatnonzero(truth == 1)[3:]] = 0
    assert 0 < steady_thresholds(few, proba)[0] < 1


def test_steady_thresholds_move_with_a_curve_that_the_probabilities_are_put_through():
    truth, proba = rare(400, seed=3)
    logits = np.log(proba / (1 - proba))
    moved = (1 / (1 + np.exp(-(0.5 * logits - 1.5)))).astype(np.float32)
    one = proba >= steady_thresholds(truth, proba)
    other = moved >= steady_thresholds(truth, moved)
    assert np.mean(one != other) < 0.02


def few_and_many(rng, positives, negatives=400):
    """Give a dev set of one label and what a model says of it."""
    truth = np.array([1.0] * positives + [0.0] * negatives)
    scores = 1 / (1 + np.exp(-rng.normal(np.where(truth == 1, 1.0, -2.0), 1.0)))
    return truth[:, None], scores[:, None]


def pool_with_its_best_cut_at(cut):
    """Give scores whose texts above `cut` have the label for sure, and no others."""
    scores = np.linspace(0.005, 0.995, 100, dtype=np.float32)
    return Unlabelled(scores[:, None], (scores > cut).astype(np.float32)[:, None])


def test_thresholds_lean_on_the_pool_where_positives_are_few():
    rng = np.random.default_rng(0)
    few, many = (few_and_many(rng, positives) for positives in (3, 2000))
    pool = pool_with_its_best_cut_at(0.9)
    (of_few,), (of_many,) = leaning_thresholds(*few, pool), leaning_thresholds(*many, pool)
    assert of_few == pytest.approx(0.9, abs=0.02)
    assert of_many == pytest.approx(steady_thresholds(*many)[0], abs=0.05)


def test_the_pools_cut_has_the_highest_f1_that_can_be_expected():
    rng = np.random.default_rng(1)
    scores = rng.random(300).round(1).astype(np.float32)  # many are equal: a cut can't part them
    guesses = rng.random(300).astype(np.float32) * scores
    # Dev has no positive, so that only the pool is heard.
    (found,) = leaning_thresholds([[0.0]], [[0.5]], Unlabelled(scores[:, None], guesses[:, None]))

    def expected(threshold):
        yes = scores >= threshold
        return 2 * guesses[yes].sum() / (yes.sum() + guesses.sum())

    assert expected(found) == pytest.approx(max(expected(cut) for cut in np.unique(scores)))


def test_what_the_teacher_cannot_guess_is_left_to_dev():
    truth, scores = few_and_many(np.random.default_rng(2), 20)
    pool = pool_with_its_best_cut_at(0.9)
    silent = Unlabelled(pool.scores, np.full_like(pool.guesses, NAN))
    assert leaning_thresholds(truth, scores, silent) == pytest.approx(steady_thresholds(truth, scores))


def test_only_thresholds_that_may_lean_do():
    truth, scores = few_and_many(np.random.default_rng(3), 20)
    pool = pool_with_its_best_cut_at(0.9)
    for how, expected in (
        ("steady", steady_thresholds(truth, scores)),
        ("line-search", tune_thresholds(truth, scores)),
    ):
        assert choose_thresholds(truth, scores, how, 5, pool) == pytest.approx(expected)
    assert choose_thresholds(truth, scores, "pool", 5) == pytest.approx(steady_thresholds(truth, scores))
    assert choose_thresholds(truth, scores, "pool", 5, pool) == pytest.approx(leaning_thresholds(truth, scores, pool))
