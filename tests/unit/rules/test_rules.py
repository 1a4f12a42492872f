"""What rules say of texts: matches, excludes, overlaps, figures, candidates and weak labels."""

import random

import numpy as np
import pytest

from limbeck.data.dataset import Dataset
from limbeck.errors import BadSetting
from limbeck.rules import Rule, Rules, candidates, survey, weak_labels, weak_rows

RULES = Rules(
    (
        Rule("late", (r"\blate\b", "delay", "verspät"), ("not late", "sleep late")),
        Rule("wifi", (r"\bwi-?fi\b", "wlan"), weight=0.8, negative=True),
        Rule("money", ("refund", "delay"), title="Money back"),
    )
)
POOL = [
    "The train was LATE again",
    "Große Verspätung!",
    "late, delayed, delay after delay",
    "we were not late",
    "no Wi-Fi in the delayed train",
    "nothing to say",
    "not late, and a WLAN at last",
    "sleep late",
]


def by_name(found):
    return {one.category: one for one in found.categories}


def test_each_text_and_category_is_matched_excluded_or_none_and_by_what():
    found = list(RULES.match(POOL))
    assert found[0]["late"].include == (0,) and found[0]["late"].verdict == "matched"
    assert found[2]["late"].include == (0, 1) and found[2]["money"].include == (1,)
    assert found[3]["late"].exclude == (0,) and found[3]["late"].verdict == "excluded"
    assert found[5] == {}
    only_exclude = Rules((Rule("late", ("delay",), ("night",)),)).look("at night")
    assert only_exclude["late"].verdict == "none"


def test_a_survey_counts_what_each_expression_finds():
    found = survey(RULES, iter(POOL))
    late = by_name(found)["late"]
    assert (found.texts, found.found) == (8, 5)
    assert (late.found, late.excluded, late.share) == (4, 3, 4 / 8)
    first, second, third, *excludes = late.expressions
    assert (first.found, first.only, first.excluded, first.kind) == (5, 1, 3, "include")
    assert (second.found, second.only, second.excluded) == (2, 1, 0)
    assert (third.found, third.only, third.share) == (1, 1, 1 / 8)
    assert [(one.found, one.excluded, one.only, one.kind) for one in excludes] == [
        (2, 2, 2, "exclude"),
        (1, 1, 1, "exclude"),
    ]


def test_examples_show_the_piece_that_was_found_and_no_text_twice():
    late = by_name(survey(RULES, POOL * 3, examples=10))["late"]
    shown = {POOL[one.row % len(POOL)]: one.marked for one in late.examples}
    assert len(late.examples) == 4 and set(shown) == {POOL[0], POOL[1], POOL[2], POOL[4]}
    assert shown[POOL[0]] == "The train was «LATE» again" and shown[POOL[1]] == "Große «Verspät»ung!"
    assert shown[POOL[4]] == "no Wi-Fi in the «delay»ed train"
    assert {one.marked for one in late.forbidden} == {
        "we were «not late»",
        "«not late», and a WLAN at last",
        "«sleep late»",
    }


def test_examples_are_cut_around_the_piece():
    rules = Rules((Rule("late", ("late",)),))
    (shown,) = by_name(survey(rules, ["x " * 5_000 + "late" + " y" * 5_000]))["late"].examples
    assert len(shown.text) < 150 and shown.text[shown.start : shown.end] == "late"
    assert shown.marked.startswith("…") and "«late»" in shown.marked and shown.marked.endswith("…")


def test_the_same_seed_draws_the_same_examples_whatever_the_order():
    texts = [f"train {number} was late" for number in range(500)]
    mixed = random.Random(1).sample(texts, len(texts))

    def drawn(texts, seed):
        return {one.text for one in by_name(survey(RULES, texts, examples=5, seed=seed))["late"].examples}

    assert drawn(texts, 1) == drawn(mixed, 1) != drawn(texts, 2) and len(drawn(texts, 1)) == 5


def test_overlaps_tell_how_far_two_categories_go_together():
    found = survey(RULES, POOL)
    pairs = {(one.category, one.other): one for one in found.overlaps}
    assert set(pairs) == {("late", "money"), ("late", "wifi"), ("wifi", "money")}
    both = pairs["late", "money"]
    assert (both.both, both.share, both.share_of_other) == (2, 2 / 4, 2 / 2)
    late, money = (
        [name in one and one[name].verdict == "matched" for one in RULES.match(POOL)] for name in ("late", "money")
    )
    assert both.phi == pytest.approx(np.corrcoef(late, money)[0, 1])
    everything = survey(Rules((Rule("a", ("x",)), Rule("b", ("x",)))), ["x", "x y"])
    assert everything.overlaps[0].phi is None


