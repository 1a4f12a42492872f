"""Labels in files: the form is recognised, nothing is lost in jsonl, and no file is ever half there."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from limbeck.annotate.exchange import FORMS, LabelledText, form_of, read_labels, write_labels
from limbeck.annotate.exchange import reading as reading_module
from limbeck.errors import (
    BadLabel,
    BadSetting,
    BrokenEncoding,
    BrokenRow,
    ColumnMissing,
    DataError,
    FileEmpty,
    FileMissing,
    LineTooLong,
    SystemRefused,
    UnknownFormat,
    UnknownLabel,
)
from limbeck.scorer import Span

NAMES = st.text(min_size=1, max_size=8).filter(str.strip)
NUMBERS = st.none() | st.floats(-1e12, 1e12)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@st.composite
def some_spans(draw, text):
    edges = sorted(draw(st.sets(st.integers(0, len(text)), max_size=6)))
    pairs = zip(edges[::2], edges[1::2], strict=False)
    sure = st.floats(0, 1)
    return tuple(draw(st.permutations([Span(a, b, draw(NAMES), draw(sure)) for a, b in pairs])))


@st.composite
def judgements(draw):
    text = draw(st.text())
    value = draw(
        st.fixed_dictionaries({"known": st.dictionaries(NAMES, st.booleans(), min_size=1, max_size=3)})
        | st.fixed_dictionaries({"complete": st.frozensets(NAMES, max_size=3)})
        | st.fixed_dictionaries({"spans": some_spans(text)})
        | st.fixed_dictionaries({"verdict": st.sampled_from(["skip", "don't know"])})
    )
    return LabelledText(
        text=text,
        annotator=draw(st.text()),
        source=draw(st.text()),
        given=draw(NUMBERS),
        seconds=draw(NUMBERS),
        origin=draw(st.sampled_from(["person", "import", "rule"])),
        extra=draw(st.dictionaries(st.text(), JSON, max_size=3)),
        **value,
    )


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(given_labels=st.lists(judgements(), min_size=1, max_size=5))
def test_jsonl_gives_back_exactly_what_was_written(tmp_path, given_labels):
    file = tmp_path / "all.jsonl"
    written = write_labels(file, "jsonl", given_labels, task="ner")
    assert (written.rows, written.noted) == (len(given_labels), {})
    assert list(read_labels(file, "jsonl")) == given_labels
    assert form_of(file) == "jsonl"


def test_all_forms_of_the_project_are_there():
    assert set(FORMS) == {"limbeck", "jsonl", "conll", "label-studio", "prodigy"}


@pytest.mark.parametrize(
    ("name", "content", "form"),
    [
        ("a.jsonl", '{"text": "x", "labels": []}', "limbeck"),
        ("a.jsonl", '{"text": "x", "answer": 1}', "limbeck"),
        ("a.jsonl", '{"text": "x", "label": "A", "answer": "accept"}', "prodigy"),
        ("a.ndjson", '\n{"text": "x", "spans": [], "_input_hash": 1}', "prodigy"),
        ("a.jsonl", '{"text": "x", "verdict": "skip", "origin": "person"}', "jsonl"),
        ("a.json", "[]", "label-studio"),
        ("a.csv", "text,A\nx,1\n", "limbeck"),
        ("a.conll", "x O\n", "conll"),
        ("a.TXT", "x O\n", "conll"),
    ],
)
def test_the_name_and_the_first_row_tell_the_form(tmp_path, name, content, form):
    (tmp_path / name).write_text(content)
    assert form_of(tmp_path / name) == form


@pytest.mark.parametrize("form", [None, *FORMS])
def test_a_file_that_is_not_there_is_named_before_anything_is_read(tmp_path, form):
    with pytest.raises(FileMissing, match="none.jsonl"):
        read_labels(tmp_path / "none.jsonl", form)
    with pytest.raises(FileMissing, match="folder"):
        read_labels(tmp_path, form)


@pytest.mark.parametrize("form", list(FORMS))
@pytest.mark.parametrize("content", ["", "\n \n", "[ ]"])
def test_an_empty_file_is_an_error(tmp_path, form, content):
    (tmp_path / "a").write_text(content)
    with pytest.raises(FileEmpty if content != "[ ]" or form == "label-studio" else DataError):
        list(read_labels(tmp_path / "a", form))


def test_a_name_that_tells_nothing_and_a_form_that_is_none(tmp_path):
    (tmp_path / "a.xml").write_text("<a/>")
    with pytest.raises(UnknownFormat, match="label-studio"):
        read_labels(tmp_path / "a.xml")
    with pytest.raises(BadSetting, match="Did you mean 'prodigy'"):
        read_labels(tmp_path / "a.xml", "prodogy")
    with pytest.raises(BadSetting, match="no form"):
        write_labels(tmp_path / "b.xml", "xml", [], task="ner")
    assert not (tmp_path / "b.xml").exists()


GOOD = {
    "limbeck": '{"text": "good", "labels": []}',
    "jsonl": '{"text": "good", "verdict": "skip", "origin": "person"}',
    "prodigy": '{"text": "good", "label": "A", "answer": "accept"}',
}


@pytest.mark.parametrize("form", list(GOOD))
@pytest.mark.parametrize(
    ("bad", "error", "match"),
    [
        (b'{"text": "x"', BrokenRow, "not a JSON object"),
        (b'["x"]', BrokenRow, "not an object"),
        (b'{"text": "x", "given": NaN}', BrokenRow, "NaN"),
        (b'{"text": "x\xff"}', BrokenEncoding, "0xff"),
        (b'{"text": "\\ud83d"}', BrokenRow, "second half"),
        (b'{"text": 5}', BrokenRow, "The text is 5"),
        (b'{"txt": "x"}', (ColumnMissing, BrokenRow), "txt"),
        (b'{"text": "x", "n": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", BrokenRow, "recursion"),
        (b'{"text": "x", "n": ' + b"9" * 5000 + b"}", BrokenRow, "digits"),
        (b'{"text": "' + b"x" * 1_000_001 + b'"}', LineTooLong, "1,000,001 characters"),
    ],
)
def test_bad_rows_are_told_with_their_line(tmp_path, form, bad, error, match):
    file = tmp_path / "a.jsonl"
    file.write_bytes(b"\xef\xbb\xbf" + GOOD[form].encode() + b"\n\n" + bad + b"\n")
    read = read_labels(file, form)
    assert next(read).text == "good"
    with pytest.raises(error, match=match) as caught:
        list(read)
    assert str(caught.value.place) == f"{file}:3"
    assert caught.value.fix


def test_a_line_without_end_is_not_read_into_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(reading_module, "LONGEST_LINE", 1000)
    (tmp_path / "a.jsonl").write_text('{"text": "' + "x" * 2000)
    with pytest.raises(LineTooLong, match="1,000 bytes"):
        list(read_labels(tmp_path / "a.jsonl", "prodigy"))


@pytest.mark.parametrize(
    ("row", "error", "match"),
    [
        ({"verdict": "perhaps"}, BadLabel, "perhaps"),
        ({"known": {"A": 1}}, BadLabel, "A category is 1"),
        ({"known": ["A"]}, BrokenRow, "not an object"),
        ({"known": {"C": True}}, UnknownLabel, "'C'.*Known are: A, B"),
        ({"complete": "A"}, BadLabel, "not a list"),
        ({"complete": [3]}, BadLabel, "A category is 3"),
        ({"complete": ["C"]}, UnknownLabel, "'C'"),
        ({"spans": {}}, BrokenRow, "not a list"),
        ({"spans": [{"start": 0, "end": 2, "type": "A"}]}, BadLabel, "0 to 2, in a text of 1"),
        ({"spans": [{"start": 0, "end": 1.0, "type": "A"}]}, BrokenRow, "whole numbers"),
        ({"spans": [{"start": True, "end": 1, "type": "A"}]}, BrokenRow, "whole numbers"),
        ({"spans": [{"start": 0, "end": 1, "type": "C"}]}, UnknownLabel, "'C'"),
        ({"spans": [{"start": 0, "end": 1, "type": "A"}] * 2}, BadLabel, "overlap"),
        ({"given": "now"}, BrokenRow, "'given' is 'now'"),
        ({"given": True}, BrokenRow, "'given'"),
        ({"seconds": 10**400}, BrokenRow, "'seconds'"),
        ({"annotator": 5}, BrokenRow, "'annotator' is 5"),
        ({"extra": []}, BrokenRow, "'extra'"),
        ({"labels": ["A"]}, BrokenRow, "'labels' is no part"),
    ],
)
def test_a_judgement_that_is_none_is_told(tmp_path, row, error, match):
    file = tmp_path / "a.jsonl"
    file.write_text(json.dumps({"text": "x", **row}))
    with pytest.raises(error, match=match) as caught:
        list(read_labels(file, "jsonl", categories=["A", "B"]))
    assert caught.value.place.line == 1


def test_a_huge_file_is_streamed(tmp_path):
    file = tmp_path / "a.jsonl"
    with file.open("w") as out:
        out.writelines('{"text": "one", "labels": []}\n' for _ in range(3))
        out.write("broken")
    read = read_labels(file)
    assert [next(read).text for _ in range(3)] == ["one"] * 3


def test_a_failed_export_leaves_the_old_file_and_no_other(tmp_path):
    file = tmp_path / "new folder" / "a.jsonl"
    write_labels(file, "jsonl", [LabelledText("old", complete=frozenset())], task="multilabel")
    before = file.read_bytes()

    def failing():
        yield LabelledText("new", complete=frozenset())
        raise RuntimeError

    with pytest.raises(RuntimeError):
        write_labels(file, "jsonl", failing(), task="multilabel")
    with pytest.raises(BrokenEncoding, match="U\\+D83D"):
        write_labels(file, "jsonl", [LabelledText("\ud83d", complete=frozenset())], task="multilabel")
    with pytest.raises(BrokenRow, match="'x'.*float"):
        write_labels(file, "jsonl", [LabelledText("x", seconds=float("nan"))], task="multilabel")
    with pytest.raises(BrokenRow, match="object"):
        write_labels(file, "jsonl", [LabelledText("x", extra={"a": object()})], task="multilabel")
    assert file.read_bytes() == before
    assert [found.name for found in file.parent.iterdir()] == ["a.jsonl"]


def test_a_place_that_can_not_be_written_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(SystemRefused, match="can't be written"):
        write_labels(tmp_path / "file" / "a.jsonl", "jsonl", [], task="ner")
    (tmp_path / "folder").mkdir()
    with pytest.raises(SystemRefused, match="folder"):
        write_labels(tmp_path / "folder", "jsonl", [], task="ner")


def test_a_killed_export_leaves_no_half_file(tmp_path):
    code = """
