"""Entities: every scheme of tags becomes BIO, and characters survive being cut into words."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from limbeck.config import load_project
from limbeck.data.conll import read_conll
from limbeck.data.sentences import Sentence, by_rule, entities_of, tags_of
from limbeck.data.spans import read_spans, sentence_of
from limbeck.data.tagged import PreparedSentences, prepare_sentences, read_tagged
from limbeck.data.tags import BadSequence, to_bio
from limbeck.errors import BadLabel, BrokenRow, ColumnMissing, Place, UnknownLabel
from limbeck.scorer import Span
from limbeck.text.words import words

PLACE = Place("a.jsonl", 1)


@st.composite
def entities(draw, kinds=("PER", "LOC")):
    """Entities (first, after the last, type) that don't overlap, and how many words there are."""
    found, at = [], 0
    for _ in range(draw(st.integers(0, 4))):
        first = at + draw(st.integers(0, 2))
        at = first + draw(st.integers(1, 3))
        found.append((first, at, draw(st.sampled_from(kinds))))
    return found, at + draw(st.integers(0, 2))


def in_bioes(found, length, last="E", only="S"):
    tags = ["O"] * length
    for first, end, kind in found:
        tags[first:end] = [f"I-{kind}"] * (end - first)
        tags[first], tags[end - 1] = f"B-{kind}", f"{last}-{kind}"
        if end - first == 1:
            tags[first] = f"{only}-{kind}"
    return tags


def in_iob1(found, length):
    tags = ["O"] * length
    for first, end, kind in found:
        tags[first:end] = [f"I-{kind}"] * (end - first)
        if first and tags[first - 1][2:] == kind:
            tags[first] = f"B-{kind}"
    return tags


@given(entities())
def test_every_scheme_says_the_same(given_entities):
    found, length = given_entities
    expected = tags_of(found, length)
    assert entities_of(expected) == found
    assert to_bio(expected, ends_marked=False) == expected
    assert to_bio(in_iob1(found, length), ends_marked=False) == expected
    assert to_bio(in_bioes(found, length), ends_marked=True) == expected
    assert to_bio(in_bioes(found, length, "L", "U"), ends_marked=True) == expected


@pytest.mark.parametrize(
    ("tags", "position"),
    [
        ("B-A O", 1),
        ("B-A B-A E-A", 1),
        ("B-A E-B", 1),
        ("I-A E-A", 0),
        ("O E-A", 1),
        ("S-A E-A", 1),
        ("S-A B-A I-A", 2),
        ("B-A S-A", 1),
    ],
)
def test_ends_that_do_not_fit_are_refused(tags, position):
    with pytest.raises(BadSequence) as caught:
        to_bio(tags.split(), ends_marked=True)
    assert caught.value.position == position


def test_a_file_with_marked_ends_is_read_as_bio(tmp_path):
    (tmp_path / "a.conll").write_text("Old B-LOC\nTown E-LOC\nAnna S-PER\n\nhere O\n", encoding="utf-8")
    first, _ = read_conll(tmp_path / "a.conll")
    assert first.tags == ("B-LOC", "I-LOC", "B-PER")
    (tmp_path / "b.conll").write_text("Anna S-PER\n\nthe O\nOld B-LOC\nTown I-LOC\n", encoding="utf-8")
    with pytest.raises(BadLabel, match="ends inside") as caught:
        read_conll(tmp_path / "b.conll")
    assert caught.value.place.line == 5


# Punctuation, emoji with skin tone, a joined family, a flag, combining marks, no-break and double spaces.
PIECES = [
    "Anna",
    "Köln",
    "S-Bahn",
    "U.N.",
    "👩🏽‍🚀",
    "👨‍👩‍👧",
    "🇩🇪",
    "e\u0301te\u0301",
    "don't",
    "3,5",
    "“",
    "北京",
    "नमस्ते",
    "…",
]
GAPS = [" ", "  ", "\u00a0", "\t", " \n "]


@st.composite
def texts_with_spans(draw):
    """A text of odd words, and spans that begin and end where its words do."""
    text = draw(st.sampled_from(["", *GAPS]))
    for piece in draw(st.lists(st.sampled_from(PIECES) | st.text(min_size=1, max_size=6), min_size=1, max_size=8)):
        text += piece + draw(st.sampled_from(GAPS))
    offsets = words(text)
    spans, at = [], 0
    while at < len(offsets):
        last = draw(st.integers(at, min(at + 2, len(offsets) - 1)))
        if draw(st.booleans()):
            spans.append(Span(offsets[at][0], offsets[last][1], draw(st.sampled_from(["PER", "LOC"]))))
        at = last + 1
    return text, spans


@given(texts_with_spans())
def test_spans_survive_words_both_ways(given_text):
    text, spans = given_text
    sentence = sentence_of(text, spans, 1, PLACE)
    assert sentence.spans() == spans
    assert [text[start:end] for start, end in sentence.offsets()] == list(sentence.tokens)
    assert by_rule(sentence) == sentence


