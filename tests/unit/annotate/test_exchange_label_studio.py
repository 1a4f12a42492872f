"""Label Studio: its JSON both ways, JSON-MIN in, and offsets that are right after an emoji in old files and new."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from limbeck.annotate.exchange import LabelledText, read_labels, write_labels
from limbeck.annotate.exchange import reading as reading_module
from limbeck.errors import BadLabel, BrokenEncoding, BrokenRow, ColumnMissing, UnknownLabel
from limbeck.scorer import Span

NOON = "2026-01-31T12:00:00.250000Z"
NOON_SECONDS = 1769860800.25


def choices(*names, control="topic"):
    return {"id": "a", "from_name": control, "to_name": "text", "type": "choices", "value": {"choices": list(names)}}


def region(start, end, kind, text=None):
    value = {"start": start, "end": end, "labels": [kind], **({} if text is None else {"text": text})}
    return {"id": "b", "from_name": "label", "to_name": "text", "type": "labels", "value": value, "origin": "manual"}


def task(text, *results, **about):
    return {"id": 7, "data": {"text": text}, "annotations": [{"id": 3, "result": list(results), **about}]}


@pytest.fixture
def read(tmp_path):
    def write_and_read(*tasks, categories=()):
        file = tmp_path / "project-1.json"
        file.write_text(json.dumps(tasks), encoding="utf-8")
        return list(read_labels(file, categories=categories))

    return write_and_read


def test_an_annotation_tells_who_when_and_how_long(read):
    told = {"completed_by": 10, "lead_time": 4.288, "created_at": NOON, "was_cancelled": False}
    (label,) = read({**task("Hi", choices("A", "B"), **told), "predictions": [{"result": [choices("C")]}]})
    assert (label.text, label.complete, label.annotator) == ("Hi", {"A", "B"}, "10")
    assert (label.seconds, label.given, label.origin) == (4.288, NOON_SECONDS, "import")


def test_annotators_come_by_address_where_the_file_has_it(read):
    (label,) = read(task("Hi", choices("A"), completed_by={"id": 3, "email": "anna@example.com", "first_name": "A"}))
    assert label.annotator == "anna@example.com"


def test_a_cancelled_annotation_is_a_skip_and_a_task_without_annotations_is_nothing(read):
    labels = read(task("Hi", choices("A"), was_cancelled=True), {"id": 8, "data": {"text": "new"}, "annotations": []})
    assert [(label.text, label.verdict, label.complete) for label in labels] == [("Hi", "skip", None)]


def test_yes_and_no_speak_of_the_category_that_the_control_is_named_after(read):
    (label,) = read(task("Hi", choices("Yes", control="Refund"), choices("no", control="Luggage")))
    assert (label.known, label.complete) == ({"Refund": True, "Luggage": False}, None)
    (label,) = read(task("Hi", choices("no", control="answer")), categories=["yes", "no"])
    assert label.complete == {"no"}


def test_several_controls_and_entities_are_told_apart(read):
    labels = read(task("In Rome", choices("A"), region(3, 7, "LOC", "Rome"), choices("B", control="other")))
    assert [(label.complete, label.spans) for label in labels] == [({"A", "B"}, None), (None, (Span(3, 7, "LOC"),))]


def test_an_annotation_without_result_says_none_of_what_the_file_is_about(read):
    labels = read(task("nothing"), task("In Rome", region(3, 7, "LOC")), task("still nothing"))
    assert [len(label.spans) for label in labels] == [0, 1, 0]
    assert [label.text for label in labels] == ["nothing", "In Rome", "still nothing"]
    labels = read(task("nothing"), task("x", choices("A")))
    assert [label.complete for label in labels] == [set(), {"A"}]
    assert [label.known for label in read(task("?"), task("x", choices("yes", control="A")))] == [{"A": True}]
    with pytest.raises(BadLabel, match="can't be told what was asked"):
        read(task("nothing"), task("x", was_cancelled=True))


@pytest.mark.parametrize(
    ("start", "end"), [(12, 22), (13, 23)], ids=["characters, as it is", "UTF-16 units, as it once was"]
)
def test_offsets_after_an_emoji_are_right_in_new_files_and_in_old(read, start, end):
    # The text of https://github.com/HumanSignal/label-studio/issues/1347.
    text = "💩This is an annotation."
    (label,) = read(task(text, region(start, end, "What", "annotation")))
    assert [text[span.start : span.end] for span in label.spans] == ["annotation"]


def test_one_entity_that_fits_only_one_unit_decides_for_those_that_fit_both(read):
    text = "💩 aaaa Rome"
    (label,) = read(task(text, region(3, 5, "X", "aa"), region(8, 12, "LOC", "Rome")))
    assert label.spans == (Span(2, 4, "X"), Span(7, 11, "LOC"))
    (label,) = read(task(text, region(3, 5, "X", "aa"), region(7, 11, "LOC", "Rome")))
    assert label.spans == (Span(3, 5, "X"), Span(7, 11, "LOC"))


def test_without_the_entity_s_text_offsets_are_characters(read):
    (label,) = read(task("💩 Rome", region(2, 6, "LOC")))
    assert label.spans == (Span(2, 6, "LOC"),)


def test_line_breaks_and_spaces_are_no_difference(read):
    (label,) = read(task("New\r\nYork  City", region(0, 15, "LOC", "New\\n\\nYork City")))
    assert label.spans == (Span(0, 15, "LOC"),)


def test_an_entity_that_is_somewhere_else_is_told(read):
    with pytest.raises(BadLabel, match="Task 7, annotation 3: The LOC from 0 to 2.*is 'In', but the file says 'Rome'"):
        read(task("In Rome", region(0, 2, "LOC", "Rome")))


@pytest.mark.parametrize(
    ("given_task", "error", "match"),
    [
        (task("Rome", region(0, 9, "LOC")), BadLabel, "from 0 to 9 of 4 characters"),
        (task("Rome", region(-2, 2, "LOC")), BadLabel, "from -2"),
        (task("Rome", region(2, 2, "LOC")), BadLabel, "from 2 to 2"),
        (task("Rome", region(0, 4, "LOC"), region(2, 4, "LOC")), BadLabel, "overlap"),
        (task("Rome", region(0, 4, "CITY")), UnknownLabel, "'CITY'"),
        (task("Rome", choices("C")), UnknownLabel, "'C'"),
        (task("Rome", choices("yes", control="C")), UnknownLabel, "'C'"),
        (task("Rome", choices(5)), BadLabel, "A category is 5"),
        (task("Rome", {"type": "choices", "value": {"choices": "A"}}), BadLabel, "not a list"),
        (task("Rome", {"type": "labels", "value": {"start": "/p[1]", "end": "/p[2]"}}), BrokenRow, "HTML"),
        (
            task("Rome", {"type": "labels", "value": {"start": 0, "end": 1, "labels": ["LOC", "A"]}}),
            BadLabel,
            "exactly one",
        ),
        (task("Rome", {"type": "hypertextlabels", "value": {}}), BrokenRow, "hypertextlabels"),
        (task("Rome", {"type": "rating", "value": {"rating": 3}}), BrokenRow, "the type rating"),
        (task("Rome", "LOC"), BrokenRow, "A result is 'LOC'"),
        (task(5, choices("A")), BrokenRow, "The text is 5"),
        (task("Rome", choices("A"), created_at="yesterday"), BrokenRow, "yesterday"),
        (task("Rome", choices("A"), lead_time="long"), BrokenRow, "'lead_time' is 'long'"),
        ({"data": {"a": "x", "b": "y"}, "annotations": [{"result": [choices("A")]}]}, ColumnMissing, "which has: a, b"),
        ({"data": {"text": "x"}, "annotations": {}}, None, None),
        ({"data": {"text": "x"}, "annotations": {"a": 1}}, BrokenRow, "no list"),
        ({"data": {"text": "x"}, "annotations": ["a"]}, BrokenRow, "an annotation is 'a'"),
        ({"data": {"text": "x"}, "annotations": [{"result": "a"}]}, BrokenRow, "not a list"),
        ({"data": "x", "annotations": []}, BrokenRow, "'data' is no object"),
    ],
)
def test_what_can_not_be_read_is_told_with_its_place(read, given_task, error, match):
    if error is None:
        assert read(given_task) == []
        return
    with pytest.raises(error, match=match) as caught:
        read(given_task, categories=["A", "B", "LOC"])
    assert caught.value.place.line == 1 and caught.value.fix


def test_the_text_may_have_another_name_if_nothing_else_is_a_text(read):
    (label,) = read({"id": 1, "data": {"review": "Fine", "stars": 5}, "annotations": [{"result": [choices("A")]}]})
    assert (label.text, label.extra["data"]) == ("Fine", {"stars": 5})


def test_what_is_about_a_part_of_the_text_is_no_category_of_it(read):
    part = choices("Sure")
    part["value"].update(start=3, end=7)
    (label,) = read(task("In Rome", region(3, 7, "LOC"), part))
    assert label.spans == (Span(3, 7, "LOC"),) and label.extra["results"] == [part]


def min_row(text, **controls):
    # In the order in which Label Studio's converter writes it.
    return {
        "text": text,
        "author": "Bert",
        "id": 1,
        **controls,
        "annotator": 2,
        "annotation_id": 5,
        "created_at": NOON,
        "lead_time": 1.5,
    }


def test_json_min_is_read(read):
    labels = read(
        min_row("one", sentiment="A"),
        min_row("two", sentiment={"choices": ["A", "B"]}),
        min_row("In Rome 💩", label=[{"start": 3, "end": 7, "text": "Rome", "labels": ["LOC"]}]),
        min_row("four", A="yes", B="no"),
        min_row("five"),
    )
    assert [(label.complete, label.spans, label.known) for label in labels] == [
        ({"A"}, None, {}),
        ({"A", "B"}, None, {}),
        (None, (Span(3, 7, "LOC"),), {}),
        (None, None, {"A": True, "B": False}),
        (set(), None, {}),
    ]
    assert {(label.annotator, label.given, label.seconds) for label in labels} == {("2", NOON_SECONDS, 1.5)}
    assert labels[0].extra == {"data": {"author": "Bert"}}


def test_json_min_in_another_order_needs_the_categories(read):
    row = {"author": "Bert", "sentiment": "A", "text": "one"}
    with pytest.raises(BadLabel, match="'author' is 'Bert'.*Give the categories"):
        read(row)
    (label,) = read(row, categories=["A", "B"])
    assert (label.complete, label.extra) == ({"A"}, {"data": {"author": "Bert"}})


def test_a_single_task_without_a_list_is_read(tmp_path):
    (tmp_path / "1.json").write_text(json.dumps(task("Hi", choices("A"))))
    assert [label.text for label in read_labels(tmp_path / "1.json")] == ["Hi"]


@pytest.mark.parametrize(
    ("content", "error", "match", "line"),
    [
        (b'[\n{"data": {"text": "x"}, "annotations": []},\n{"data": }]', BrokenRow, "Expecting value", 3),
        (b'[\n{"data": {"text": "x"}, "annotations": []}\n{}]', BrokenRow, "a comma or \\]", 3),
        (b'[\n{"data": {"text": "x"}, "annotations": []}\n', BrokenRow, "a comma or \\]", 3),
        (b'[{"data": {"text": "x"', BrokenRow, "Expecting", 1),
        (b'[{"data": {}, "annotations": []}] []', BrokenRow, "something follows", 1),
        (b"[1]", BrokenRow, "not an object", 1),
        (b"[{}]", ColumnMissing, "There is no 'text'", 1),
        (b'[\n{"a": NaN}]', BrokenRow, "NaN", 2),
        (b'[{"a": "\\ud83d"}]', BrokenRow, "second half", 1),
        (b'[\n\n{"a": "\xff"}]', BrokenEncoding, "Byte 11 of the file \\(0xff\\)", 3),
        ('[{"a": "x"}]'.encode("utf-16"), BrokenEncoding, "UTF-16", 1),
        (b'[{"a": "\xc3', BrokenEncoding, "0xc3", 1),
        (b"[" * 100_000, BrokenRow, "recursion", 1),
    ],
)
def test_broken_json_is_told_with_its_line(tmp_path, content, error, match, line):
    (tmp_path / "a.json").write_bytes(content)
    with pytest.raises(error, match=match) as caught:
        list(read_labels(tmp_path / "a.json"))
    assert caught.value.place.line == line


@pytest.mark.parametrize("chunk", [1, 2, 7, 1 << 20])
def test_a_list_is_read_piece_by_piece_wherever_it_is_cut(tmp_path, monkeypatch, chunk):
    monkeypatch.setattr(reading_module, "_CHUNK", chunk)
    monkeypatch.setattr(reading_module, "_CUT", 16)
    file = tmp_path / "a.json"
    tasks = [task(f"Zug {number} 💩 é\n", choices("A"), lead_time=number + 0.25) for number in range(5)]
    file.write_text("\ufeff" + json.dumps(tasks, indent=1, ensure_ascii=chunk == 7), encoding="utf-8")
    assert [(label.text, label.seconds) for label in read_labels(file)] == [
        (f"Zug {number} 💩 é\n", number + 0.25) for number in range(5)
    ]


def test_what_is_broken_is_told_without_reading_the_rest(tmp_path, monkeypatch):
    monkeypatch.setattr(reading_module, "_CHUNK", 100)
    (tmp_path / "a.json").write_bytes(b'[{"data": oops' + b" " * 1000 + b"\xff")
    with pytest.raises(BrokenRow, match="Expecting value"):
        list(read_labels(tmp_path / "a.json"))


def test_an_error_late_in_a_file_keeps_what_came_before(tmp_path):
    file = tmp_path / "a.json"
    file.write_text("[" + json.dumps(task("first", choices("A"))) + ", oops]")
    labels = read_labels(file)
    assert next(labels).text == "first"
    with pytest.raises(BrokenRow, match="Expecting value"):
        next(labels)


def test_what_is_written_is_what_label_studio_imports(tmp_path):
    file = tmp_path / "a.json"
    labels = [
        LabelledText("💩 In\nRome", "anna@example.com", spans=(Span(2, 9, "LOC"),), given=NOON_SECONDS, seconds=2.5),
        LabelledText("💩 In\nRome", "10", verdict="skip"),
        LabelledText("Oslo", "bert", spans=(), source="mail"),
    ]
    written = write_labels(file, "label-studio", labels, task="ner", categories=["LOC"])
    assert (written.rows, written.noted) == (2, {})
    first, second = json.loads(file.read_text(encoding="utf-8"))
    value = {"start": 2, "end": 9, "text": "In\\nRome", "labels": ["LOC"]}
    assert first == {
        "id": 1,
        "data": {"text": "💩 In\nRome"},
        "annotations": [
            {
                "id": 1,
                "result": [{"id": "1-1", "from_name": "label", "to_name": "text", "type": "labels", "value": value}],
                "was_cancelled": False,
                "ground_truth": False,
                "completed_by": {"email": "anna@example.com"},
                "lead_time": 2.5,
                "created_at": NOON,
            },
            {"id": 2, "result": [], "was_cancelled": True, "ground_truth": False, "completed_by": 10},
        ],
        "predictions": [],
    }
    assert second["data"] == {"text": "Oslo", "source": "mail"}
    # Label Studio refuses a file with an annotator that it doesn't know.
    assert "completed_by" not in second["annotations"][0]
    # The file may be cut by lines, too: a task each.
    assert len(file.read_text(encoding="utf-8").splitlines()) == 4


NAMES = st.sampled_from(["A", "B", "Ünï 💩"])


@st.composite
def judgements(draw, task):
    text = draw(st.text(st.characters(codec="utf-8") | st.sampled_from("💩\n ab")))
    edges = sorted(draw(st.sets(st.integers(0, len(text)), max_size=6)))
    spans = tuple(Span(a, b, draw(NAMES)) for a, b in zip(edges[::2], edges[1::2], strict=False))
    values = {
        "ner": [{"spans": spans}],
        "multilabel": [
            {"known": draw(st.dictionaries(NAMES, st.booleans(), min_size=1))},
            {"complete": draw(st.frozensets(NAMES))},
        ],
        "multiclass": [{"complete": frozenset([draw(NAMES)])}],
    }[task]
    return LabelledText(
        text,
        annotator=draw(st.sampled_from(["", "anna", "10", "007", "a@b.c"])),
        given=draw(st.none() | st.integers(0, 2**31).map(float)),
        seconds=draw(st.none() | st.floats(0, 1e6)),
        origin=draw(st.sampled_from(["person", "import"])),
        **draw(st.sampled_from([*values, {"verdict": "skip"}, {"verdict": "don't know"}])),
    )


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data(), task=st.sampled_from(["ner", "multilabel", "multiclass"]))
def test_what_is_written_is_read_again(tmp_path, data, task):
    labels = data.draw(st.lists(judgements(task), min_size=1, max_size=4, unique_by=lambda label: label.text))
    file = tmp_path / "a.json"
    write_labels(file, "label-studio", labels, task=task, categories=["A", "B", "Ünï 💩"])
    found = [LabelledText(**{**vars(label), "extra": {}}) for label in read_labels(file)]
    assert found == labels


def test_a_file_of_label_studio_goes_back_with_its_data_and_controls(tmp_path, read):
    rating = {"id": "r", "from_name": "stars", "to_name": "t", "type": "rating", "value": {"rating": 3}}
    given_task = task("In Rome", choices("A"), rating)
    given_task["data"]["page"] = 4
    write_labels(tmp_path / "b.json", "label-studio", read(given_task), task="multilabel")
    (back,) = json.loads((tmp_path / "b.json").read_text())
    assert back["data"] == {"page": 4, "text": "In Rome"}
    assert [result["from_name"] for result in back["annotations"][0]["result"]] == ["topic", "stars"]


def test_labels_of_another_task_are_told_and_unknown_ones_refused(tmp_path):
    file = tmp_path / "a.json"
    written = write_labels(file, "label-studio", [LabelledText("x", complete=frozenset("A"))], task="ner")
    assert written.noted == {"labels of another task": 1} and json.loads(file.read_text()) == []
    with pytest.raises(UnknownLabel, match="'A' of the text 'x'"):
        write_labels(file, "label-studio", [LabelledText("x", known={"A": True})], task="multilabel", categories=["B"])
