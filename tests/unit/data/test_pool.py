"""The pool: a stream that keeps row numbers and says where a bad row is."""

import json

import pytest

from limbeck.config import DataSettings
from limbeck.data.pool import stream_pool
from limbeck.errors import BrokenRow, ColumnMissing
from limbeck.text import Cleaner

CLEAN = Cleaner(("html", "whitespace"))


def test_rows_are_numbered_over_all_files_and_empty_texts_passed_over(tmp_path):
    (tmp_path / "a.jsonl").write_text(
        '{"text": "one", "source": "app"}\n{"text": " "}\n{"text": "<p>three"}\n', encoding="utf-8"
    )
    (tmp_path / "b.csv").write_text("text,when\nfour,today\n", encoding="utf-8")
    rows = list(stream_pool([tmp_path / "a.jsonl", tmp_path / "b.csv"], DataSettings(), CLEAN))
    assert [(r.row, r.text, r.source, r.line) for r in rows] == [
        (0, "one", "app", 1),
        (2, "three", "", 3),
        (3, "four", "", 2),
    ]


def test_only_what_is_asked_for_is_read(tmp_path):
    file = tmp_path / "a.jsonl"
    file.write_text('{"text": "one"}\nbroken\n', encoding="utf-8")
    stream = stream_pool([file], DataSettings(), CLEAN)
    assert next(stream).text == "one"
    with pytest.raises(BrokenRow, match="a.jsonl:2"):
        next(stream)


@pytest.mark.parametrize(("record", "error"), [({"txt": "a"}, ColumnMissing), ({"text": ["a"]}, BrokenRow)])
def test_a_bad_row_is_an_error_with_its_place(tmp_path, record, error):
    file = tmp_path / "a.jsonl"
    file.write_text('{"text": "one"}\n' + json.dumps(record), encoding="utf-8")
    with pytest.raises(error) as caught:
        list(stream_pool([file], DataSettings(), CLEAN))
    assert caught.value.place.line == 2
