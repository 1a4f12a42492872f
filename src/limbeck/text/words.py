"""Word tokens as spans of characters, by one rule.

A word is a longest run of letters, digits and underscores with their combining marks and joiners; scripts written
without spaces give one word a run. Every other character that is not white space is a token of its own, with its
combining marks; an emoji sequence (skin tone, joined family, flag) is one token. Apostrophes and hyphens are tokens:
'S-Bahn' is 'S', '-', 'Bahn'. Tokens never overlap, and what lies between them is white space only, so that tokens and
gaps together give the text back.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

_JOINERS = "\u200c\u200d"
# Emoji and the symbols among which they are, without skin tones and the letters of flags.
PICTURES = (
    "\xa9\xae\u203c\u2049\u2100-\u2bff\u3030\u303d\u3297\u3299"
    "\U0001f000-\U0001f1e5\U0001f200-\U0001f3fa\U0001f400-\U0001faff"
)
_DRESS = "[\ufe0e\ufe0f\u20e3\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]"


_ASCII_TOKEN = re.compile(r"\w++|\S")
_ASCII_WORD = re.compile("_*+[a-zA-Z0-9][a-zA-Z0-9_]*+")


@cache
def _token() -> re.Pattern[str]:
    # No mark lies before U+0300: to ask that first spares most characters the search through some hundred ranges.
    mark = f"(?![\0-\u02ff])[{_marks()}]"
    inner = rf"(?:\w|(?![\0-\u02ff])[{_marks()}{_JOINERS}])"
    picture = f"[{PICTURES}]{_DRESS}*+(?:\u200d[{PICTURES}]{_DRESS}*+)*+"
    return re.compile(
        rf"\w++(?:(?=[^\0-\u02ff]){inner}++)?|[!-~](?![^\0-\u02ff])"
        rf"|[\U0001f1e6-\U0001f1ff]{{2}}|{picture}(?:{mark})*+|\S(?:{mark})*+"
    )


@cache
def _marks() -> str:
    """Give all combining marks as the inside of a character class."""
    ranges: list[list[int]] = []
    for block in (range(0x300, 0x20000), range(0xE0100, 0xE01F0)):
        for code in block:
            if unicodedata.category(chr(code))[0] == "M":
                if ranges and ranges[-1][1] == code - 1:
                    ranges[-1][1] = code
                else:
                    ranges.append([code, code])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)


def words(text: str) -> list[tuple[int, int]]:
    """Give the tokens of a text in order, as (start, end) with text[start:end] the token."""
    token = _ASCII_TOKEN if text.isascii() else _token()
    return [match.span() for match in token.finditer(text)]


def count_words(text: str) -> int:
    """Count the tokens that are words: those with a letter or a digit, so without punctuation and emoji."""
    if text.isascii():
        return len(_ASCII_WORD.findall(text))
    return sum(token.isalnum() or any(map(str.isalnum, token)) for token in _token().findall(text))
