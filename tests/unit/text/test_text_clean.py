"""Cleaning gives the same text in training and in serving, and cleaning twice is cleaning once."""

from __future__ import annotations

import json
import pickle
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from limbeck.errors import BadSetting
from limbeck.text import DEFAULT_STEPS, STEPS, Cleaner

WORDS = (
    "& < > # ; x26; amp; &amp; &lt; &gt; &#38; &#x26; &#60; &nGt; lt; b> <b> </b> <br> <p> <i <!-- --> <script> </script> "
    '<a href=" \' " = Ã Â â € ™ ¼ © ¢ ð Ÿ Ä – “ ” ’ … É ß ã » i İ I Σ ΑΣ K Å ſ ẞ J 0 1 7 12 49 0171 +49 00 2024 . , : / - '
    "( ) @ a b.de x@y.de ICE ticket no. ref: booking Auftragsnummer [ticket] [email] ] DE89 3704 0044 0532 0130 00"
)
PIECES = [
    *WORDS.split(),
    *" \t\n\r\0\x0b\x1c\x80\x85\x93\x9d\xa0\xad",
    *"\u0300\u0301\u0303\u0307\u030c\u0308\u0338\u0345\u034f\u037e\u1160\u1100\u11a8\u09c7\u09be\u200b\u200c\u200d\u2028",
    *"\u2000\u202e\u20e3\u3000\ud83d\ude00\ufe0f\ufeff\ufffd\uffff👨👩🏽🏴🇩क्षمی",
    "\U000e0067",
    "\U000e007f",
]
nasty_texts = st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=20).map("".join)
step_lists = st.lists(st.sampled_from(list(STEPS)), unique=True)


def misread(text: str, times: int = 1, encoding: str = "cp1252") -> str:
    """Read the UTF-8 bytes of a text in the wrong encoding."""
    for _ in range(times):
        text = "".join(bytes([byte]).decode(encoding, "ignore") or chr(byte) for byte in text.encode())
    return text


@settings(deadline=None, derandomize=True, max_examples=200)
@given(step_lists, nasty_texts)
def test_cleaning_twice_is_cleaning_once(steps: list[str], text: str) -> None:
    clean = Cleaner(steps)
    once = clean(text)
    assert clean(once) == once


@settings(deadline=None, derandomize=True, max_examples=200)
@given(step_lists, nasty_texts)
def test_a_defused_text_is_changed_by_no_step(steps: list[str], text: str) -> None:
    clean = Cleaner(steps)
    defused = clean._defuse(text)
    for name in clean.steps:
        assert STEPS[name].run(defused) == defused, name


@settings(deadline=None, derandomize=True, max_examples=60)
@given(nasty_texts)
def test_the_order_in_which_steps_are_listed_does_not_matter(text: str) -> None:
    assert Cleaner(list(STEPS))(text) == Cleaner(list(reversed(STEPS)))(text)


def test_every_character_is_stable_after_one_cleaning() -> None:
    clean = Cleaner([*DEFAULT_STEPS, "lower"])
    for code in range(0x3100):
        once = clean(f"a{chr(code)}b")
        assert clean(once) == once, hex(code)


def test_ever_deeper_nesting_ends_in_a_stable_text() -> None:
    text = "&#x2" * 50 + "\u200b" + "00b;" * 50
    clean = Cleaner()
    assert clean(clean(text)) == clean(text)
    assert "&" not in clean(text)


@pytest.mark.parametrize("empty", ["", " ", "\t\n", "\u3000\xa0 ", "\u200b", "<br>", "&nbsp;", "\ufeff"])
def test_a_text_of_nothing_is_empty(empty: str) -> None:
    assert Cleaner()(empty) == ""


@pytest.mark.parametrize(
    "text",
    [
        "Der Zug war pünktlich, danke!",
        "Größe, Straße, Äpfel, Öl, Übung – „schön“ …",
        "a < b, 3 < 5 and 6 > 2, I <3 trains",
        "AT&T, R&D, Q&A, M&Ms",
        "Preis: 49,90 €, um 12:30 Uhr",
        "日本語 한국어 Ελληνικά Привет",
        "Super 👍🏽 👨\u200d👩\u200d👧 🇩🇪 ❤️",
    ],
)
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert Cleaner()(text) == text


@pytest.mark.parametrize(
    ("broken", "repaired"),
    [
        ("fÃ¼r", "für"),
        ("donâ€™t", "don’t"),
        ("â€œyesâ€\x9d", "“yes”"),
        ("â€œyesâ€ he said", "“yes” he said"),
        ("\x93yes\x94 for 5 \x80", "“yes” for 5 €"),
        ("25 Â°C, Â§ 5", "25 °C, § 5"),
        ("a\ud800b\ufffd\ufffdc", "abc"),
        ("\ud83d\ude00", "😀"),
        ("ï»¿Hallo", "\ufeffHallo"),
        ("u\u0308ber", "über"),
    ],
)
def test_encoding_repairs(broken: str, repaired: str) -> None:
    assert Cleaner(["encoding"])(broken) == repaired


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1"])
@pytest.mark.parametrize("times", [1, 2, 3])
@pytest.mark.parametrize(
    "text",
    [
        "Schöne Grüße für Österreich, GRÖSSE, Änderung, Übung, ß",
        "don’t “quote” – … 5 €",
        "voilà déjà à la carte, naïve café",
        "Łódź żółć",
        "Привет",
        "日本語",
        "Tiếng Việt",
        "😀 ❤️ 👨\u200d👩",
    ],
)
def test_encoding_repairs_text_that_was_misread_several_times(text: str, times: int, encoding: str) -> None:
    assert Cleaner()(misread(text, times, encoding)) == text


