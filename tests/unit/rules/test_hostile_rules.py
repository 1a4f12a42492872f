"""No expression can hang the program: it is refused, or ends in time that grows with the text alone."""

import random
import time

import pytest

from limbeck.rules import Rule, Rules
from limbeck.rules.expressions import LARGEST, LONGEST, Finder, compile_expression
from limbeck.rules.rewriting import Unusable

CATASTROPHIC = [
    r"(a+)+$",
    r"(a|aa)+$",
    r"(a|a?)+b$",
    r"(.*a){25}$",
    r"^(([a-z])+.)+[A-Z]([a-z])+$",
    r"(x+x+)+y",
    r"(a|b)*a(a|b){100}c",
    r"(.*)(.*)(.*)(.*)(.*)=$",
    r"(\w*)*z$",
    r"(ä+)+$",
]
LENGTH = 50_000
SECONDS = 2.0


def hostile_texts() -> dict[str, str]:
    rng = random.Random(1)
    return {
        "one letter": "a" * LENGTH + "!",
        "two letters": "".join(rng.choice("ab") for _ in range(LENGTH)) + "!",
        "x": "x" * LENGTH,
        "umlauts": "ä" * LENGTH + "!",
    }


@pytest.mark.parametrize("expression", CATASTROPHIC)
def test_catastrophic_expressions_end(expression):
    finder = Finder([compile_expression(expression)])
    for name, text in hostile_texts().items():
        start = time.process_time()
        finder.find(text)
        assert time.process_time() - start < SECONDS, name


def test_time_grows_with_the_text_and_no_faster():
    finder = Finder([compile_expression(r"(a|b)*a(a|b){100}c")])
    rng = random.Random(1)
    text = "".join(rng.choice("ab") for _ in range(160_000))

    def seconds(length):
        start = time.process_time()
        finder.find(text[:length])
        return time.process_time() - start

    seconds(1_000)
    assert seconds(160_000) < 40 * min(seconds(16_000) for _ in range(3))


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("(((a{9}){9}){9}){9}", "repetition size"),
        ("a{1001}", "repetition size"),
        ("." * 400, "steps"),
        (r"\pL{100}", "steps"),
        (r"([ab][ab][ab][ab][ab]){900}", "steps"),
        ("a" * (LONGEST + 1), "characters"),
    ],
)
def test_what_is_too_large_is_refused(expression, reason):
    with pytest.raises(Unusable, match=reason):
        compile_expression(expression)


def test_the_largest_that_is_taken_ends_too():
    expression = "([ab][ab][ab]){990}c"
    compiled = compile_expression(expression)
    with pytest.raises(Unusable, match=f"more than {LARGEST:,}"):
        compile_expression("([ab][ab][ab][ab][ab]){990}c")
    start = time.process_time()
    assert Finder([compiled]).find("ab" * 10_000) == []
    assert time.process_time() - start < SECONDS


def test_ten_megabytes_are_searched_to_their_end():
    rules = Rules((Rule("late", (r"\bverspätet\b", r"\d+ minutes")),))
    start = time.process_time()
    assert rules.look("So ein Ärger mit der Bahn. " * 380_000 + "verspätet")["late"].include == (0,)
    assert time.process_time() - start < 5


def test_thousands_of_expressions_are_found_each_by_its_own_texts():
    rng = random.Random(2)
    words = ["".join(rng.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(20)) for _ in range(9_000)]
    finder = Finder([compile_expression("|".join(words[at : at + 3])) for at in range(0, len(words), 3)])
    for at in (0, 1, 4_500, 8_998, 8_999):
        assert finder.find(f"so {words[at].upper()} it is") == [at // 3]
    assert finder.find("nothing of them") == []
    assert finder.find(f"{words[8_999]} {words[0]}") == [0, 2_999]


def test_no_expression_at_all_finds_nothing():
    assert Finder([]).find("text") == []
