"""CoNLL files: checked line by line."""

import pytest

from limbeck.data.conll import read_conll
from limbeck.data.sentences import count_types
from limbeck.errors import BadLabel, BrokenEncoding, BrokenRow, FileEmpty, UnknownLabel

GOOD = "-DOCSTART- O\n\nThe O\nOld B-LOC\nTown I-LOC\n\n\nAnna B-PER\nBerg B-PER\nsang O\n"


def test_sentences_tags_and_entities_are_read(tmp_path):
    (tmp_path / "a.conll").write_text(GOOD, encoding="utf-8")
    first, second = read_conll(tmp_path / "a.conll")
    assert first.tokens == ("The", "Old", "Town") and first.line == 3
    assert first.entities() == [(1, 3, "LOC")]
    assert second.entities() == [(0, 1, "PER"), (1, 2, "PER")]
    assert count_types([first, second]) == {"LOC": 1, "PER": 2}


def test_a_change_of_type_or_a_stray_inside_tag_opens_an_entity(tmp_path):
    (tmp_path / "a.conll").write_text("a I-LOC\nb I-PER\nc O\nd I-PER\n", encoding="utf-8")
    assert read_conll(tmp_path / "a.conll")[0].entities() == [(0, 1, "LOC"), (1, 2, "PER"), (3, 4, "PER")]


@pytest.mark.parametrize(
    ("content", "error", "line"),
    [
        (b"The O\nOld\n", BrokenRow, 2),
        (b"The\n", BrokenRow, 1),
        (b"The DT O\nOld B-LOC\n", BrokenRow, 2),
        (b"The O\nOld X-LOC\n", BadLabel, 2),
        (b"The O\nOld B-\n", BadLabel, 2),
        (b"The O\nO\xffld B-LOC\n", BrokenEncoding, 2),
        (b"", FileEmpty, None),
        (b"\n\n", FileEmpty, None),
    ],
)
def test_bad_lines_are_errors_with_their_place(tmp_path, content, error, line):
    (tmp_path / "a.conll").write_bytes(content)
    with pytest.raises(error) as caught:
        read_conll(tmp_path / "a.conll")
    assert caught.value.place.line == line and caught.value.fix


def test_a_type_that_training_does_not_know_is_an_error(tmp_path):
    (tmp_path / "a.conll").write_text(GOOD, encoding="utf-8")
    with pytest.raises(UnknownLabel, match="a.conll:4"):
        read_conll(tmp_path / "a.conll", types=("PER", "LOCATION"))
