"""One labelled file becomes a project: columns recognised, categories spread evenly, nothing in two parts."""

import csv
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from small_project import make_texts
from typer.testing import CliRunner

from limbeck.cli import app
from limbeck.config import load_project
from limbeck.data.divide import divide, recognise
from limbeck.data.prepare import read_corpus
from limbeck.data.tagged import read_tagged
from limbeck.errors import BadLabel, BadSetting, ColumnMissing, FileMissing, ProjectExists, TooFewRows
from limbeck.project import create_divided

ROWS = make_texts(200, seed=1)


def write_csv(path, head, rows, delimiter=","):
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=delimiter).writerows([head, *rows])
    return path


def parts_of(folder):
    corpus = read_corpus(load_project(folder))
    return [part.dataset for part in (corpus.train, corpus.dev, corpus.test)]


def lists(path, text="comment", labels="topics"):
    return write_csv(path, ("id", text, labels), [(i, t, "|".join(on)) for i, (t, on) in enumerate(ROWS)])


@pytest.fixture
def project(tmp_path):
    pool = write_csv(tmp_path / "more.csv", ("comment",), [(t,) for t, _ in make_texts(30, seed=2)])
    division = create_divided(tmp_path / "p", "multilabel", lists(tmp_path / "all.csv"), [pool])
    return tmp_path / "p", division


def test_every_row_stands_in_one_part_with_the_labels_it_had(project):
    folder, division = project
    parts = parts_of(folder)
    assert [len(part.texts) for part in parts] == list(division.rows.values())
    found = {}
    for part in parts:
        for text, values in zip(part.texts, part.labels, strict=True):
            assert text not in found
            found[text] = [name for name, value in zip(part.names, values, strict=True) if value == 1]
    assert found == dict(ROWS)


def test_each_category_has_its_rate_in_each_part(project):
    parts = parts_of(project[0])
    assert [len(part.texts) for part in parts] == pytest.approx([100, 50, 50], abs=2)
    for column in range(3):
        rates = [(part.labels[:, column] == 1).mean() for part in parts]
        assert max(rates) - min(rates) < 0.05


def test_the_same_text_is_never_on_two_sides(tmp_path):
    rows = [(text, "|".join(on)) for text, on in ROWS[:40] for text in (text, text.upper() + "!")]
    division = divide(write_csv(tmp_path / "a.csv", ("text", "labels"), rows), "multilabel")
    texts = [
        {row["text"].lower().rstrip("!") for row in csv.DictReader(content.splitlines())}
        for content in division.files.values()
    ]
    assert not texts[0] & texts[1] and not texts[0] & texts[2] and not texts[1] & texts[2]


def test_it_is_drawn_the_same_way_again(tmp_path):
    file = lists(tmp_path / "all.csv")
    assert divide(file, "multilabel") == divide(file, "multilabel")
    assert divide(file, "multilabel", seed=1).files != divide(file, "multilabel").files


@pytest.mark.parametrize(
    ("record", "task", "expected"),
    [
        ({"text": "some words", "labels": "a|b"}, "multilabel", ("complete", "text", "labels", ())),
        ({"Comment": "some words", "Topic": "a"}, "multilabel", ("complete", "Comment", "Topic", ())),
        ({"text": "some words", "label": "1"}, "multilabel", ("category", "text", "label", ())),
        ({"text": "some words", "spam": 1}, "multilabel", ("category", "text", "spam", ())),
        ({"text": "some words", "late": 1, "cold": "1", "id": 7}, "multilabel", ("wide", "text", "", ("late", "cold"))),
        ({"text": "some words", "intent": "refund"}, "multiclass", ("classes", "text", "intent", ())),
        ({"text": "some words", "label": "1"}, "multiclass", ("classes", "text", "label", ())),
        ({"said": "words that go on and on", "why": "late"}, "multilabel", ("complete", "said", "why", ())),
    ],
)
def test_columns_are_recognised(record, task, expected):
    found = recognise([record, record], task)
    assert (found.shape, found.text, found.labels, found.categories) == expected


def test_ids_and_sources_are_no_categories():
    rows = [{"id": i, "text": "some words", "late": i % 2, "cold": 1, "source": "app"} for i in range(9)]
    assert recognise(rows, "multilabel").ignored == ("id",)


@pytest.mark.parametrize(
    ("rows", "wished", "says"),
    [
        ([{"a": "x", "b": "y"}], {}, "No column is surely that of the texts; the file has: a, b"),
        ([{"text": f"t{i}", "b": f"y{i}"} for i in range(9)], {}, "surely that of the labels; the file has: text, b"),
        ([{"text": "t", "labels": "a"}], {"text": "txet"}, "no column 'txet'.*'text'"),
        ([{"text": "t", "labels": "a"}], {"labels": "label"}, "no column 'label'.*'labels'"),
    ],
)
def test_what_can_t_be_recognised_is_asked_for(rows, wished, says):
    with pytest.raises(ColumnMissing, match=says) as error:
        recognise(rows, "multilabel", **wished)
        raise AssertionError
    assert "-column" in error.value.fix


def test_a_file_of_one_category_keeps_its_name(tmp_path):
    file = write_csv(tmp_path / "late.csv", ("text", "label"), [(t, int("late" in on)) for t, on in ROWS])
    create_divided(tmp_path / "p", "multilabel", file)
    train, _, _ = parts_of(tmp_path / "p")
    assert train.names == ("late",) and 20 < (train.labels == 1).sum() < 40


