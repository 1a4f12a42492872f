r"""Words beyond ASCII for an engine whose `\b` and `\w` know ASCII alone.

RE2 takes a place for the edge of a word if ASCII letters, digits or `_` stand on one side of it only, so that to it
'Ärger' begins with an edge after the 'Ä'. Texts are therefore folded: they become lower case, and every character
beyond ASCII stands between two capitals if it belongs to words ('Ärger' is 'AäBrger'), and between two control
characters if it doesn't. ASCII capitals are word characters to RE2 and no longer occur elsewhere, so `\b` is right
everywhere. `limbeck.rules.rewriting` makes expressions fit.

So that expressions find what people mean, white space of any kind becomes a space, curly apostrophes and quotes
become straight ones, and dashes become hyphens.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_left, bisect_right
from itertools import accumulate

WORD = ("A", "B")
OTHER = ("\x00", "\x01")
SPECIAL = {**dict.fromkeys("’‘‛ʼ´", "'"), **dict.fromkeys("“”„‟", '"'), **dict.fromkeys("‐‑‒–—―−", "-")}


def is_word(char: str) -> bool:
    """Say whether a character belongs to words: letters, numbers, their marks and what joins them, such as '_'."""
    category = unicodedata.category(char)
    # Variation selectors are marks, but of pictures.
    selector = "\ufe00" <= char <= "\ufe0f" or "\U000e0100" <= char <= "\U000e01ef"
    return (category[0] in "LN" or category in ("Mn", "Mc", "Pc")) and not selector


class _Folded(dict[int, str]):
    """Table for `str.translate` of text in lower case, filled as characters are met."""

    def __missing__(self, code: int) -> str:
        self[code] = _fold_char(chr(code))
        return self[code]


def _fold_char(char: str) -> str:
    if char.isspace():
        return " "
    if char in SPECIAL:
        return SPECIAL[char]
    if unicodedata.category(char) == "Cs" or char in OTHER:
        char = "\ufffd"
    elif char.isascii():
        return char
    before, after = WORD if is_word(char) else OTHER
    return before + char + after


_TABLE = _Folded()


def fold(text: str) -> str:
    """Give the text as rules see it."""
    if text.isascii():
        text = text.lower()
        return text if text.isprintable() else text.translate(_TABLE)
    return unicodedata.normalize("NFC", text).lower().translate(_TABLE)


def unfold(text: str, start: int, end: int) -> tuple[str, int, int]:
    """Give the composed text, and where in it stands what stands from `start` to `end` in the folded one."""
    composed = unicodedata.normalize("NFC", text)
    ends = list(accumulate(len(char.lower().translate(_TABLE)) for char in composed))
    first = bisect_right(ends, start)
    return composed, first, bisect_left(ends, end) + 1 if end > start else first
