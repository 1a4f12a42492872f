"""The project's own files: what is exported is what training reads, and the majority decides."""

import json

import numpy as np
import pytest

from limbeck.annotate.exchange import LabelledText, read_labels, write_labels
from limbeck.config import DataSettings
from limbeck.data.merge import read_dataset
from limbeck.data.shapes import read_rows
from limbeck.data.spans import read_spans
from limbeck.errors import BadLabel, BrokenRow, FileEmpty, UnknownLabel
from limbeck.scorer import Span
from limbeck.text import Cleaner


def known(text, annotator="", source="", **cells):
    return LabelledText(text, annotator, known=cells, source=source)


def complete(text, *names, annotator=""):
    return LabelledText(text, annotator, complete=frozenset(names))


def entities(text, *spans, annotator=""):
    return LabelledText(text, annotator, spans=tuple(Span(*span) for span in spans))


def rows_of(file):
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def as_training_reads(file, task="multilabel"):
    return {row.text: (row.known, row.complete) for row in read_rows(file, task, DataSettings())}


def test_single_answers_become_the_known_cells_of_a_text(tmp_path):
    file = tmp_path / "a.jsonl"
    labels = [
        known("Wo ist 🧳?", "anna", Luggage=True),
        known("Refund, please", "anna", source="mail", Refund=True),
        known("Wo ist 🧳?", "bert", Refund=False),
        LabelledText("Hm", "anna", verdict="skip"),
    ]
    written = write_labels(file, "limbeck", labels, task="multilabel", categories=["Refund", "Luggage"])
    assert written.rows == 2 and written.noted == {"not labelled, but skipped or not known": 1}
    assert rows_of(file) == [
        {"text": "Wo ist 🧳?", "Refund": 0, "Luggage": 1},
        {"text": "Refund, please", "source": "mail", "Refund": 1},
    ]
    assert as_training_reads(file) == {
        "Wo ist 🧳?": ({"Refund": 0, "Luggage": 1}, False),
        "Refund, please": ({"Refund": 1}, False),
    }
    assert list(read_labels(file)) == [
        known("Wo ist 🧳?", Refund=False, Luggage=True),
        known("Refund, please", source="mail", Refund=True),
    ]


def test_complete_lists_stay_complete(tmp_path):
    file = tmp_path / "a.jsonl"
    labels = [complete("one", "B", "A"), complete("none")]
    assert write_labels(file, "limbeck", labels, task="multilabel", categories=["A", "B", "C"]).rows == 2
    assert rows_of(file) == [{"text": "one", "labels": ["A", "B"]}, {"text": "none", "labels": []}]
    assert as_training_reads(file) == {"one": ({"A": 1, "B": 1}, True), "none": ({}, True)}
    assert list(read_labels(file)) == labels


def test_the_majority_decides_a_cell_and_a_tie_is_left_out_and_told(tmp_path):
    file = tmp_path / "a.jsonl"
    labels = [
        known("t", "anna", A=True, B=True),
        known("t", "bert", A=True, B=False),
        known("t", "cleo", A=False),
        known("tied", "anna", A=True),
        known("tied", "bert", A=False),
    ]
    written = write_labels(file, "limbeck", labels, task="multilabel", categories=["A", "B"])
    assert rows_of(file) == [{"text": "t", "A": 1}]
    assert written.noted == {"annotators are divided": 2}
    assert written.examples == ["annotators are divided: 'B' in 't'", "annotators are divided: 'A' in 'tied'"]


def test_the_last_word_of_one_person_counts_but_those_without_a_name_are_not_one(tmp_path):
    file = tmp_path / "a.jsonl"
    labels = [known("t", "anna", A=True), known("t", "anna", A=False), *[known("u", A=True)] * 2, known("u", A=False)]
    write_labels(file, "limbeck", labels, task="multilabel", categories=["A"])
    assert rows_of(file) == [{"text": "t", "A": 0}, {"text": "u", "A": 1}]


def test_lists_that_differ_say_what_the_majority_says_and_no_more(tmp_path):
    file = tmp_path / "a.jsonl"
    labels = [complete("t", "A", "B", annotator="anna"), complete("t", "A", annotator="bert"), known("u", A=True)]
    written = write_labels(file, "limbeck", labels, task="multilabel", categories=["A", "B", "C"])
    assert rows_of(file) == [{"text": "t", "A": 1, "C": 0}, {"text": "u", "A": 1}]
    assert written.noted == {"annotators are divided": 1}
    assert as_training_reads(file) == {"t": ({"A": 1, "C": 0}, False), "u": ({"A": 1}, False)}


