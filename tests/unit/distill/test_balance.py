"""Rare labels made frequent in the guesses, and made rare again in the student."""

import numpy as np
import pytest

from limbeck.distill.balance import likelier, raised_to, shifted


def test_rare_labels_rise_together_and_frequent_ones_stay():
    guesses = np.array([[0.01, 0.7, np.nan], [0.03, 0.5, np.nan], [0.02, np.nan, np.nan]], dtype=np.float32)
    by = raised_to(guesses, 0.3)
    assert by[0] > 3 and by[1] == 0 and by[2] == 0
    raised = shifted(guesses, by)
    assert raised[:, 0].mean() == pytest.approx(0.3, abs=0.02)
    assert np.array_equal(np.argsort(raised[:, 0]), np.argsort(guesses[:, 0]))
    assert raised[:2, 1] == pytest.approx(guesses[:2, 1])
    assert np.array_equal(np.isnan(raised), np.isnan(guesses))
    assert shifted(raised, -by)[:, 0] == pytest.approx(guesses[:, 0], abs=1e-4)


def test_rows_that_were_chosen_for_their_label_are_known_as_such():
    labels = np.array([[1, 0, np.nan], [0, 1, np.nan], [np.nan, 1, np.nan]], dtype=np.float32)
    guesses = np.full((10, 3), 0.1, dtype=np.float32)
    by = likelier(labels, guesses)
    assert by[0] == pytest.approx(np.log(9), abs=1e-4) and by[1] > by[0] and by[2] == 0


def test_nothing_rises_if_nothing_shall():
    assert not raised_to(np.full((4, 2), 0.01, dtype=np.float32), 0.0).any()
