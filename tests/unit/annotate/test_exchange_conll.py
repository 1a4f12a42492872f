"""CoNLL: words by the one rule, and nothing that its words can't say is said in silence."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from limbeck.annotate.exchange import LabelledText, read_labels, write_labels
from limbeck.data.conll import read_conll
from limbeck.data.sentences import by_rule
from limbeck.errors import BadLabel, BadSetting, BrokenEncoding, BrokenRow, FileEmpty, UnknownLabel
from limbeck.scorer import Span
from limbeck.text.words import words


def entities(text, *spans, annotator=""):
    return LabelledText(text, annotator, spans=tuple(Span(*span) for span in spans))


def test_a_text_becomes_words_with_tags(tmp_path):
    file = tmp_path / "a.conll"
    labels = [
        entities("S-Bahn to St. Anton!", (0, 6, "Line"), (10, 19, "LOC")),
        entities("Rome Paris", (0, 4, "LOC"), (5, 10, "LOC")),
    ]
    written = write_labels(file, "conll", labels, task="ner", categories=["Line", "LOC"])
    assert (written.rows, written.noted) == (2, {})
    assert file.read_text() == (
        "S B-Line\n- I-Line\nBahn I-Line\nto O\nSt B-LOC\n. I-LOC\nAnton I-LOC\n! O\n\nRome B-LOC\nParis B-LOC\n\n"
    )
    assert list(read_labels(file)) == [
        entities("S - Bahn to St . Anton !", (0, 8, "Line"), (12, 22, "LOC")),
        entities("Rome Paris", (0, 4, "LOC"), (5, 10, "LOC")),
    ]


def test_an_entity_within_a_word_is_widened_and_told(tmp_path):
    file = tmp_path / "a.conll"
    written = write_labels(file, "conll", [entities("Westbahnhof now", (4, 11, "LOC"))], task="ner")
    assert file.read_text() == "Westbahnhof B-LOC\nnow O\n\n"
    assert written.noted == {"entities widened to whole words": 1}
    assert written.examples == ["entities widened to whole words: 'bahnhof' in 'Westbahnhof now'"]


def test_what_words_can_not_say_is_left_out_and_told(tmp_path):
    file = tmp_path / "a.conll"
    labels = [
        entities("Romparis", (0, 3, "LOC"), (3, 8, "LOC")),
        entities(" \n"),
        entities("In Rome", (3, 7, "LOC"), annotator="anna"),
        entities("In Rome", annotator="bert"),
        LabelledText("skipped", verdict="skip"),
    ]
    written = write_labels(file, "conll", labels, task="ner")
    assert (written.rows, file.read_text()) == (0, "")
    assert written.noted == {
        "entities that share a word, or hold none": 1,
        "texts without a word": 1,
        "annotators are divided": 1,
        "not labelled, but skipped or not known": 1,
    }
    with pytest.raises(BadSetting, match="CoNLL holds entities"):
        write_labels(file, "conll", labels, task="multilabel")


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(text=st.text(min_size=1), data=st.data())
def test_training_reads_the_words_and_entities_that_were_written(tmp_path, text, data):
    offsets = words(text)
    edges = sorted(data.draw(st.sets(st.integers(0, len(offsets)), max_size=6)))
    kinds = st.sampled_from(["LOC", "PER SON"])
    spans = [
        Span(offsets[first][0], offsets[after - 1][1], data.draw(kinds))
        for first, after in zip(edges[::2], edges[1::2], strict=False)
    ]
    file = tmp_path / "a.conll"
    written = write_labels(file, "conll", [LabelledText(text, spans=tuple(spans))], task="ner")
    if not offsets:
        assert written.rows == 0
        return
    assert (written.rows, written.noted) == (1, {})
    (sentence,) = read_conll(file)
    assert sentence.tokens == tuple(text[start:end] for start, end in offsets)
    expected = [(text[span.start : span.end].split(), "_".join(span.type.split())) for span in spans]
    assert [
        (" ".join(sentence.tokens[first:after]).replace(" ", ""), kind) for first, after, kind in sentence.entities()
    ] == [("".join(parts), kind) for parts, kind in expected]
    (label,) = read_labels(file)
    assert (label.text, list(label.spans)) == (sentence.text, sentence.spans())
    assert [span.type for span in by_rule(sentence).spans()] == [kind for _, kind in expected]


@pytest.mark.parametrize(
    "content",
    [
        "To O\nNew B-LOC\nYork I-LOC\nRome B-LOC\nAnna B-PER\n",
        "-DOCSTART- -X- O O\n\nTo -X- _ O\nNew -X- _ I-LOC\nYork -X- _ I-LOC\nRome -X- _ B-LOC\nAnna -X- _ I-PER\n",
        "To\tO\r\nNew\tB-LOC\r\nYork\tE-LOC\r\nRome\tS-LOC\r\nAnna\tS-PER\r\n\r\n",
        "To O\nNew B-LOC\nYork L-LOC\nRome U-LOC\nAnna U-PER\n\n\n",
    ],
)
def test_every_scheme_of_tags_is_read(tmp_path, content):
    (tmp_path / "a.conll").write_bytes(content.encode())
    expected = entities("To New York Rome Anna", (3, 11, "LOC"), (12, 16, "LOC"), (17, 21, "PER"))
    assert list(read_labels(tmp_path / "a.conll")) == [expected]
    (sentence,) = read_conll(tmp_path / "a.conll")
    assert (sentence.text, sentence.spans()) == (expected.text, list(expected.spans))


@pytest.mark.parametrize(
    ("content", "error", "match", "line"),
    [
        (b"Rome\n", BrokenRow, "1 column; 2 are expected", 1),
        (b"To O\nRome X O\n", BrokenRow, "3 columns; 2", 2),
        (b"To O\nRome LOC\n", BadLabel, "'LOC' is no tag", 2),
        (b"To O\nRome B-CITY\n", UnknownLabel, "'CITY'", 2),
        (b"To S-LOC\nRome I-LOC\n", BadLabel, "I-LOC stands after no open entity", 2),
        (b"New B-LOC\nYork O\nOh S-LOC\n", BadLabel, "O stands after an open LOC", 2),
        (b"New B-LOC\nYork E-PER\n", BadLabel, "E-PER stands after an open LOC", 2),
        (b"Oh S-LOC\nNew B-LOC\n", BadLabel, "ends inside an entity of type LOC", 2),
        (b"To O\nR\xe4m O\n", BrokenEncoding, "Byte 2 of the line \\(0xe4\\)", 2),
        (b"\n-DOCSTART- O\n", FileEmpty, "no sentence", None),
    ],
)
def test_a_broken_file_is_told_with_its_line(tmp_path, content, error, match, line):
    (tmp_path / "a.conll").write_bytes(content)
    with pytest.raises(error, match=match) as caught:
        list(read_labels(tmp_path / "a.conll", categories=["LOC", "PER"]))
    assert caught.value.place.line == line