def test_a_project_merges_what_was_exported_without_a_contradiction(tmp_path):
    file = tmp_path / "a.jsonl"
    labels = [complete("one", "A"), known("two", B=True), known("three", A=False), complete("two", "B")]
    write_labels(file, "limbeck", labels, task="multilabel", categories=["A", "B"])
    merged = read_dataset([file], "multilabel", DataSettings(), Cleaner())
    assert merged.conflicts == () and merged.dataset.names == ("A", "B")
    assert merged.dataset.texts == ["one", "two", "three"]
    np.testing.assert_array_equal(merged.dataset.labels, [[1, 0], [0, 1], [0, np.nan]])


def test_classes_are_read_as_classes_and_a_tie_has_none(tmp_path):
    file = tmp_path / "a.jsonl"
    labels = [
        complete("one", "A", annotator="anna"),
        complete("one", "A", annotator="bert"),
        complete("one", "B", annotator="cleo"),
        complete("two", "A", annotator="anna"),
        complete("two", "B", annotator="bert"),
        known("three", "anna", A=False, B=True),
        known("four", "anna", A=False),
    ]
    written = write_labels(file, "limbeck", labels, task="multiclass", categories=["A", "B"])
    assert rows_of(file) == [{"text": "one", "label": "A"}, {"text": "three", "label": "B"}]
    assert written.noted == {"annotators are divided": 1, "texts without a class": 1}
    assert as_training_reads(file, "multiclass") == {"one": ({"A": 1}, True), "three": ({"B": 1}, True)}
    assert list(read_labels(file)) == [complete("one", "A"), complete("three", "B")]
    with pytest.raises(BadLabel, match="2 classes: A, B"):
        write_labels(file, "limbeck", [complete("x", "A", "B")], task="multiclass", categories=["A", "B"])


def test_entities_are_read_as_entities(tmp_path):
    file = tmp_path / "a.jsonl"
    labels = [entities("😀 To Rome", (5, 9, "LOC")), entities("Nothing")]
    assert write_labels(file, "limbeck", labels, task="ner", categories=["LOC"]).rows == 2
    assert [sentence.spans() for sentence in read_spans(file)] == [[Span(5, 9, "LOC")], []]
    assert list(read_labels(file)) == labels


def test_an_entity_needs_a_majority_and_a_divided_text_is_left_out_whole(tmp_path):
    file = tmp_path / "a.jsonl"
    rome, paris = (3, 7, "LOC"), (8, 13, "LOC")
    labels = [
        entities("To Rome Paris", rome, paris, annotator="anna"),
        entities("To Rome Paris", rome, annotator="bert"),
        entities("To Rome Paris", rome, annotator="cleo"),
        entities("In Rome", rome, annotator="anna"),
        entities("In Rome", annotator="bert"),
    ]
    written = write_labels(file, "limbeck", labels, task="ner")
    assert rows_of(file) == [{"text": "To Rome Paris", "spans": [{"start": 3, "end": 7, "label": "LOC"}]}]
    assert written.noted == {"annotators are divided": 1}


def test_entities_that_training_would_refuse_are_left_out_and_told(tmp_path):
    file = tmp_path / "a.jsonl"
    labels = [
        entities("Bozen-Rom", (0, 5, "LOC"), (6, 9, "LOC")),
        entities("Romparis", (0, 3, "LOC"), (3, 8, "LOC")),
        entities("To  Rome", (2, 4, "LOC")),
        entities("  "),
        complete("other", "LOC"),
    ]
    written = write_labels(file, "limbeck", labels, task="ner")
    assert [row["text"] for row in rows_of(file)] == ["Bozen-Rom"]
    assert len(read_spans(file)) == 1
    assert written.noted == {
        "entities that share a word, or hold none": 2,
        "texts without a word": 1,
        "labels of another task": 1,
    }


