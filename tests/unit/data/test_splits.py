"""Splits: stratified, seeded, blind to unknown labels, and never with one text on two sides."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from limbeck.data.splits import JUDGING, TUNING, assign_folds, assign_halves, settle, without_texts_of
from limbeck.errors import TooFewRows
from limbeck.text import normalise


def partial_labels(rows: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    labels = (rng.random((rows, 4)) < [0.3, 0.1, 0.05, 0.02]).astype(np.float32)
    labels[rng.random((rows, 4)) < 0.6] = np.nan
    return labels


def test_positives_and_negatives_of_every_category_are_spread_evenly():
    labels = partial_labels(2000)
    folds = assign_folds([f"text {i}" for i in range(2000)], labels, 5, seed=0)
    for value in (0, 1):
        for column in range(4):
            counts = np.bincount(folds[labels[:, column] == value], minlength=5)
            assert counts.max() - counts.min() <= max(4, 0.1 * counts.mean())


def test_the_seed_decides():
    labels, texts = partial_labels(200), [f"text {i}" for i in range(200)]
    first = assign_folds(texts, labels, 3, seed=1)
    assert np.array_equal(first, assign_folds(texts, labels, 3, seed=1))
    assert not np.array_equal(first, assign_folds(texts, labels, 3, seed=2))


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    st.lists(
        st.sampled_from(["late", "Late!", "LATE", "so cold", "so  cold.", "hm", "x", "y?", "Y"]),
        min_size=12,
        max_size=60,
    ),
    st.integers(0, 5),
)
def test_texts_that_are_the_same_after_normalising_share_a_fold(texts, seed):
    keys = [normalise(text) for text in texts]
    if len(set(keys)) < 3:
        return
    folds = assign_folds(texts, partial_labels(len(texts)), 3, seed)
    for key in set(keys):
        assert len({fold for fold, k in zip(folds, keys, strict=True) if k == key}) == 1
    assert set(folds) <= {0, 1, 2}


def test_halves_are_of_equal_size_and_both_hold_every_source():
    texts, sources = [f"text {i}" for i in range(100)], ["app"] * 80 + ["web"] * 20
    halves = assign_halves(texts, np.zeros((100, 2), np.float32), seed=0, sources=sources)
    assert abs(int((halves == TUNING).sum()) - 50) <= 1
    assert sum(halves[80:] == JUDGING) == 10


def test_a_single_label_and_no_known_label_at_all_can_be_split():
    texts = [f"text {i}" for i in range(30)]
    for labels in (np.ones((30, 1), np.float32), np.full((30, 2), np.nan, np.float32)):
        assert sorted(np.bincount(assign_folds(texts, labels, 3, seed=0))) == [10, 10, 10]


def test_too_few_texts_are_an_error():
    with pytest.raises(TooFewRows, match="2 distinct texts can't fill 3 folds"):
        assign_folds(["a", "A", "b"], np.zeros((3, 1), np.float32), 3, seed=0)


def test_texts_of_the_other_side_are_found_whatever_their_case():
    assert without_texts_of(["Too late!", "fine"], ["too late"]).tolist() == [False, True]


def test_settled_texts_stay_and_new_ones_even_out_what_is_there():
    texts, labels = [f"text {i}" for i in range(600)], partial_labels(600)
    first = assign_folds(texts[:400], labels[:400], 4, seed=0)
    folds = assign_folds(texts, labels, 4, seed=9, settled=settle(texts[:400], first))
    assert np.array_equal(folds[:400], first)
    for value in (0, 1):
        for column in range(4):
            counts = np.bincount(folds[labels[:, column] == value], minlength=4)
            assert counts.max() - counts.min() <= max(3, 0.1 * counts.mean())


def test_rows_that_come_one_by_one_are_spread_as_evenly_as_all_at_once():
    labels = partial_labels(120)
    texts = [f"text {i}" for i in range(120)]
    folds = assign_folds(texts[:8], labels[:8], 4, seed=0)
    for end in range(9, 121):
        folds = assign_folds(texts[:end], labels[:end], 4, seed=0, settled=settle(texts[: end - 1], folds))
    assert np.ptp(np.bincount(folds, minlength=4)) <= 8
    assert np.ptp(np.bincount(folds[labels[:, 0] == 1], minlength=4)) <= 1