def test_conflicts_name_what_a_person_should_look_at():
    rules = Rules(
        (
            Rule("late", ("late", "later", "delay", "never said", "Delay"), ("later on", "unheard of", "wifi")),
            Rule("slow", ("DELAY", "slow")),
            Rule("odd", ("odd",), ("odd",)),
        )
    )
    texts = ["late"] * 3 + ["later"] * 6 + ["late, later on"] + ["wifi"] + ["delay"] * 5 + ["odd"]
    told = {(one.problem, one.category, one.expression) for one in survey(rules, texts).conflicts}
    assert told == {
        ("forbidden", "late", ""),
        ("covered", "late", "later"),
        ("never", "late", "never said"),
        ("never", "late", "unheard of"),
        ("idle", "late", "wifi"),
        ("same", "late", "delay"),
        ("identical", "late", "delay"),
        ("identical", "late", "Delay"),
        ("never", "slow", "slow"),
        ("contradictory", "odd", "odd"),
        ("forbidden", "odd", ""),
    }
    about = survey(rules, texts).about(["slow"])
    assert [one.category for one in about.categories] == ["slow"]
    assert {one.problem for one in about.conflicts} == {"identical", "never"}


def test_without_texts_only_the_file_itself_is_in_conflict():
    found = survey(RULES, [])
    assert {one.problem for one in found.conflicts} == {"identical"} and found.categories[0].share == 0


def labelled(late, names=("late", "money")):
    texts = ["late", "delay", "verspätet", "not late", "on time", "hours behind", "late again"]
    labels = np.full((len(texts), len(names)), np.nan, np.float32)
    labels[:, 0] = late
    return Dataset(texts, labels, names)


def test_precision_and_recall_leave_unknown_labels_out():
    unknown = np.nan
    data = labelled([1, 0, unknown, 0, 0, 1, 1])
    found = survey(RULES, POOL, data)
    late = by_name(found)["late"]
    assert late.quality is not None and (late.quality.known, late.quality.yes, late.quality.found) == (6, 3, 3)
    assert late.quality.precision == pytest.approx(2 / 3) and late.quality.recall == pytest.approx(2 / 3)
    assert late.quality.f1 == pytest.approx(2 / 3)
    assert [(one.known, one.precision) for one in late.expressions] == [
        (2, 1.0),
        (1, 0.0),
        (0, None),
        (0, None),
        (0, None),
    ]
    assert [one.marked for one in late.quality.wrong] == ["«delay»"]
    assert [one.marked for one in late.quality.missed] == ["hours behind"]
    as_if_no = survey(RULES, POOL, labelled([1, 0, 0, 0, 0, 1, 1]))
    assert by_name(as_if_no)["late"].quality.precision == pytest.approx(2 / 4)


def test_a_category_without_a_known_label_has_no_figures():
    found = by_name(survey(RULES, POOL, labelled([1, 0, 1, 0, 0, 1, 1])))
    assert found["money"].quality is None and found["wifi"].quality is None and found["late"].quality is not None


def test_a_survey_of_a_stream_keeps_none_of_it():
    alive = most = 0

    class Text(str):
        def __init__(self, _):
            nonlocal alive, most
            alive += 1
            most = max(most, alive)

        def __del__(self):
            nonlocal alive
            alive -= 1

    survey(RULES, (Text(f"late train number {number}") for number in range(300)))
    assert 1 <= most <= 3


def test_candidates_match_differ_and_come_from_every_expression():
    texts = [f"late train {number}" for number in range(400)] + [f"verspätet {number}" for number in range(3)]
    texts += ["delay 1", "Delay, 1!", "not late at all", "nothing"]
    drawn = candidates(RULES, "late", iter(texts), count=10, seed=1)
    used = [one.expressions[0] for one in drawn]
    assert len(drawn) == len({one.text for one in drawn}) == 10
    assert used.count("verspät") == 3 and used.count("delay") == 1 and used.count(r"\blate\b") == 6
    assert all(texts[one.row] == one.text for one in drawn)
    assert drawn == candidates(RULES, "late", iter(texts), count=10, seed=1)
    assert {one.text for one in drawn} != {one.text for one in candidates(RULES, "late", texts, count=10, seed=2)}
    assert len(candidates(RULES, "wifi", texts, count=10, seed=1)) == 0
    with pytest.raises(BadSetting, match="no rule for the category 'latte'"):
        candidates(RULES, "latte", texts, 10, 1)


def test_weak_labels_are_yes_or_unknown_and_no_only_where_that_was_asked_for():
    weak = weak_labels(RULES, POOL)
    assert weak.labels.dtype == np.float32 and weak.labels.shape == (8, 3) and weak.names == RULES.names
    assert weak.weights.tolist() == pytest.approx([0.5, 0.8, 0.5])
    late, wifi = weak.labels[:, 0], weak.labels[:, 1]
    assert late[[0, 1, 2, 4]].tolist() == [1] * 4 and np.isnan(late[[3, 5, 6, 7]]).all()
    assert wifi.tolist() == [0, 0, 0, 0, 1, 0, 1, 0]


def test_weak_rows_say_that_they_are_weak():
    rows = list(weak_rows(RULES, ["late", "delay"], "body"))
    assert rows == [
        {"body": "late", "late": 1, "weak": 0.5},
        {"body": "late", "wifi": 0, "weak": 0.8},
        {"body": "delay", "late": 1, "weak": 0.5},
        {"body": "delay", "wifi": 0, "weak": 0.8},
        {"body": "delay", "money": 1, "weak": 0.5},
    ]
    with pytest.raises(BadSetting, match="named like a column"):
        weak_rows(Rules((Rule("weak", ("x",)),)), [])
