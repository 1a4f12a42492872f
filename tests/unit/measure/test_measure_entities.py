"""Figures of entities: as seqeval and nervaluate have them, and what each error costs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nervaluate import Evaluator
from seqeval.metrics import f1_score, precision_score, recall_score

from limbeck.data.sentences import Sentence, entities_of, tags_of
from limbeck.errors import MeasureError
from limbeck.measure.entities import AceCosts, Outcome, Pair, ace_value, align, evaluate_entities, exact_counts
from limbeck.scorer import Span

TYPES = ("LOC", "PER")


@st.composite
def tagged(draw, length):
    found, at = [], 0
    while at < length:
        last = draw(st.integers(at + 1, min(at + 3, length)))
        if draw(st.booleans()):
            found.append((at, last, draw(st.sampled_from(TYPES))))
        at = last
    return tags_of(found, length)


@st.composite
def corpora(draw):
    """True tags and found tags of a few sentences."""
    lengths = draw(st.lists(st.integers(1, 9), min_size=1, max_size=5))
    return [draw(tagged(n)) for n in lengths], [draw(tagged(n)) for n in lengths]


def spans(tags):
    return [Sentence(("w",) * len(row), tuple(row), 1).spans() for row in tags]


def rates(found):
    return pytest.approx((found.precision, found.recall, found.f1))


@given(corpora())
@settings(deadline=None)
def test_exact_match_is_seqevals(corpus):
    truth, found = ([list(row) for row in side] for side in corpus)
    figures = evaluate_entities(spans(truth), spans(found), TYPES)
    told = [measure(truth, found, zero_division=0) for measure in (precision_score, recall_score, f1_score)]
    assert tuple(told) == rates(figures.exact)
    right, mine, there = exact_counts(spans(truth), spans(found)).sum(axis=0)
    assert (right / mine if mine else 0, right / there if there else 0) == pytest.approx(told[:2])
    for one in figures.types:
        only = [[[tag if tag[2:] == one.type else "O" for tag in row] for row in side] for side in (truth, found)]
        assert f1_score(*only, zero_division=0) == pytest.approx(one.exact.f1)


def test_schemes_that_forgive_are_nervaluates():
    truth = ["B-LOC I-LOC O B-PER O O B-LOC O".split(), "O O B-PER I-PER O B-LOC".split(), "O O".split()]
    found = ["B-LOC O O B-LOC O B-PER O O".split(), "O B-PER I-PER I-PER O B-LOC".split(), "B-LOC O".split()]
    figures = evaluate_entities(spans(truth), spans(found), TYPES)
    theirs = Evaluator(truth, found, tags=list(TYPES), loader="list").evaluate()["overall"]
    for scheme, mine in (("strict", figures.exact), ("partial", figures.partial), ("ent_type", figures.type)):
        assert (theirs[scheme].precision, theirs[scheme].recall, theirs[scheme].f1) == rates(mine)


def test_every_error_has_its_name():
    truth = [[Span(0, 4, "LOC"), Span(5, 9, "PER"), Span(10, 20, "LOC"), Span(30, 40, "PER"), Span(50, 60, "PER")]]
    found = [[Span(0, 4, "LOC"), Span(5, 9, "LOC"), Span(10, 16, "LOC"), Span(35, 45, "LOC"), Span(70, 80, "PER")]]
    figures = evaluate_entities(truth, found, TYPES)
    assert figures.errors == dict.fromkeys(map(str, Outcome), 1)
    by_type = {one.type: one for one in figures.types}
    assert by_type["PER"].errors == {
        "right": 0,
        "wrong type": 1,
        "wrong boundary": 0,
        "wrong type and boundary": 1,
        "missed": 1,
        "spurious": 1,
    }
    # Taken for places were a person's text and a part of another's.
    assert by_type["LOC"].errors["spurious"] == 2 and by_type["LOC"].entities == 2
    # Types: right twice of five; texts: right twice of five.
    assert figures.muc.recall == pytest.approx(4 / 10) and figures.muc.precision == pytest.approx(4 / 10)
    assert figures.partial.recall == pytest.approx((1 + 1 + 0.5 + 0.5) / 5)


def test_ace_takes_costs_off_what_entities_are_worth():
    person, place = Span(0, 10, "PER"), Span(20, 30, "LOC")
    costs = AceCosts({"LOC": 0.5}, missed=1, spurious=0.8, wrong_type=0.4, wrong_boundary=0.2, overlap=0.5)
    assert ace_value([Pair(person, person), Pair(place, place)], costs) == 1
    assert ace_value([Pair(person, person), Pair(place, None)], costs) == pytest.approx(1 - 0.5 / 1.5)
    assert ace_value([Pair(person, Span(0, 10, "LOC"))], costs) == pytest.approx(0.6)
    assert ace_value([Pair(person, Span(0, 8, "LOC"))], costs) == pytest.approx(0.4)
    # Too little of it was found: missed, and a false alarm.
    assert ace_value([Pair(person, Span(6, 10, "PER"))], costs) == pytest.approx(1 - 1 - 0.8)
    assert ace_value([], costs) == 0


@given(corpora())
def test_everything_is_paired_once(corpus):
    truth, found = (spans(side) for side in corpus)
    for true, mine in zip(truth, found, strict=True):
        pairs = align(true, mine)
        assert sorted(p.truth.start for p in pairs if p.truth) == [s.start for s in true]
        assert sorted(p.found.start for p in pairs if p.found) == [s.start for s in mine]
        assert all(p.overlap > 0 for p in pairs if p.truth and p.found)


def test_perfect_and_empty():
    truth = [[Span(0, 3, "LOC")], []]
    perfect = evaluate_entities(truth, truth, TYPES)
    assert perfect.exact.f1 == perfect.muc.f1 == perfect.partial.f1 == perfect.type.f1 == perfect.ace == 1
    nothing = evaluate_entities(truth, [[], []], TYPES)
    assert nothing.exact.f1 == nothing.muc.f1 == nothing.ace == 0 and nothing.errors["missed"] == 1
    assert evaluate_entities([[]], [[]], TYPES).exact.f1 == 0
    assert np.array_equal(exact_counts([], []), np.zeros((0, 3)))
    with pytest.raises(MeasureError, match="1 sentences were tagged, of 2"):
        evaluate_entities(truth, [[]], TYPES)


def test_entities_of_tags():
    assert entities_of(["O", "I-LOC", "I-LOC", "B-LOC", "I-PER"]) == [(1, 3, "LOC"), (3, 4, "LOC"), (4, 5, "PER")]
