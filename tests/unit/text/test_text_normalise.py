"""Two texts are the same if they differ in case, form, punctuation and spacing only."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from limbeck.text import normalise
from limbeck.text.normalise import _normalise_whole

texts = st.text() | st.lists(
    st.sampled_from([*"aAß İ!?_´¸ﬁ①™½\u0301\u0307\u0345\u1100\u1161\u11a8\u200d\ufe0f\xad❤👍ΣςK\n", " ", "ǰ", "가"])
).map("".join)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Der Zug ist zu spät!", "der zug ist zu SPÄT"),
        ("Straße", "STRASSE"),
        ("a\u0308", "Ä"),
        ("ﬁn ①", "FIN 1"),
        ("wieder  -- so.", "Wieder so"),
        ("Fahr\xadplan", "Fahrplan"),
        ("❤️", "❤"),
        ("Ｈallo", "hallo"),
    ],
)
def test_the_same_text_has_one_key(one: str, other: str) -> None:
    assert normalise(one) == normalise(other)


@pytest.mark.parametrize(
    ("one", "other"), [("!!!", "???"), ("👍", "👎"), ("spat", "spät"), ("1 2", "12"), ("", "!"), ("नम", "नमः")]
)
def test_different_texts_have_different_keys(one: str, other: str) -> None:
    assert normalise(one) != normalise(other)


@pytest.mark.parametrize(
    ("text", "key"), [("", ""), (" \n", ""), (" !! ", "!!"), ("Don't_stop: 12:30", "don t stop 12 30"), ("👍 ", "👍")]
)
def test_keys(text: str, key: str) -> None:
    assert normalise(text) == key


@settings(deadline=None, derandomize=True, max_examples=200)
@given(texts)
def test_the_key_of_a_key_is_the_key_and_the_fast_way_gives_the_same(text: str) -> None:
    assert normalise(normalise(text)) == normalise(text) == _normalise_whole(text)


def test_every_character_has_a_stable_key() -> None:
    for code in range(0x3100):
        for text in (chr(code), f"a{chr(code)}b"):
            assert normalise(normalise(text)) == normalise(text) == _normalise_whole(text), hex(code)