@pytest.mark.parametrize(
    "text",
    [
        "NÃO", "Ã", "“IRMÔ", "IRMÃ DO", "café", "São Paulo – já…", "„MENÜ“", "„Spaß“…", "A–Ä–Ö–Ü", "Ä… ich",
        "«está»…", "Nescafé®…", "“irmㅔ", "5 Å²", "„Ä“ oder „Ö“", "BLÅ“", "Âge",
    ],
)  # fmt: skip
def test_encoding_leaves_correct_text_alone(text: str) -> None:
    assert Cleaner(["encoding"])(text) == text


@pytest.mark.parametrize(
    ("marked", "plain"),
    [
        ("<p>Guten Tag</p><p>Der <b>Zug</b> fiel aus</p>", "Guten Tag Der Zug fiel aus"),
        ("un<b>glaub</b>lich", "unglaublich"),
        ("a<br>b<BR/>c", "a b c"),
        ("a<!-- <b> -->b", "ab"),
        ("a<script>if (a < b) x('</b>')</script>b<style>p {}</style>c", "a b c"),
        ("<a title=\"a>b\" href='x'>Link</a>", "Link"),
        ("<!DOCTYPE html><html><body class=x>hi</body></html>", "hi"),
        ("<o:p></o:p>x", "x"),
        ("<input disabled> y", "y"),
        ("&auml;&#228;&#xE4;&#0228;", "ääää"),
        ("Tom &amp;amp;amp; Jerry", "Tom & Jerry"),
        ("&lt;b&gt;x&lt;/b&gt;", "x"),
        ("&copy 2020", "© 2020"),
        ("?a=1&copy=2&region=3", "?a=1&copy=2&region=3"),
        ("a&nbsp;b", "a b"),
        ("&#0;&#xD800;&#99999999;", ""),
        ("f&Atilde;&frac14;r", "für"),
        ("3 < 5 and 6 > 2", "3 < 5 and 6 > 2"),
        ("a &lt; b", "a < b"),
        ("<3", "<3"),
        ("a<b and c>d", "a<b and c>d"),
        ("Herr <Name> <x@y.de> <http://z.de>", "Herr <Name> <x@y.de> <http://z.de>"),
        ("<!-- never closed", "<!-- never closed"),
    ],
)
def test_html(marked: str, plain: str) -> None:
    assert Cleaner()(marked) == plain


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("a\0b\x07c\x7f", "abc"),
        ("a\tb\nc\r\nd\x85e\u2028f", "a b c  d e f"),
        ("Fahr\xadplan\u200b\ufeff", "Fahrplan"),
        ("\u202eabc\u202c\u200e", "abc"),
        ("👨\u200d👩\u200d👧 👩🏽\u200d🚀 ❤️\u200d🔥", "👨\u200d👩\u200d👧 👩🏽\u200d🚀 ❤️\u200d🔥"),
        ("👨\u200d", "👨"),
        ("می\u200cخواهم क्\u200dष", "می\u200cخواهم क्\u200dष"),
        ("a\u200cb\u200dc", "abc"),
        ("🏴\U000e0067\U000e0062\U000e007f \U000e0067x", "🏴\U000e0067\U000e0062\U000e007f x"),
    ],
)
def test_control(text: str, clean: str) -> None:
    assert Cleaner(["control"])(text) == clean


def test_whitespace() -> None:
    assert Cleaner(["whitespace"])("\u3000 a \t\r\n b\xa0\u2003c ") == "a b c"


@pytest.mark.parametrize(
    ("text", "lowered"),
    [("GRÖSSE", "grösse"), ("Straße", "straße"), ("İ", "i\u0307"), ("ΟΔΟΣ", "οδος".replace("σ", "ς")), ("K", "k")],
)
def test_lower(text: str, lowered: str) -> None:
    assert Cleaner(["lower"])(text) == lowered


def test_the_steps_travel_through_json_and_pickle() -> None:
    clean = Cleaner(["scrub-email", "html"])
    assert clean.as_list() == ["html", "scrub-email"]
    assert Cleaner(json.loads(json.dumps(clean.as_list()))) == clean
    assert pickle.loads(pickle.dumps(clean))("<b>a@b.de") == "[email]"
    assert Cleaner().steps == DEFAULT_STEPS


def test_no_steps_change_nothing() -> None:
    assert Cleaner([])(" <b>\0 ") == " <b>\0 "


def test_an_unknown_step_names_the_nearest() -> None:
    with pytest.raises(BadSetting, match=r"'htlm'.*Did you mean 'html'\?"):
        Cleaner(["htlm"])
    with pytest.raises(BadSetting, match=r'\["html"\]'):
        Cleaner("html")


def test_every_step_says_what_it_does() -> None:
    for name, step in STEPS.items():
        assert step.name == name
        assert step.about.endswith(".")
        assert "\n" not in step.about


@pytest.mark.parametrize("piece", ["<", "&amp;", "a@", "7", "<!--", "(", " ", "Ã", "<b", "a"])
def test_a_hostile_megabyte_takes_no_more_than_linear_time(piece: str) -> None:
    text = piece * (1_000_000 // len(piece))
    start = time.process_time()
    Cleaner(list(STEPS))(text)
    # Linear is far below a second, quadratic is minutes.
    assert time.process_time() - start < 10
