"""Agreement of annotators: Cohen's kappa as scikit-learn has it, its interval, and F1 of entities."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score, f1_score

from limbeck.annotate.agreement import agreement, entity_agreement, kappa
from limbeck.scorer import Span

CLASSES = st.sampled_from(["A", "B", "C"])


def by_number(values):
    return dict(enumerate(values))


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(CLASSES, CLASSES), min_size=1, max_size=30)
    | st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1)
)
def test_kappa_is_that_of_scikit_learn(pairs):
    a, b = zip(*pairs, strict=True)
    found = kappa(by_number(a), by_number(b), rounds=20)
    assert found.items == len(pairs)
    assert found.observed == pytest.approx(np.mean([x == y for x, y in pairs]))
    if len({*a, *b}) == 1:
        assert (found.kappa, found.observed, found.low, found.high) == (None, 1.0, None, None)
    else:
        assert found.kappa == pytest.approx(cohen_kappa_score(a, b))
        assert found.low is None or -1 <= found.low <= found.high <= 1


def test_only_items_that_both_judged_count():
    a = {"one": True, "two": False, "three": True, "four": False}
    b = {"two": False, "three": True, "four": True, "five": True}
    found = kappa(a, b)
    assert found.items == 3 and found.observed == pytest.approx(2 / 3)
    assert found.kappa == pytest.approx(cohen_kappa_score([0, 1, 0], [0, 1, 1]))


def test_nothing_in_common_has_no_agreement():
    found = kappa({"one": True}, {"two": True})
    assert (found.items, found.observed, found.kappa, found.low) == (0, None, None, None)
    assert kappa({}, {}).items == 0


def drawn(size, seed=1):
    # Three classes, agreement well above chance.
    chances = np.array([[53, 5, 2], [11, 14, 5], [1, 6, 3]]) / 100
    cells = np.random.default_rng(seed).choice(9, size, p=chances.ravel())
    return by_number(cells // 3), by_number(cells % 3)


def standard_error(a, b):
    """The large-sample error of kappa of Fleiss, Cohen and Everitt (1969)."""
    table = np.zeros((3, 3))
    for item, value in a.items():
        table[value, b[item]] += 1
    n, p = table.sum(), table / table.sum()
    rows, columns = p.sum(axis=1), p.sum(axis=0)
    observed, chance = np.trace(p), rows @ columns
    value = (observed - chance) / (1 - chance)
    diagonal = sum(p[i, i] * (1 - (rows[i] + columns[i]) * (1 - value)) ** 2 for i in range(3))
    rest = sum(p[i, j] * (columns[i] + rows[j]) ** 2 for i in range(3) for j in range(3) if i != j)
    return np.sqrt((diagonal + (1 - value) ** 2 * rest - (value - chance * (1 - value)) ** 2) / n) / (1 - chance)


def test_the_interval_is_as_wide_as_theory_says_and_repeats():
    a, b = drawn(400)
    found = kappa(a, b)
    assert (found.high - found.low) / 2 == pytest.approx(1.96 * standard_error(a, b), rel=0.1)
    assert found.low < found.kappa < found.high
    assert kappa(a, b) == found and kappa(a, b, seed=1).low != found.low


def test_the_interval_covers_the_truth_about_as_often_as_it_says():
    truth = kappa(*drawn(200_000, seed=0), rounds=1).kappa
    covered = sum(
        found.low <= truth <= found.high for found in (kappa(*drawn(150, seed), rounds=200) for seed in range(2, 102))
    )
    assert 88 <= covered <= 100


def test_more_annotators_have_the_mean_of_their_pairs_by_category():
    random_values = random.Random(3)
    said = {name: {item: random_values.random() < 0.4 for item in range(30)} for name in ("anna", "bert", "cleo")}
    said["bert"] = {item: value for item, value in said["bert"].items() if item < 20}
    judged = [(item, "Refund", name, value) for name, values in said.items() for item, value in values.items()]
    judged += [(item, "Luggage", "anna", True) for item in range(5)]
    found = agreement(judged)
    assert list(found) == ["Luggage", "Refund"]
    refund = found["Refund"]
    assert refund.annotators == ("anna", "bert", "cleo")
    assert {names: one.items for names, one in refund.pairs.items()} == {
        ("anna", "bert"): 20,
        ("anna", "cleo"): 30,
        ("bert", "cleo"): 20,
    }
    for (a, b), one in refund.pairs.items():
        items = sorted(said[a].keys() & said[b].keys())
        assert one.kappa == pytest.approx(cohen_kappa_score([said[a][i] for i in items], [said[b][i] for i in items]))
    assert refund.mean.items == 30
    assert refund.mean.kappa == pytest.approx(np.mean([one.kappa for one in refund.pairs.values()]))
    assert refund.mean.observed == pytest.approx(np.mean([one.observed for one in refund.pairs.values()]))
    assert refund.mean.low < refund.mean.kappa < refund.mean.high
    assert found["Luggage"].mean.items == 0 and found["Luggage"].mean.kappa is None and found["Luggage"].pairs == {}


def test_of_two_annotators_the_mean_is_their_kappa():
    a, b = drawn(100)
    judged = [(item, "", name, value) for name, said in (("anna", a), ("bert", b)) for item, value in said.items()]
    found = agreement(judged)[""]
    assert found.mean == found.pairs["anna", "bert"] == kappa(a, b)


def test_the_order_of_judgements_is_no_difference_but_the_last_word_counts():
    judged = [
        ("one", "A", "anna", True),
        ("one", "A", "anna", False),
        ("one", "A", "bert", False),
        ("two", "A", "bert", True),
        ("two", "A", "anna", True),
    ]
    found = agreement(judged)["A"].mean
    assert (found.items, found.observed, found.kappa) == (2, 1.0, 1.0)


def test_pairs_that_always_said_one_thing_are_left_out_of_the_mean():
    values = {"anna": [1, 1, 1, 1], "bert": [1, 1, 1, 1], "cleo": [1, 0, 1, 1]}
    found = agreement((item, "A", name, value) for name, said in values.items() for item, value in enumerate(said))["A"]
    assert found.pairs["anna", "bert"].kappa is None and found.pairs["anna", "bert"].observed == 1
    assert found.mean.kappa == pytest.approx(0) and found.mean.observed == pytest.approx((1 + 0.75 + 0.75) / 3)


TEXTS = {"one": "In Rome and Paris", "two": "Anna in Oslo", "three": "Nothing here"}
ANNA = {
    "one": [Span(3, 7, "LOC"), Span(12, 17, "LOC")],
    "two": [Span(0, 4, "PER"), Span(8, 12, "LOC")],
    "three": [],
}
BERT = {"one": [Span(3, 7, "LOC")], "two": [Span(0, 4, "LOC"), Span(8, 12, "LOC")], "three": []}


def judged_entities(**said):
    return [(item, TEXTS[item], name, spans) for name, values in said.items() for item, spans in values.items()]


def test_entities_agree_if_their_characters_and_types_do():
    found = entity_agreement(judged_entities(anna=ANNA, bert=BERT))
    assert (found.annotators, found.texts, found.pairs) == (("anna", "bert"), 3, {})
    assert found.f1 == pytest.approx(2 * 2 / (4 + 3))
    assert found.by_type == {"LOC": pytest.approx(2 * 2 / (3 + 3)), "PER": 0.0}
    a = "O LOC O LOC PER O LOC O O".split()
    b = "O LOC O O LOC O LOC O O".split()
    assert found.words.items == 9 and found.words.kappa == pytest.approx(cohen_kappa_score(a, b))
    assert found.words.observed == pytest.approx(7 / 9)
    assert found.low <= found.f1 <= found.high and found.words.low <= found.words.kappa <= found.words.high


def test_a_word_that_ends_where_an_entity_begins_is_no_part_of_it():
    judged = [(0, "S-Bahn", name, [Span(start, 6, "X")]) for name, start in (("anna", 1), ("bert", 2))]
    assert entity_agreement(judged).words.kappa == pytest.approx(cohen_kappa_score([0, 1, 1], [0, 0, 1]))
    judged = [(0, "S-Bahn", name, [Span(0, end, "X")]) for name, end in (("anna", 1), ("bert", 2))]
    assert entity_agreement(judged).words.kappa == pytest.approx(cohen_kappa_score([1, 0, 0], [1, 1, 0]))


def test_f1_is_that_of_scikit_learn_over_all_places():
    places = random.Random(5)
    said = {
        name: {item: [Span(at, at + 1, "X") for at in range(0, 40, 2) if places.random() < 0.5] for item in range(6)}
        for name in ("anna", "bert")
    }
    text = "x " * 20
    found = entity_agreement(
        (item, text, name, spans) for name, values in said.items() for item, spans in values.items()
    )
    marks = {
        name: [any(span.start == at for span in values[item]) for item in range(6) for at in range(0, 40, 2)]
        for name, values in said.items()
    }
    assert found.f1 == pytest.approx(f1_score(marks["anna"], marks["bert"]))
    assert found.words.kappa == pytest.approx(cohen_kappa_score(marks["anna"], marks["bert"]))


def test_more_annotators_of_entities_have_the_mean_of_their_pairs():
    cleo = {"one": ANNA["one"], "three": []}
    found = entity_agreement(judged_entities(anna=ANNA, bert=BERT, cleo=cleo))
    assert {names: one.texts for names, one in found.pairs.items()} == {
        ("anna", "bert"): 3,
        ("anna", "cleo"): 2,
        ("bert", "cleo"): 2,
    }
    assert found.pairs["anna", "cleo"].f1 == 1.0
    assert found.f1 == pytest.approx(np.mean([one.f1 for one in found.pairs.values()]))
    assert found.words.kappa == pytest.approx(np.mean([one.words.kappa for one in found.pairs.values()]))


def test_no_entities_at_all_are_no_agreement_about_entities():
    nothing = {"three": []}
    found = entity_agreement(judged_entities(anna=nothing, bert=nothing))
    assert (found.f1, found.low, found.by_type) == (None, None, {})
    assert (found.words.kappa, found.words.observed) == (None, 1.0)
    alone = entity_agreement(judged_entities(anna=ANNA))
    assert (alone.texts, alone.f1, alone.words.kappa) == (0, None, None)
    assert entity_agreement([]).texts == 0