def test_names_that_can_not_be_written_are_told(tmp_path):
    file = tmp_path / "a.jsonl"
    with pytest.raises(UnknownLabel, match="'Refnd' of the text 'x'.*Did you mean 'Refund'"):
        write_labels(file, "limbeck", [known("x", Refnd=True)], task="multilabel", categories=["Refund"])
    with pytest.raises(BadLabel, match="'source'.*Rename it"):
        write_labels(file, "limbeck", [LabelledText("x", known={"source": True})], task="multilabel")
    assert not file.exists()


@pytest.mark.parametrize(
    ("name", "content", "labels"),
    [
        (
            "a.csv",
            'text,source,A,B\n"x, y",mail,1,\nz,,0,1.0\n',
            [known("x, y", source="mail", A=True), known("z", A=False, B=True)],
        ),
        ("a.tsv", "text\tlabels\nx\tA| B\nz\t\n", [complete("x", "A", "B"), complete("z")]),
        ("Refund.csv", "text,label\nx,1\ny,0\nz,\n", [known("x", Refund=True), known("y", Refund=False)]),
        ("a.csv", "text,label\nx,Refund\n", [complete("x", "Refund")]),
        ("a.jsonl", '{"text": "x", "labels": null}\n{"text": "y", "A": true, "B": null}', [known("y", A=True)]),
        ("a.jsonl", '{"text": "To Rome", "label": [[3, 7, "LOC"]]}', [entities("To Rome", (3, 7, "LOC"))]),
        (
            "a.jsonl",
            '{"text": "To Rome", "entities": [{"start": 3, "end": 7, "type": "A B"}]}',
            [entities("To Rome", (3, 7, "A_B"))],
        ),
        ("a.jsonl", '{"text": "To Rome", "label": []}', [entities("To Rome")]),
    ],
)
def test_every_shape_of_the_project_is_read(tmp_path, name, content, labels):
    (tmp_path / name).write_text(content)
    assert list(read_labels(tmp_path / name, "limbeck")) == labels


def test_columns_that_are_no_category_are_kept_aside_when_categories_are_known(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": "x", "id": "x7", "A": 1}')
    (label,) = read_labels(tmp_path / "a.jsonl", categories=["A", "B"])
    assert (label.known, label.extra) == ({"A": True}, {"id": "x7"})
    with pytest.raises(BadLabel, match="'id' is 'x7'"):
        list(read_labels(tmp_path / "a.jsonl"))


def test_a_class_may_be_called_1_if_that_is_known(tmp_path):
    (tmp_path / "stars.csv").write_text("text,label\nfine,1\n")
    assert list(read_labels(tmp_path / "stars.csv", categories=["0", "1"])) == [complete("fine", "1")]
    assert list(read_labels(tmp_path / "stars.csv")) == [known("fine", stars=True)]


@pytest.mark.parametrize(
    ("name", "content", "error", "match", "line"),
    [
        ("a.jsonl", '{"text": "x", "C": 1}', UnknownLabel, "'C'", 1),
        ("a.jsonl", '{"text": "x", "labels": ["C"]}', UnknownLabel, "'C'", 1),
        ("a.jsonl", '{"text": "x", "label": "C"}', UnknownLabel, "'C'", 1),
        ("C.jsonl", '{"text": "x", "label": 1}', UnknownLabel, "'C'", 1),
        ("a.jsonl", '{"text": "x", "A": 2}', BadLabel, "neither 1, 0 nor blank", 1),
        ("a.jsonl", '{"text": "x", "labels": 3}', BadLabel, "not a list", 1),
        ("a.jsonl", '{"text": "x", "spans": [[0, 9, "A"]]}', BadLabel, "in a text of 1", 1),
        ("a.jsonl", '{"text": "x", "spans": ["A"]}', BrokenRow, "An entity is 'A'", 1),
        ("a.csv", 'text,A\n"x\ny",1\nz\n', BrokenRow, "1 values for 2 columns", 4),
        ("a.csv", 'text,A\n"x"y,1\n', BrokenRow, "not a row", 2),
        ("a.csv", "text,A\n", FileEmpty, "no rows", None),
    ],
)
def test_rows_that_say_something_else_are_told(tmp_path, name, content, error, match, line):
    (tmp_path / name).write_text(content)
    with pytest.raises(error, match=match) as caught:
        list(read_labels(tmp_path / name, "limbeck", categories=["A", "B"]))
    assert caught.value.place.line == line