@given(st.lists(st.sampled_from([p for p in PIECES if not set(p) & set(GAPS)]), min_size=1, max_size=6), st.data())
def test_words_of_a_file_are_cut_by_the_rule_and_entities_keep_their_characters(tokens, data):
    found, _ = data.draw(entities())
    inside = [entity for entity in found if entity[1] <= len(tokens)]
    theirs = Sentence(tuple(tokens), tags_of(inside, len(tokens)), 1)
    ours = by_rule(theirs)
    assert ours.text == theirs.text == " ".join(tokens)
    assert ours.spans() == theirs.spans()
    assert [theirs.text[s.start : s.end] for s in ours.spans()] == [" ".join(tokens[a:b]) for a, b, _ in inside]


def test_an_entity_inside_a_word_is_widened(tmp_path):
    sentence = sentence_of("in Berliner Strassen", [Span(3, 9, "LOC")], 1, PLACE)
    assert sentence.spans() == [Span(3, 11, "LOC")]


def written(tmp_path, *rows):
    (tmp_path / "a.jsonl").write_text("\n".join(json.dumps(row) for row in rows) + "\n", encoding="utf-8")
    return tmp_path / "a.jsonl"


@pytest.mark.parametrize(
    "row",
    [
        {"text": "to Rome", "spans": [{"start": 3, "end": 7, "label": "LOC"}]},
        {"text": "to Rome", "spans": [{"start": 3, "end": 7, "type": "LOC", "token_start": 1}]},
        {"text": "to Rome", "entities": [[3, 7, "LOC"]]},
        {"text": "to Rome", "label": [[3, 7, "LOC"]], "id": 4},
    ],
)
def test_rows_of_several_tools_are_read(tmp_path, row):
    [sentence] = read_spans(written(tmp_path, row))
    assert (sentence.tokens, sentence.tags) == (("to", "Rome"), ("O", "B-LOC"))


@pytest.mark.parametrize(
    ("row", "error", "told"),
    [
        ({"text": "to Rome", "spans": [[3, 8, "LOC"]]}, BadLabel, "in a text of 7"),
        ({"text": "to Rome", "spans": [[-1, 2, "LOC"]]}, BadLabel, "-1"),
        ({"text": "to Rome", "spans": [[3, 3, "LOC"]]}, BadLabel, "from character 3 to 3"),
        ({"text": "to Rome", "spans": [[2, 3, "LOC"]]}, BadLabel, "white space"),
        ({"text": "to Rome", "spans": [[0, 7, "A"], [3, 7, "LOC"]]}, BadLabel, "overlaps"),
        ({"text": "to Rome", "spans": [[3, 5, "A"], [5, 7, "LOC"]]}, BadLabel, "shares a word"),
        ({"text": "to Rome", "spans": [[3.0, 7, "LOC"]]}, BrokenRow, "whole numbers"),
        ({"text": "to Rome", "spans": [[True, 7, "LOC"]]}, BrokenRow, "whole numbers"),
        ({"text": "to Rome", "spans": [[3, 7, ""]]}, BrokenRow, "name"),
        ({"text": "to Rome", "spans": [[3, 7]]}, BrokenRow, "An entity is"),
        ({"text": "to Rome", "spans": [7]}, BrokenRow, "An entity is 7"),
        ({"text": "to Rome"}, ColumnMissing, "no list of entities"),
        ({"text": " ", "spans": []}, ColumnMissing, "no text"),
        ({"spans": []}, ColumnMissing, "no text"),
        ({"text": "to Rome", "spans": [[3, 7, "PLACE"]]}, UnknownLabel, "PLACE"),
    ],
)
def test_bad_spans_are_errors_with_their_place(tmp_path, row, error, told):
    good = {"text": "to Rome", "spans": []}
    with pytest.raises(error, match=told) as caught:
        read_spans(written(tmp_path, good, row), types=("LOC", "A"))
    assert caught.value.place.line == 2 and caught.value.fix


def test_a_project_may_mix_both_kinds_of_files(tmp_path):
    rows = [f"in O\nTown{n} B-LOC\n" for n in range(12)]
    (tmp_path / "train.conll").write_text("\n".join(rows), encoding="utf-8")
    for part, start in (("dev", 20), ("test", 40)):
        written(tmp_path, *({"text": f"to City{n}!", "spans": [[3, 9, "LOC"]]} for n in range(start, start + 6)))
        (tmp_path / "a.jsonl").rename(tmp_path / f"{part}.jsonl")
    files = '[data]\nlabels = ["train.conll"]\ndev = "dev.jsonl"\ntest = "test.jsonl"\n'
    (tmp_path / "limbeck.toml").write_text('task = "ner"\n' + files, encoding="utf-8")
    project = load_project(tmp_path)
    prepared = prepare_sentences(read_tagged(project), project.config)
    (tmp_path / "out").mkdir()
    prepared.save(tmp_path / "out")
    loaded = PreparedSentences.load(tmp_path / "out")
    assert (loaded.train, loaded.dev, loaded.test, loaded.types) == (
        prepared.train,
        prepared.dev,
        prepared.test,
        ("LOC",),
    )
    assert len(loaded.dev_half(0)) == len(loaded.dev_half(1)) == 3
    assert loaded.test[0].text == "to City40!" and loaded.test[0].spans() == [Span(3, 9, "LOC")]
