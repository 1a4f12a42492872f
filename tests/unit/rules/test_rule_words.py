"""Expressions mean in any language what they mean in ASCII: words have edges, letters are letters, case is nothing."""

import re

import pytest
import re2
from hypothesis import given, settings
from hypothesis import strategies as st

from limbeck.rules.expressions import Finder, compile_expression
from limbeck.rules.folding import fold, unfold
from limbeck.rules.rewriting import Unusable


def finds(expression: str, text: str) -> bool:
    return Finder([compile_expression(expression)]).find(text) == [0]


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (r"\bärger\b", "So ein ÄRGER!"),
        (r"\bärger\b", "So ein A\u0308rger"),
        ("\\ba\u0308rger", "so ein ärger"),
        (r"\wrger", "Ärger"),
        (r"^\w+$", "Ärgeröß"),
        (r"^[^\W\d_]+$", "ärger"),
        (r"^[\w.]+$", "größe.xl"),
        (r"[à-ü]rger", "ÄRGER"),
        (r"[^a]rger", "ärger"),
        (r"^\pL{2}rger$", "öÄrger"),
        (r"\x{e4}rger", "Ärger"),
        (r"\Qärger (sehr)\E", "Ärger (sehr)"),
        (r"\bфлот\b", "Флот шёл"),
        (r"σας", "ΣΑΣ"),
        (r"gr.?.?e", "Größe"),
        (r"gr(ö|oe)(ß|ss)e", "GRÖSSE"),
        (r"\b😀\b", "so😀so"),
        (r"^😀{2}$", "😀😀"),
        (r"\blate\b", "❤️late❤️"),
        (r"don't", "I don’t"),
        (r"don[’]t", "I don't"),
        (r"wi-fi", "Wi–Fi"),
        (r"two\nwords", "two\u00a0words"),
        (r"(?i)(?P<named>late)", "LATE"),
        (r"a\x00?b", "ab"),
    ],
)
def test_finds(expression, text):
    assert finds(expression, text)


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (r"\bärger\b", "verärgert"),
        (r"\brger", "Ärger"),
        (r"\b[äx]", "Bär"),
        (r"\Bä", "ein Ärger"),
        (r"[\W_]", "ärger"),
        (r"^\pL{2}rger$", "Ärger"),
        (r"^[^\W\d_]+$", "ärger1"),
        (r"\Qä.b\E", "äxb"),
        (r"x\Sy", "x y"),
        (r"x\Sy", "x\u00a0y"),
        (r"x[^-]y", "x–y"),
        (r"x[^–]y", "x-y"),
        (r"x[^ ]y", "x\ny"),
        (r"\wx", "😀x"),
        ("ab", "a\x00b"),
        (r"a\vb", "ab"),
    ],
)
def test_does_not_find(expression, text):
    assert not finds(expression, text)


PIECES = [*"abkAÄäßé1_ .", "😀", "€", "ж", r"\w", r"\W", r"\d", r"\D", r"\s", r"\S", r"\b", r"\B", "^", "$", "[aä]"]
PIECES += [
    "[^aä]",
    r"[\wж]",
    r"[^\W\d]",
    r"[\W_]",
    r"[^\s€]",
    "[a-é]",
    "[^k]",
    r"\.",
    r"[\]ä]",
    "[]ä]",
    r"\xe4",
    r"[\S]",
]
REPEATED = st.sampled_from(["", "", "", "?", "+", "*", "{2}", "{1,2}", "+?"])


def repeatable(piece: str) -> bool:
    return piece not in (r"\b", r"\B", "^", "$")


SINGLE = st.builds(
    lambda piece, times: piece + times * repeatable(piece), st.sampled_from(PIECES).map(
        lambda piece: r"\." if piece == "." else piece
    ), REPEATED
)  # fmt: skip
ROW = st.lists(SINGLE | st.just("."), min_size=1, max_size=4).map("".join)
EXPRESSIONS = ROW | st.builds("({}|{}){}".format, ROW, ROW, REPEATED) | st.builds("{}(?:{}){}".format, ROW, ROW, ROW)


@settings(max_examples=400, deadline=None)
@given(EXPRESSIONS, st.text("abkKAÄäßéÉ1_ .€😀жЖ]", max_size=6))
def test_agrees_with_python_wherever_python_has_the_same_expression(expression, text):
    try:
        compiled = compile_expression(expression)
    except Unusable as error:
        assert any(reason in error.reason for reason in ("finds every text", "repetition", "empty"))
        return
    found = re2.compile(compiled).search(fold(text))
    expected = re.search(expression, text, re.IGNORECASE)
    assert (found is None) == (expected is None)
    assert Finder([compiled]).find(text) == [0] * (expected is not None)
    if found is not None and expected is not None:
        assert unfold(text, found.start(), found.end()) == (text, *expected.span())


@settings(max_examples=100, deadline=None)
@given(st.text(st.characters(codec=None), max_size=20))
def test_any_text_can_be_searched(text):
    found = Finder([compile_expression(".")]).find(text)
    assert found == [0] * bool(text)


@pytest.mark.parametrize(
    "text", ["\ud83d late", "late \x00\x01\x02", "la\u200bte late", "\ufeffLATE", "\u0301late"[1:]]
)
def test_odd_characters_are_no_hindrance(text):
    assert finds("late", text)


def test_a_found_piece_is_shown_as_the_text_has_it():
    finder = Finder([compile_expression(r"\bärger\w*")])
    assert finder.locate(0, "Wie a\u0308rgerlich – İ") == ("Wie ärgerlich – İ", 4, 13)
    assert finder.locate(0, "İ – ÄRGER") == ("İ – ÄRGER", 4, 9)
    assert finder.locate(0, "nichts") is None
