"""Words as numbers: every word has some, the same each time, and texts of any length are read whole."""

import json

import numpy as np
import pytest
from bundles import WORDS, tokeniser
from hypothesis import example, given
from hypothesis import strategies as st

from limbeck.runtime.lexicon import PAD, UNKNOWN, WordList, read_lexicon, word_list
from limbeck.runtime.tagger import marks_of
from limbeck.runtime.wordforms import AFFIX_NUMBERS, AFFIXES, CHARACTERS, SHAPES, affixes_of, shape_of, simple_form
from limbeck.runtime.wordinputs import EncoderReader, VectorReader, parts

LISTED = word_list([PAD, UNKNOWN, "bonn", "0000", "the", "naïve"])


@pytest.mark.parametrize(
    ("word", "shape"),
    [
        ("train", "lower"),
        ("Bonn", "Capitalised"),
        ("Über", "Capitalised"),
        ("NATO", "CAPITALS"),
        ("A", "one Capital"),
        ("iPhone", "mIxed"),
        ("McDonald", "mIxed"),
        ("1984", "123"),
        ("S4", "letters and 123"),
        (",", "other"),
        ("🚂", "other"),
        ("東京", "lower"),
    ],
)
def test_shapes(word, shape):
    assert SHAPES[shape_of(word)] == shape


@given(st.text(min_size=1))
def test_any_word_has_a_form(word):
    assert 1 <= shape_of(word) < len(SHAPES)
    marks = affixes_of(word)
    assert len(marks) == AFFIXES and all(0 <= mark < AFFIX_NUMBERS for mark in marks) and marks == affixes_of(word)
    letters = marks_of("characters", "abc")(word)
    assert len(letters) == CHARACTERS and all(0 <= number < 5 for number in letters)


def test_words_are_looked_up_in_simpler_and_simpler_forms():
    found = WordList(LISTED)
    assert [found(word)[0] for word in ("Bonn", "BONN", "1984", "2026", "naïve", "nai\u0308ve", "zebra")] == [
        2,
        2,
        3,
        3,
        5,
        5,
        1,
    ]
    assert simple_form("Gate 12B") == "gate 00b"


def test_rare_words_that_are_alike_have_one_number_and_words_of_their_own_keep_theirs():
    told = word_list([PAD, UNKNOWN, "bonn"], [["ulm", "trier", "bonn"], ["ida", "otto"]])
    found = WordList(told)
    numbers = [found(word)[0] for word in ("Bonn", "ulm", "TRIER", "Ida", "otto", "zebra", "ulm trier")]
    assert numbers == [2, 3, 3, 4, 4, 1, 1]


@pytest.mark.parametrize("listed", [LISTED, word_list([PAD, UNKNOWN, "bonn", "ulm"], [["trier", "jena"]])])
def test_a_list_of_words_is_a_tokeniser_of_the_library(listed):
    from tokenizers import Tokenizer

    library = Tokenizer.from_buffer(listed)
    assert library.encode("Bonn").ids == [2] and library.encode("zebra").ids == [1]


def test_pieces_are_those_of_the_tokeniser():
    told = tokeniser().to_str().encode()
    found = read_lexicon(told, 0, 1)
    assert found("later") == [WORDS.index("late"), WORDS.index("##r"), 0, 0]
    assert found("\u200b") == [1, 0, 0, 0]  # nothing is left of it


def reader():
    return VectorReader(read_lexicon(LISTED, 0, 1), affixes_of)


@given(st.lists(st.lists(st.text(min_size=1, max_size=5), min_size=1, max_size=6), min_size=1, max_size=4))
def test_what_is_remembered_is_what_was_read(sentences):
    one = reader()
    for words in [*sentences, *sentences]:
        ids, marks = one.read(words)
        assert ids.tolist() == [WordList(LISTED)(word) for word in words]
        assert marks.tolist() == [affixes_of(word) for word in words]


def test_more_words_than_it_remembers(monkeypatch):
    monkeypatch.setattr("limbeck.runtime.wordinputs.REMEMBERED", 10)
    one = reader()
    for start in range(0, 60, 4):
        words = [f"word{n}" for n in range(start, start + 4)]
        assert one.read(words)[1].tolist() == [affixes_of(word) for word in words]
    many = [f"other{n}" for n in range(30)]
    assert one.read(many)[1].tolist() == [affixes_of(word) for word in many]


def test_several_threads_read_the_same():
    from concurrent.futures import ThreadPoolExecutor

    one = reader()
    sentences = [[f"w{(seed * 31 + at) % 3000}" for at in range(40)] for seed in range(400)]
    with ThreadPoolExecutor(8) as workers:
        for words, (_, marks) in zip(sentences, workers.map(one.read, sentences), strict=True):
            assert marks.tolist() == [affixes_of(word) for word in words]


def test_shorter_sentences_are_padded():
    one = reader()
    ids, marks = one.collate([one.read(["Bonn", "the"]), one.read(["zebra"])])
    assert ids.tolist() == [[[2], [4]], [[1], [0]]] and not marks[1, 1].any() and marks[1, 0].any()


def test_an_encoder_is_shown_pieces_shapes_and_where_words_begin():
    one = EncoderReader(tokeniser().to_str().encode(), 16, 0, 1)
    ids, shapes, firsts = one.read(["The", "later", "WIFI"])
    assert [WORDS[number] for number in ids] == ["[CLS]", "the", "late", "##r", "wifi", "[SEP]"]
    assert [SHAPES[number] for number in shapes] == ["", "Capitalised", "lower", "lower", "CAPITALS", ""]
    assert firsts.tolist() == [1, 2, 4]
    padded = one.collate([one.read(["The", "later"]), one.read(["wifi"])])
    assert padded[1].tolist() == [[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]] and padded[3].tolist() == [[1, 2], [1, 0]]


@given(st.lists(st.tuples(st.integers(1, 5), st.booleans()), max_size=60), st.integers(5, 20))
@example([(1, False), (1, True), (1, False), (5, False)], 5)
def test_parts_are_all_words_in_order_and_fit(words, most):
    costs, ends = [cost for cost, _ in words], [end for _, end in words]
    found = parts(costs, ends, most)
    assert [at for first, last in found for at in range(first, last)] == list(range(len(words)))
    assert all(sum(costs[first:last]) <= most for first, last in found)


def test_a_part_ends_with_a_sentence_if_it_can():
    ends = [at == 6 for at in range(20)]
    assert parts([1] * 20, ends, 10)[0] == (0, 7)
    assert parts([1] * 20, [False] * 20, 10) == [(0, 10), (10, 20)]


def test_a_word_list_is_json():
    assert json.loads(LISTED)["model"]["vocab"]["bonn"] == 2
    assert np.asarray(reader().read(["a"])[0]).dtype == np.int64
