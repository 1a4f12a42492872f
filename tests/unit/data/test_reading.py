"""Reading files: three shapes become one matrix, and bad input is an error with code, file and line."""

import json
from pathlib import Path

import numpy as np
import pytest

from limbeck.config import DataSettings
from limbeck.data.merge import read_dataset
from limbeck.data.records import read_records
from limbeck.data.tables import load_dataset, save_dataset
from limbeck.errors import (
    BadLabel,
    BrokenEncoding,
    BrokenRow,
    ColumnMissing,
    Contradiction,
    FileEmpty,
    FileMissing,
    LineTooLong,
    UnknownFormat,
    UnknownLabel,
)
from limbeck.text import Cleaner

CLEAN = Cleaner(("encoding", "html", "control", "whitespace"))
NAN = float("nan")


def read(*paths: Path, task="multilabel", categories=(), **settings):
    return read_dataset(list(paths), task, DataSettings(**settings), CLEAN, categories)


def write(path: Path, content: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")
    return path


def cells(merged) -> dict[str, list[float]]:
    return {text: row.tolist() for text, row in zip(merged.dataset.texts, merged.dataset.labels, strict=True)}


def same(found: dict, expected: dict) -> bool:
    return found.keys() == expected.keys() and all(
        np.array_equal(found[k], expected[k], equal_nan=True) for k in expected
    )


def test_one_file_a_category_leaves_the_other_categories_unknown(tmp_path):
    write(tmp_path / "l" / "cold.csv", "text,label\nbrr,1\nfine,0\n")
    write(tmp_path / "l" / "late.csv", "text,label\nbrr,0\nhours!,1\n")
    merged = read(tmp_path / "l")
    assert merged.dataset.names == ("cold", "late")
    assert same(cells(merged), {"brr": [1, 0], "fine": [0, NAN], "hours!": [NAN, 1]})


def test_a_wide_file_keeps_blanks_unknown(tmp_path):
    file = write(tmp_path / "wide.csv", "text,cold,late\nbrr,1,\nfine,0,0\nsoon,,1.0\n")
    assert same(cells(read(file)), {"brr": [1, NAN], "fine": [0, 0], "soon": [NAN, 1]})


def test_complete_lists_know_every_label(tmp_path):
    rows = [
        {"text": "brr", "labels": ["cold"]},
        {"text": "ok", "labels": []},
        {"text": "both", "labels": ["late", "cold"]},
    ]
    file = write(tmp_path / "full.jsonl", "\n".join(map(json.dumps, rows)))
    merged = read(file)
    assert same(cells(merged), {"brr": [1, 0], "ok": [0, 0], "both": [1, 1]}) and merged.dataset.complete


def test_a_csv_of_complete_lists_joins_labels_by_a_bar(tmp_path):
    file = write(tmp_path / "full.csv", "text,labels\nbrr,cold\nboth,late|cold\nok,\n")
    assert same(cells(read(file)), {"brr": [1, 0], "both": [1, 1], "ok": [0, 0]})


def test_all_shapes_mix(tmp_path):
    one = write(tmp_path / "cold.csv", "text,label\nbrr,1\n")
    wide = write(tmp_path / "wide.tsv", "text\tlate\tloud\nbrr\t0\t\n")
    full = write(tmp_path / "full.jsonl", json.dumps({"text": "x", "labels": ["loud"]}))
    assert same(cells(read(one, wide, full)), {"brr": [1, 0, NAN], "x": [0, 0, 1]})


def test_objects_of_a_wide_jsonl_need_not_have_the_same_keys(tmp_path):
    file = write(tmp_path / "wide.jsonl", '{"text": "a", "cold": 1}\n{"text": "b", "late": 0, "cold": null}\n')
    assert same(cells(read(file)), {"a": [1, NAN], "b": [NAN, 0]})


def test_classes_are_one_hot(tmp_path):
    file = write(tmp_path / "train.csv", "text,label\na,bus\nb,train\n")
    merged = read(file, task="multiclass")
    assert merged.dataset.names == ("bus", "train") and same(cells(merged), {"a": [1, 0], "b": [0, 1]})


def test_sources_are_kept_and_may_be_missing(tmp_path):
    file = write(tmp_path / "wide.csv", "text,source,cold\na,app,1\nb,,0\n")
    assert read(file).dataset.sources == ["app", ""]
    assert read(write(tmp_path / "cold.csv", "text,label\na,1\n")).dataset.sources == []


def test_texts_are_the_same_after_cleaning(tmp_path):
    write(tmp_path / "l" / "cold.csv", 'text,label\n"so <b>cold</b> &amp; dark",1\n')
    write(tmp_path / "l" / "late.csv", "text,label\nso  cold & dark ,0\n")
    assert same(cells(read(tmp_path / "l")), {"so cold & dark": [1, 0]})


def test_quotes_line_breaks_bom_and_crlf_are_read(tmp_path):
    file = tmp_path / "cold.csv"
    file.write_bytes(b'\xef\xbb\xbftext,label\r\n"a ""q"", and\r\nmore",1\r\nb,0\r\n')
    assert [line for line, _ in read_records(file)] == [2, 4]
    assert same(cells(read(file)), {'a "q", and more': [1], "b": [0]})


def test_empty_texts_are_counted_with_their_place(tmp_path):
    merged = read(write(tmp_path / "cold.csv", 'text,label\na,1\n"  ",0\n<br>,1\n'))
    assert [place.line for place in merged.empty_texts] == [3, 4] and len(merged.dataset) == 1


def test_parquet_reads_like_the_rest(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.table({"text": ["a", "b"], "cold": [1.0, None], "late": [NAN, 0.0]}), tmp_path / "wide.parquet")
    pq.write_table(pa.table({"text": ["c"], "labels": [["late"]]}), tmp_path / "full.parquet")
    merged = read(tmp_path / "wide.parquet", tmp_path / "full.parquet")
    assert same(cells(merged), {"a": [1, NAN], "b": [NAN, 0], "c": [0, 1]})


def test_a_data_set_survives_storing(tmp_path):
    write(tmp_path / "l" / "text.csv", "text,label,source\nbrr,1,app\nfine,,web\n")
    write(tmp_path / "l" / "late.csv", "text,label,source\nfine,0,web\n")
    before = read(tmp_path / "l").dataset
    save_dataset(before, tmp_path / "d.parquet")
    after = load_dataset(tmp_path / "d.parquet")
    assert (after.texts, after.names, after.sources) == (before.texts, before.names, before.sources)
    assert np.array_equal(after.labels, before.labels, equal_nan=True)
    assert [after.place(i) for i in range(2)] == [before.place(i) for i in range(2)]


def test_an_evaluation_set_keeps_repeated_rows_of_complete_lists_as_they_are(tmp_path):
    file = write(tmp_path / "dev.jsonl", '{"text": "a", "labels": ["cold"]}\n{"text": "a", "labels": []}\n')
    merged = read_dataset([file], "multilabel", DataSettings(), CLEAN, ("cold",), keep_repeats=True)
    assert merged.dataset.texts == ["a", "a"] and merged.dataset.labels.ravel().tolist() == [1, 0]
    assert merged.conflicts == ()


def test_a_list_that_is_null_says_nothing_and_a_row_may_have_another_shape(tmp_path):
    rows = [{"text": "x", "labels": ["a"]}, {"text": "y", "labels": None}, {"text": "z", "a": 0, "b": 1}]
    file = write(tmp_path / "train.jsonl", "\n".join(map(json.dumps, rows)))
    assert same(cells(read(file)), {"x": [1, 0], "y": [NAN, NAN], "z": [0, 1]})


def test_a_wide_column_that_is_all_blank_is_still_a_category(tmp_path):
    merged = read(write(tmp_path / "wide.csv", "text,a,b\nx,1,\ny,0,\n"))
    assert merged.dataset.names == ("a", "b") and same(cells(merged), {"x": [1, NAN], "y": [0, NAN]})


def test_columns_that_were_not_read_are_told(tmp_path):
    merged = read(write(tmp_path / "a.csv", "text,label,wlan,source\nx,1,0,app\n"))
    assert merged.passed_over == ((tmp_path / "a.csv", ("wlan",)),)
    assert read(tmp_path / "a.csv", ignore_columns=["wlan"]).passed_over == ()


def test_many_statements_about_one_text_are_counted_right(tmp_path):
    rows = ['{"text": "ok", "labels": ["a"]}'] * 65_536 + ['{"text": "ok", "labels": ["b"]}']
    merged = read(write(tmp_path / "t.jsonl", "\n".join(rows)), contradictions="majority")
    assert same(cells(merged), {"ok": [1, 0]}) and len(merged.conflicts) == 2


def test_names_are_stripped_and_hidden_files_passed_over(tmp_path):
    write(tmp_path / "l" / "t.jsonl", '{"text": "x", "labels": ["a "]}')
    write(tmp_path / "l" / "._t.jsonl", "junk")
    assert read(tmp_path / "l").dataset.names == ("a",)


def test_integer_classes_are_classes(tmp_path):
    file = write(tmp_path / "t.jsonl", '{"text": "x", "label": 0}\n{"text": "y", "label": 1}\n')
    assert read(file, task="multiclass").dataset.names == ("0", "1")


class TestContradictions:
    @pytest.fixture
    def files(self, tmp_path):
        a = write(tmp_path / "a" / "cold.csv", "text,label\nbrr,1\nfine,0\nbrr,1\n")
        b = write(tmp_path / "b.jsonl", '{"text": "fine", "labels": []}\n{"text": "brr", "labels": []}\n')
        return a, b

    def test_they_are_listed_with_every_file_and_line(self, files):
        (conflict,) = read(*files).conflicts
        assert (conflict.text, conflict.category) == ("brr", "cold")
        assert [(p.file.name, p.line) for p in conflict.yes] == [("cold.csv", 2), ("cold.csv", 4)]
        assert [(p.file.name, p.line) for p in conflict.no] == [("b.jsonl", 2)]

    def test_by_default_the_cell_is_unknown(self, files):
        assert same(cells(read(*files)), {"brr": [NAN], "fine": [0]})

    def test_the_majority_can_decide(self, files):
        assert same(cells(read(*files, contradictions="majority")), {"brr": [1], "fine": [0]})

    def test_they_can_be_an_error(self, files):
        with pytest.raises(Contradiction, match=r"cold.csv:2.*no at .*b.jsonl:2"):
            read(*files, contradictions="error")


class TestCategories:
    def test_chosen_ones_are_the_columns_in_their_order(self, tmp_path):
        write(tmp_path / "l" / "cold.csv", "text,label\nbrr,1\n")
        write(tmp_path / "l" / "late.csv", "text,label\nhm,1\n")
        write(tmp_path / "l" / "loud.csv", "text,label\nhm,0\n")
        merged = read_dataset([tmp_path / "l"], "multilabel", DataSettings(categories=["loud", "cold"]), CLEAN)
        assert merged.dataset.names == ("loud", "cold") and same(cells(merged), {"brr": [NAN, 1], "hm": [0, NAN]})

    def test_one_that_no_file_has_is_an_error(self, tmp_path):
        write(tmp_path / "l" / "cold.csv", "text,label\nbrr,1\n")
        with pytest.raises(UnknownLabel, match="'cald'.*Did you mean 'cold'"):
            read_dataset([tmp_path / "l"], "multilabel", DataSettings(categories=["cald"]), CLEAN)

    def test_a_label_that_training_does_not_know_is_an_error_or_passed_over(self, tmp_path):
        file = write(tmp_path / "dev.jsonl", '{"text": "a", "labels": []}\n{"text": "b", "labels": ["colt"]}\n')
        with pytest.raises(UnknownLabel, match=r"dev.jsonl:2.*'colt'.*Did you mean 'cold'"):
            read(file, categories=("cold",))
        assert same(cells(read(file, categories=("cold",), unknown_labels="ignore")), {"a": [0], "b": [0]})


BAD_FILES = [
    ("cold.csv", b"", FileEmpty, None),
    ("cold.csv", b"text,label\n", FileEmpty, None),
    ("cold.csv", b"words,label\na,1\n", ColumnMissing, 2),
    ("cold.csv", b"text\na\n", ColumnMissing, 2),
    ("cold.csv", b"text,label\na,1\nb,maybe\n", BadLabel, 3),
    ("cold.csv", b"text,label\na,2\n", BadLabel, 2),
    ("cold.csv", b"text,label\na,nan\n", BadLabel, 2),
    ("cold.csv", b"text,label\na,-1\n", BadLabel, 2),
    ("cold.csv", b"text,label\na,1\nb\xff,0\n", BrokenEncoding, 3),
    ("cold.csv", "text,label\na,1\n".encode("utf-16"), BrokenEncoding, 1),
    ("cold.csv", b"text,label\na,1\n" + b"x" * 10_000_000 + b",0\n", LineTooLong, 3),
    ("cold.csv", b"text,label\na,1\nb,0,7\n", BrokenRow, 3),
    ("cold.csv", b'text,label\na,1\n"b,0\n', BrokenRow, 3),
    ("cold.csv", b"text;label\na;1\n", BrokenRow, 1),
    ("cold.csv", b"text,text\na,1\n", BrokenRow, 1),
    ("wide.csv", b"text,cold,id\na,1,17\n", BadLabel, 2),
    ("d.jsonl", b'{"text": "a", "labels": []}\n{"text": "b", "labels": 3}\n', BadLabel, 2),
    ("d.jsonl", b'{"text": "a", "labels": []}\n{"labels": []}\n', ColumnMissing, 2),
    ("d.jsonl", b'{"text": 7, "labels": []}\n', BrokenRow, 1),
    ("d.jsonl", b'{"text": "a", "cold": NaN}\n', BrokenRow, 1),
    ("d.jsonl", b'{"text": "a", "cold": 0.5}\n', BadLabel, 1),
    ("d.jsonl", b'{"text": "a"\n', BrokenRow, 1),
    ("d.jsonl", b'["a"]\n', BrokenRow, 1),
    ("d.jsonl", b"[" * 100_000 + b"\n", BrokenRow, 1),
    ("d.jsonl", b'{"text": "a", "labels": [""]}\n', BadLabel, 1),
    ("d.jsonl", b'{"text": "a", "labels": [], "source": "\\ud83d"}\n', BrokenRow, 1),
    ("d.jsonl", b'{"text": "a", "labels": []}\n{"text": "b"}\n', ColumnMissing, 2),
    ("d.parquet", b"PAR1 this is none", BrokenRow, None),
    ("d.xlsx", b"PK", UnknownFormat, None),
]


@pytest.mark.parametrize(
    ("name", "content", "error", "line"),
    BAD_FILES,
    ids=[f"{n}-{e.__name__}-{i}" for i, (n, _, e, _) in enumerate(BAD_FILES)],
)
def test_bad_input_is_an_error_with_code_file_and_line(tmp_path, name, content, error, line):
    file = tmp_path / name
    file.write_bytes(content)
    with pytest.raises(error) as caught:
        read(file)
    assert caught.value.place.file == file and caught.value.place.line == line
    assert caught.value.code in str(caught.value) and caught.value.fix


def test_a_missing_file_and_an_empty_folder_are_errors(tmp_path):
    with pytest.raises(FileMissing):
        read(tmp_path / "none.csv")
    (tmp_path / "l").mkdir()
    with pytest.raises(FileEmpty):
        read(tmp_path / "l")


def test_a_bad_column_of_a_wide_file_can_be_ignored(tmp_path):
    file = write(tmp_path / "wide.csv", "text,cold,id\na,1,17\n")
    assert same(cells(read(file, ignore_columns=["id"])), {"a": [1]})


def test_a_class_that_is_blank_is_an_error(tmp_path):
    with pytest.raises(BadLabel, match="train.csv:3"):
        read(write(tmp_path / "train.csv", "text,label\na,bus\nb,\n"), task="multiclass")


@pytest.mark.parametrize("labels", [[], ["a", "b"]])
def test_a_multiclass_row_has_exactly_one_class(tmp_path, labels):
    file = write(tmp_path / "t.jsonl", json.dumps({"text": "x", "labels": labels}))
    with pytest.raises(BadLabel, match=r"t.jsonl:1.*exactly one"):
        read(file, task="multiclass")
