"""Scaled confidence: continuous, 0.5 at the threshold, 1 at the ends; and what makes a guess certain."""

import numpy as np
import pytest

from limbeck.config import PseudoSettings
from limbeck.errors import BadSetting
from limbeck.pseudo.confidence import Rule
from limbeck.runtime.confidence import confidence, scaled

THRESHOLDS = [0.001, 0.1, 0.5, 0.8, 0.999]
NAN = np.nan


@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_it_is_continuous_at_the_threshold_and_rises_everywhere(threshold):
    assert confidence(threshold, threshold) == pytest.approx(0.5)
    assert scaled(threshold - 1e-9, threshold) == pytest.approx(0.5, abs=1e-5)
    assert (confidence(0, threshold), confidence(1, threshold)) == (1, 1)
    assert (np.diff(scaled(np.linspace(0, 1, 1001), threshold)) > 0).all()


def test_at_one_half_it_is_symmetric_and_the_probability_itself():
    proba = np.linspace(0, 1, 101)
    assert scaled(proba, 0.5) == pytest.approx(proba)
    assert confidence(proba, 0.5) == pytest.approx(confidence(1 - proba, 0.5))


def test_thresholds_at_the_ends_give_no_nonsense():
    proba = np.array([0, 0.3, 1])
    assert scaled(proba, 0) == pytest.approx([0.5, 0.65, 1])
    assert scaled(proba, 1) == pytest.approx([0, 0.15, 0.5])
    assert np.isnan(confidence(NAN, 0.5))


def rule(thresholds=(0.5, 0.2), one_class=False, **settings):
    return Rule.of(PseudoSettings(**settings), ("heat", "wifi"), np.array(thresholds), one_class)


def test_a_category_s_own_confidence_goes_before_that_of_its_side():
    judged = rule(confidence=0.6, positive_confidence=0.9, categories={"wifi": 0.7}).judge([[0.8, 0.6], [0.3, 0.01]])
    assert judged.needed.tolist() == [[0.9, 0.7], [0.6, 0.7]]
    # wifi: 0.5 + (0.6 - 0.2) / 1.6 = 0.75, and 1 - 0.01 / 0.4 = 0.975.
    assert judged.confidence == pytest.approx(np.array([[0.8, 0.75], [0.7, 0.975]]))
    assert judged.certain.tolist() == [[False, True], [True, True]]


def test_sides_without_a_confidence_of_their_own_take_the_common_one():
    assert rule(confidence=0.7).judge([[0.9, 0.0]]).needed.tolist() == [[0.7, 0.7]]
    assert rule(confidence=0.7, negative_confidence=0.8).judge([[0.9, 0.0]]).needed.tolist() == [[0.7, 0.8]]


def test_unknown_cells_are_neither_certain_nor_uncertain():
    proba = [[0.95, NAN], [0.6, NAN], [NAN, NAN], [0.95, 0.25]]
    strict, lenient = rule(confidence=0.9), rule(confidence=0.9, uncertain="unknown")
    assert strict.stays(strict.judge(proba)).tolist() == [True, False, False, False]
    assert lenient.stays(lenient.judge(proba)).tolist() == [True, False, False, True]
    assert strict.judge(proba).lowest == pytest.approx([0.95, 0.6, 0, 0.53125])
    assert strict.judge(proba).highest == pytest.approx([0.95, 0.6, 0, 0.95])


def test_of_classes_the_most_probable_is_the_guess_and_its_probability_the_confidence():
    classes = rule(one_class=True, confidence=0.7, categories={"wifi": 0.9})
    judged = classes.judge([[0.75, 0.25], [0.2, 0.8], [0.05, 0.95], [NAN, NAN]])
    assert judged.yes.tolist() == [[True, False], [False, True], [False, True], [False, False]]
    assert judged.needed[:3].tolist() == [[0.7, 0.7], [0.9, 0.9], [0.9, 0.9]]
    assert classes.stays(judged).tolist() == [True, False, True, False]


def test_a_name_that_is_no_category_is_answered_with_the_nearest():
    with pytest.raises(BadSetting, match=r"pseudo.categories names 'wify'.*'wifi'"):
        rule(categories={"wify": 0.9})