def test_a_category_may_be_called_label(tmp_path):
    rows = [(text, int("late" in on), int("heat" in on)) for text, on in ROWS]
    create_divided(tmp_path / "p", "multilabel", write_csv(tmp_path / "a.csv", ("text", "label", "heat"), rows))
    train, dev, _ = parts_of(tmp_path / "p")
    assert sorted(train.names) == sorted(dev.names) == ["heat", "label"]
    assert train.column("label").sum() == sum("late" in dict(ROWS)[text] for text in train.texts)


def test_wide_files_of_parquet_keep_what_is_unknown(tmp_path):
    columns = {
        "text": [text for text, _ in ROWS],
        "late": [float("late" in on) if i % 3 else None for i, (_, on) in enumerate(ROWS)],
        "heat": [float("heat" in on) for _, on in ROWS],
    }
    pq.write_table(pa.table(columns), tmp_path / "a.parquet")
    create_divided(tmp_path / "p", "multilabel", tmp_path / "a.parquet")
    parts = parts_of(tmp_path / "p")
    unknown = sum(int(np.isnan(part.labels).sum()) for part in parts)
    assert sorted(parts[0].names) == ["heat", "late"] and unknown == 67


def test_classes_of_a_tsv(tmp_path):
    rows = [(text, on[0]) for text, on in ROWS if len(on) == 1]
    file = write_csv(tmp_path / "a.tsv", ("message", "intent"), rows, "\t")
    create_divided(tmp_path / "p", "multiclass", file)
    assert (
        sorted(parts_of(tmp_path / "p")[0].names) == ["heat", "late", "wifi"] and (tmp_path / "p" / "dev.tsv").is_file()
    )


SENTENCES = "".join(f"Trains\tO\nto\tO\nTown{i}\tB-LOC\n\n" if i % 2 else f"All\tO\nquiet{i}\tO\n\n" for i in range(60))
SPANS = "".join(
    json.dumps({"text": f"To Town{i}", "spans": [[3, 8, "LOC"]] if i % 2 else []}) + "\n" for i in range(60)
)


@pytest.mark.parametrize(("name", "content"), [("a.conll", SENTENCES), ("a.jsonl", SPANS)])
def test_entities_are_divided_by_their_types(tmp_path, name, content):
    (tmp_path / name).write_text(content, encoding="utf-8")
    division = create_divided(tmp_path / "p", "ner", tmp_path / name)
    corpus = read_tagged(load_project(tmp_path / "p"))
    assert corpus.types == ("LOC",) and sum(division.rows.values()) == 60
    for part in (corpus.train, corpus.dev, corpus.test):
        assert sum(bool(s.entities()) for s in part) == pytest.approx(len(part) / 2, abs=1.5)


def test_what_is_wrong_is_said_and_nothing_is_written(tmp_path):
    file, folder = lists(tmp_path / "all.csv"), tmp_path / "p"
    other = write_csv(tmp_path / "more.csv", ("words",), [("one",)])
    few = write_csv(tmp_path / "few.csv", ("text", "labels"), [("one", "a"), ("two", "")])
    bad = write_csv(tmp_path / "bad.csv", ("text", "a", "b"), [("one", 1, 0), ("two", 1, 1)] * 1_100 + [("x", "y", 1)])
    for expected, arguments in (
        (FileMissing, {"labelled": tmp_path / "none.csv"}),
        (FileMissing, {"labelled": file, "unlabelled": [tmp_path / "none.csv"]}),
        (ColumnMissing, {"labelled": file, "unlabelled": [other]}),
        (TooFewRows, {"labelled": few}),
        (BadLabel, {"labelled": bad}),
        (BadSetting, {"labelled": file, "shares": (0.6, 0.4)}),
        (BadSetting, {"labelled": file, "shares": (0.01, 0.4)}),
    ):
        with pytest.raises(expected):
            create_divided(folder, "multilabel", **arguments)
        assert not folder.exists()


def test_a_project_that_is_there_is_left_alone(project, tmp_path):
    before = (tmp_path / "p" / "train.csv").read_bytes()
    with pytest.raises(ProjectExists):
        create_divided(tmp_path / "p", "multilabel", lists(tmp_path / "b.csv"))
    assert (tmp_path / "p" / "train.csv").read_bytes() == before


def test_the_command_tells_what_it_did(tmp_path):
    file = lists(tmp_path / "all.csv")
    told = CliRunner().invoke(app, ["init", str(tmp_path / "p"), "--labelled", str(file), "--test", "0", "--quick"])
    assert told.exit_code == 0, told.output
    assert "text column 'comment', labels column 'topics'" in told.output.replace("\n", " ")
    assert "3 categories" in told.output and "no student" in told.output
    config = load_project(tmp_path / "p").config
    assert config.data.test == "" and config.baselines.kinds == ["tfidf-logreg"] and config.distill.enough == 0
    quiet = CliRunner().invoke(app, ["init", str(tmp_path / "q"), "--labelled", str(file), "--quiet"])
    assert quiet.exit_code == 0 and quiet.output == ""
    lost = CliRunner().invoke(app, ["init", str(tmp_path / "r"), "--unlabelled", str(file)])
    assert isinstance(lost.exception, BadSetting) and not (tmp_path / "r").exists()
