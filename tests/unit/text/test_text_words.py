"""Tokens cover everything but white space, in order, and give the text back."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from limbeck.text import count_words, words

texts = st.text() | st.lists(
    st.sampled_from(
        [*"ab1_.'-# \t\u3000äß€\u0301\u0327\u200b\u200c\u200d\ufe0f\u20e3👨👩🏽🏴🇩🇪❤©क्षΣ日\0\ud800\U000e0067"]
    )
).map("".join)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", []),
        ("Die S-Bahn fährt’s.", ["Die", "S", "-", "Bahn", "fährt", "’", "s", "."]),
        ("u\u0308ber 3.5 € a_b", ["u\u0308ber", "3", ".", "5", "€", "a_b"]),
        ("ja!!👍🏽👨\u200d👩\u200d👧🇩🇪🇫🇷", ["ja", "!", "!", "👍🏽", "👨\u200d👩\u200d👧", "🇩🇪", "🇫🇷"]),
        ("1️⃣ #️⃣ ❤️", ["1️⃣", "#️⃣", "❤️"]),
        ("नमस्ते می\u200cخواهم 日本語", ["नमस्ते", "می\u200cخواهم", "日本語"]),
        (" \u0301a .\u0301", ["\u0301", "a", ".\u0301"]),
    ],
)
def test_tokens(text: str, tokens: list[str]) -> None:
    assert [text[start:end] for start, end in words(text)] == tokens


@settings(deadline=None, derandomize=True, max_examples=200)
@given(texts)
def test_tokens_and_the_white_space_between_give_the_text_back(text: str) -> None:
    at = 0
    for start, end in words(text):
        assert at <= start < end
        assert text[at:start].strip() == ""
        assert not any(char.isspace() for char in text[start:end])
        at = end
    assert text[at:].strip() == ""


@settings(deadline=None, derandomize=True, max_examples=200)
@given(texts)
def test_a_word_is_a_token_with_a_letter_or_a_digit(text: str) -> None:
    tokens = [text[start:end] for start, end in words(text)]
    assert count_words(text) == sum(any(char.isalnum() for char in token) for token in tokens)


@pytest.mark.parametrize(
    ("text", "count"), [("", 0), ("...", 0), ("Guten Tag, 2 Fragen!", 4), ("schön 👍", 1), ("__", 0)]
)
def test_count_words(text: str, count: int) -> None:
    assert count_words(text) == count
