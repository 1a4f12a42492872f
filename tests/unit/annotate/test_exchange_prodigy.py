"""Prodigy: its jsonl both ways, with its three answers and the words that its spans are counted in."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from limbeck.annotate.exchange import LabelledText, read_labels, write_labels
from limbeck.errors import BadLabel, BrokenRow, ColumnMissing, UnknownLabel
from limbeck.scorer import Span

OPTIONS = [{"id": name, "text": name.lower()} for name in ("A", "B", "C")]


@pytest.fixture
def read(tmp_path):
    def write_and_read(*rows, categories=()):
        file = tmp_path / "db-out.jsonl"
        file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return list(read_labels(file, "prodigy", categories=categories))

    return write_and_read


def test_accept_is_yes_reject_is_no_and_ignore_is_a_skip(read):
    labels = read(*[{"text": "x", "label": "A", "answer": answer} for answer in ("accept", "reject", "ignore")])
    assert [(label.verdict, label.known) for label in labels] == [
        ("label", {"A": True}),
        ("label", {"A": False}),
        ("skip", {}),
    ]


def test_who_and_when(read):
    row = {
        "text": "x",
        "label": "A",
        "answer": "accept",
        "_annotator_id": "news-anna",
        "_session_id": "news-anna",
        "_timestamp": 1707211049,
        "_input_hash": -91551573,
        "_task_hash": 5,
        "meta": {"source": "mail", "page": 3},
    }
    (label,) = read(row)
    assert (label.annotator, label.given, label.source) == ("news-anna", 1707211049.0, "mail")
    assert label.extra["_input_hash"] == -91551573 and label.extra["meta"]["page"] == 3
    (label,) = read({"text": "x", "label": "A", "answer": "accept", "_session_id": "s"})
    assert label.annotator == "s"


def test_accepted_options_are_complete_over_the_options(read):
    row = {"text": "x", "options": OPTIONS, "accept": ["A", "C"], "answer": "accept"}
    (label,) = read(row)
    assert label.complete == {"A", "C"}
    (label,) = read(row, categories=["A", "B", "C"])
    assert label.complete == {"A", "C"}
    (label,) = read(row, categories=["A", "B", "C", "D"])
    assert (label.complete, label.known) == (None, {"A": True, "B": False, "C": True})
    (label,) = read({**row, "accept": []})
    assert (label.verdict, label.complete) == ("label", set())


def test_the_one_class_rules_out_those_that_were_no_option(read):
    row = {"text": "x", "options": OPTIONS, "accept": ["B"], "config": {"choice_style": "single"}, "answer": "accept"}
    (label,) = read(row, categories=["A", "B", "C", "D"])
    assert label.complete == {"B"}
    (label,) = read({**row, "accept": []})
    assert label.verdict == "skip"


def test_a_rejected_choice_says_nothing_about_categories(read):
    (label,) = read({"text": "x", "options": OPTIONS, "accept": ["A"], "answer": "reject"})
    assert (label.verdict, label.complete) == ("skip", None)


def test_spans_are_entities_and_a_manual_view_without_any_has_none(read):
    span = {"start": 5, "end": 9, "label": "LOC", "token_start": 2, "token_end": 2}
    labels = read(
        {"text": "💩 In Rome", "spans": [span], "tokens": [], "_view_id": "ner_manual", "answer": "accept"},
        {"text": "Nothing", "_view_id": "ner_manual", "answer": "accept"},
        {"text": "No answer yet", "spans": []},
        {"text": "Bad", "spans": [], "_view_id": "ner_manual", "answer": "reject"},
    )
    assert [label.spans for label in labels] == [(Span(5, 9, "LOC"),), (), (), None]
    assert labels[-1].verdict == "skip"


def test_highlights_of_a_category_are_no_entities(read):
    (label,) = read({"text": "In Rome", "label": "A", "spans": [{"start": 3, "end": 7}], "answer": "accept"})
    assert (label.known, label.spans) == ({"A": True}, None)


def test_blocks_may_ask_for_both(read):
    row = {"text": "In Rome", "spans": [{"start": 3, "end": 7, "label": "LOC"}], "tokens": [], "_view_id": "blocks"}
    labels = read({**row, "options": OPTIONS, "accept": ["A"], "answer": "accept"})
    assert [(label.complete, label.spans) for label in labels] == [({"A"}, None), (None, (Span(3, 7, "LOC"),))]


@pytest.mark.parametrize(
    ("row", "error", "match"),
    [
        ({"label": "A", "answer": "maybe"}, BadLabel, "The answer is 'maybe'"),
        ({"label": "C", "answer": "accept"}, UnknownLabel, "'C'"),
        ({"options": OPTIONS, "accept": ["A"]}, UnknownLabel, "'C'"),
        ({"options": [{"id": "A"}], "accept": ["B"]}, BadLabel, "B was accepted, but is no option"),
        ({"options": "A", "accept": []}, BrokenRow, "not a list"),
        ({"accept": [None]}, BadLabel, "A category is None"),
        ({"answer": "accept"}, BrokenRow, "neither a label nor options nor spans"),
        ({"spans": [{"start": 0, "end": 1, "label": "A"}], "_view_id": "ner"}, BrokenRow, "ner.manual"),
        ({"spans": [{"start": 0, "end": 1, "label": "A"}], "_is_binary": True}, BrokenRow, "single entity"),
        ({"spans": [{"start": 0, "end": 3, "label": "A"}]}, BadLabel, "0 to 3, in a text of 2"),
        ({"spans": [{"start": 0, "end": 2, "label": "A"}, {"start": 1, "end": 2, "label": "B"}]}, BadLabel, "overlap"),
        ({"spans": [{"start": 1, "end": 1, "label": "A"}]}, BadLabel, "1 to 1, in a text of 2"),
        ({"spans": [{"start": 0, "end": 1}]}, BrokenRow, "of type None"),
        ({"label": "A", "_timestamp": "now"}, BrokenRow, "_timestamp"),
        ({"label": "A", "_session_id": 5}, BrokenRow, "_session_id"),
    ],
)
def test_what_can_not_be_read_is_told_with_its_line(read, row, error, match):
    good = {"text": "x", "label": "A", "answer": "accept"}
    with pytest.raises(error, match=match) as caught:
        read(good, {"text": "xy", **row}, categories=["A", "B"])
    assert caught.value.place.line == 2 and caught.value.fix
    with pytest.raises(ColumnMissing):
        read({"image": "x.jpg", "label": "A"})


def test_what_is_written_is_what_prodigy_has(tmp_path):
    file = tmp_path / "a.jsonl"
    label = LabelledText("S-Bahn 💩 Westbahnhof", "anna", spans=(Span(0, 6, "Line"), Span(13, 20, "LOC")), given=5.75)
    assert write_labels(file, "prodigy", [label], task="ner", categories=["Line", "LOC"]).rows == 1
    (row,) = (json.loads(line) for line in file.read_text(encoding="utf-8").splitlines())
    assert row["answer"] == "accept" and row["_view_id"] == "ner_manual"
    assert (row["_annotator_id"], row["_session_id"], row["_timestamp"]) == ("anna", "anna", 5)
    tokens = [(token["text"], token["start"], token["end"], token["ws"]) for token in row["tokens"]]
    assert tokens == [
        ("S", 0, 1, False),
        ("-", 1, 2, False),
        ("Bahn", 2, 6, True),
        ("💩", 7, 8, True),
        ("West", 9, 13, False),
        ("bahnhof", 13, 20, False),
    ]
    assert [token["id"] for token in row["tokens"]] == [0, 1, 2, 3, 4, 5]
    assert row["spans"] == [
        {"start": 0, "end": 6, "token_start": 0, "token_end": 2, "label": "Line"},
        {"start": 13, "end": 20, "token_start": 5, "token_end": 5, "label": "LOC"},
    ]


def test_each_known_category_is_a_question_of_its_own_and_a_list_is_a_choice(tmp_path):
    file = tmp_path / "a.jsonl"
    labels = [LabelledText("x", known={"A": True, "B": False}), LabelledText("y", complete=frozenset("B"))]
    assert write_labels(file, "prodigy", labels, task="multiclass", categories=["A", "B"]).rows == 3
    yes, no, choice = (json.loads(line) for line in file.read_text().splitlines())
    assert [(row["label"], row["answer"]) for row in (yes, no)] == [("A", "accept"), ("B", "reject")]
    assert choice["options"] == [{"id": "A", "text": "A"}, {"id": "B", "text": "B"}]
    assert (choice["accept"], choice["config"]) == (["B"], {"choice_style": "single"})


def test_hashes_and_meta_go_back_but_none_are_made_up(tmp_path, read):
    file = tmp_path / "b.jsonl"
    row = {"text": "x", "label": "A", "answer": "accept", "_input_hash": 4, "_session_id": "s", "meta": {"page": 1}}
    write_labels(file, "prodigy", [*read(row), LabelledText("y", known={"A": True})], task="multilabel")
    first, second = (json.loads(line) for line in file.read_text().splitlines())
    assert (first["_input_hash"], first["_session_id"], first["meta"]) == (4, "s", {"page": 1})
    assert "_input_hash" not in second


def test_labels_of_another_task_are_told_and_unknown_ones_refused(tmp_path):
    file = tmp_path / "a.jsonl"
    written = write_labels(file, "prodigy", [LabelledText("x", spans=())], task="multilabel")
    assert (written.rows, written.noted) == (0, {"labels of another task": 1})
    with pytest.raises(UnknownLabel, match="'A' of the text 'x'"):
        write_labels(file, "prodigy", [LabelledText("x", known={"A": True})], task="multilabel", categories=["B"])


NAMES = st.sampled_from(["A", "B", "Ünï 💩"])


@st.composite
def judgements(draw, task):
    text = draw(st.text(st.characters(codec="utf-8") | st.sampled_from("💩\n ab")))
    edges = sorted(draw(st.sets(st.integers(0, len(text)), max_size=6)))
    spans = tuple(Span(a, b, draw(NAMES)) for a, b in zip(edges[::2], edges[1::2], strict=False))
    values = {
        "ner": [{"spans": spans}],
        "multilabel": [{"known": {draw(NAMES): draw(st.booleans())}}, {"complete": draw(st.frozensets(NAMES))}],
        "multiclass": [{"complete": frozenset([draw(NAMES)])}],
    }[task]
    return LabelledText(
        text,
        annotator=draw(st.sampled_from(["", "anna"])),
        source=draw(st.sampled_from(["", "mail"])),
        given=draw(st.none() | st.integers(0, 2**31).map(float)),
        seconds=draw(st.none() | st.floats(0, 1e6)),
        origin=draw(st.sampled_from(["person", "import"])),
        **draw(st.sampled_from([*values, {"verdict": "skip"}, {"verdict": "don't know"}])),
    )


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data(), task=st.sampled_from(["ner", "multilabel", "multiclass"]))
def test_what_is_written_is_read_again(tmp_path, data, task):
    labels = data.draw(st.lists(judgements(task), min_size=1, max_size=4))
    file = tmp_path / "a.jsonl"
    names = ["A", "B", "Ünï 💩"]
    write_labels(file, "prodigy", labels, task=task, categories=names)
    found = [LabelledText(**{**vars(label), "extra": {}}) for label in read_labels(file, "prodigy", categories=names)]
    assert found == labels