import sys
from pathlib import Path
from limbeck.annotate.exchange import LabelledText, write_labels
def slow():
    for number in range(10**9):
        if number == 20_000:
            print("under way", flush=True)
        yield LabelledText("a text of some length", complete=frozenset())
write_labels(Path(sys.argv[1]), "jsonl", slow(), task="multilabel")
"""
    file = tmp_path / "a.jsonl"
    child = subprocess.Popen([sys.executable, "-c", code, str(file)], stdout=subprocess.PIPE)
    assert child.stdout.readline() == b"under way\n"
    time.sleep(0.01)
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    child.stdout.close()
    assert not file.exists()
    write_labels(file, "jsonl", [LabelledText("whole", complete=frozenset())], task="multilabel")
    assert [label.text for label in read_labels(file)] == ["whole"]


@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    content=st.binary(max_size=80)
    | st.builds(lambda value: json.dumps(value).encode(), JSON)
    | st.builds(
        lambda row: json.dumps(row).encode(),
        st.dictionaries(
            st.sampled_from("text labels label spans accept options answer data annotations A id annotator".split()),
            JSON,
        ),
    ),
    form=st.sampled_from(sorted(FORMS)),
)
def test_whatever_a_file_holds_it_is_read_or_told(tmp_path, content, form):
    file = tmp_path / "a.jsonl"
    file.write_bytes(content)
    try:
        for label in read_labels(file, form):
            assert isinstance(label, LabelledText)
    except DataError as error:
        assert error.place is not None and error.fix
