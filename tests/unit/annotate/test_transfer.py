"""Answers leave the store in any form and come back the same."""

import pytest

from limbeck.annotate.asked import Answer, Question, Wanted
from limbeck.annotate.consent import consent
from limbeck.annotate.desk import Desk
from limbeck.annotate.exchange import read_labels, write_labels
from limbeck.annotate.judged import agreed, holding
from limbeck.annotate.store import open_store
from limbeck.annotate.texts import NewText
from limbeck.annotate.transfer import keep_labels, labels_of

NAMES = ("late", "staff")


@pytest.fixture
def store(tmp_path):
    with open_store(tmp_path / "a.sqlite3") as store:
        yield store


@pytest.fixture
def other(tmp_path):
    with open_store(tmp_path / "b.sqlite3") as store:
        yield store


def say(store, question, annotator, said, people=1):
    desk = Desk(store, question)
    desk.queue([Wanted(NewText(text, "pool", "random"), 1.0, people) for text in said])
    for task in desk.next(annotator, len(said)):
        verdict, value = said[task.text]
        desk.answer(Answer(task.public_id, annotator, verdict, value, seconds=1.5))


def told(store):
    return sorted(
        (one.text, one.category, one.annotator, one.verdict, repr(one.value), one.given, one.seconds, one.origin)
        for one in holding(store)
    )


ANSWERS = {
    "multilabel": (
        Question("binary", ("late",)),
        {"a 🚆": ("label", True), "b": ("label", False), "c": ("skip", None)},
    ),
    "multiclass": (Question("class", NAMES), {"a 🚆": ("label", "late"), "b": ("don't know", None)}),
    "ner": (
        Question("spans", ("place",)),
        {"🚆 Ulm": ("label", [{"start": 2, "end": 5, "type": "place"}]), "b": ("label", [])},
    ),
}


@pytest.mark.parametrize("task", ANSWERS)
def test_a_lossless_file_brings_everything_back_and_twice_is_once(store, other, task, tmp_path):
    say(store, ANSWERS[task][0], "Ann", ANSWERS[task][1])
    write_labels(tmp_path / "x.jsonl", "jsonl", labels_of(store, task), task=task, categories=NAMES)
    labels = list(read_labels(tmp_path / "x.jsonl", "jsonl"))
    assert keep_labels(other, labels, task, NAMES) == (len(labels), 0)
    assert told(other) == told(store)
    assert keep_labels(other, labels, task, NAMES) == (0, len(labels))
    assert told(other) == told(store)


@pytest.mark.parametrize(
    ("task", "form"),
    [
        ("multilabel", "label-studio"),
        ("multilabel", "prodigy"),
        ("ner", "label-studio"),
        ("ner", "prodigy"),
        ("multiclass", "prodigy"),
    ],
)
def test_other_tools_files_bring_the_labels_back(store, other, task, form, tmp_path):
    say(store, ANSWERS[task][0], "Ann", ANSWERS[task][1])
    file = tmp_path / "x.json"
    write_labels(file, form, labels_of(store, task), task=task, categories=ANSWERS[task][0].categories)
    keep_labels(other, read_labels(file, form), task, NAMES)
    assert agreed(other).keys() == agreed(store).keys()
    if task != "multiclass":
        assert agreed(other) == agreed(store)


def test_a_list_of_categories_is_about_those_that_were_asked(store, other):
    say(store, Question("labels", NAMES), "Ann", {"a": ("label", ["staff"])})
    (one,) = labels_of(store, "multilabel")
    assert one.known == {"late": False, "staff": True}
    keep_labels(other, [one], "multilabel", NAMES)
    assert agreed(other) == {("a", "late"): False, ("a", "staff"): True}


def test_a_later_answer_of_the_same_annotator_replaces_the_earlier_one(store):
    say(store, ANSWERS["multilabel"][0], "Ann", {"a": ("label", True)})
    (one,) = labels_of(store, "multilabel")
    keep_labels(store, [type(one)("a", "Ann", known={"late": False}, source="pool")], "multilabel", NAMES)
    assert agreed(store) == {("a", "late"): False}


def test_agreement_is_that_of_texts_which_several_judged(store):
    question = Question("binary", ("late",))
    said = {f"text {n}": ("label", n % 2 == 0) for n in range(10)}
    say(store, question, "Ann", said, people=2)
    say(store, question, "Bob", {**said, "text 0": ("label", False)}, people=2)
    (found,) = consent(store)
    assert (found.category, found.items, found.observed) == ("late", 10, pytest.approx(0.9))
    assert found.kappa == pytest.approx(0.8) and found.annotators == ("Ann", "Bob")


def test_agreement_about_entities(store):
    question = Question("spans", ("place",))
    span = [{"start": 0, "end": 3, "type": "place"}]
    for name, value in (("Ann", span), ("Bob", span)):
        say(store, question, name, {"Ulm is late": ("label", value)}, people=2)
    (found,) = consent(store)
    assert found.f1 == 1.0 and found.items == 1
