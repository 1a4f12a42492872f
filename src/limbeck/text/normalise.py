"""The key under which two texts count as the same."""

from __future__ import annotations

import unicodedata

_ASCII_TABLE = "".join(chr(code).lower() if chr(code).isalnum() else " " for code in range(128))


class _Kept(dict[int, str]):
    """Table for `str.translate`: letters, digits and marks stay, all else becomes a space."""

    def __missing__(self, code: int) -> str:
        self[code] = chr(code) if unicodedata.category(chr(code))[0] in "LNM" else " "
        return self[code]


class _Seen(dict[int, str]):
    """Table for `str.translate`: format characters, variation selectors and the grapheme joiner go."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        unseen = unicodedata.category(char) == "Cf" or "VARIATION SELECTOR" in unicodedata.name(char, "")
        self[code] = "" if unseen or code == 0x34F else char
        return self[code]


class _Composing(ValueError):
    """A character that may melt into the one before it, so that it has no key of its own."""


class _Keys(dict[int, str]):
    """Table for `str.translate` of all characters whose key does not depend on their neighbours."""

    def __missing__(self, code: int) -> str:
        folded = _fold(chr(code).translate(_SEEN))
        # Marks compose with what stands before them, and so do the vowels and finals of Hangul.
        if folded and (unicodedata.category(folded[0])[0] == "M" or "\u1160" <= folded[0] <= "\u11ff"):
            raise _Composing
        self[code] = folded.translate(_KEPT)
        return self[code]


_KEPT = _Kept()
_SEEN = _Seen()
_KEYS = _Keys()


def normalise(text: str) -> str:
    """Fold case, compatibility forms, punctuation and spacing away, so that equal keys mean the same text.

    Letters, digits and marks stay, all else becomes single spaces. A text without any of them, such as '!!!', is its
    own key, so that it differs from '???'. Normalising a key gives the key.
    """
    try:
        key = " ".join(text.translate(_ASCII_TABLE if text.isascii() else _KEYS).split())
    except _Composing:
        key = ""
    return key or _normalise_whole(text)


def _normalise_whole(text: str) -> str:
    text = _fold(text.translate(_SEEN))
    key = " ".join(text.translate(_KEPT).split())
    return key or " ".join(text.split())


def _fold(text: str) -> str:
    while (folded := unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())) != text:
        text = folded
    return text
