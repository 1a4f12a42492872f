"""What a word looks like, in numbers: its shape, its characters, its beginning and its end."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from zlib import crc32

# The number of a shape is its place here; 0 stands for no word.
SHAPES = ("", "lower", "Capitalised", "CAPITALS", "one Capital", "mIxed", "123", "letters and 123", "other")
# Characters of a word that are looked at: of longer ones, the first and the last half of so many.
CHARACTERS = 16
# Characters that a network knows, at most; 0 stands for none, 1 for any other.
FIRST_CHARACTER = 2
# Numbers that affixes share; 0 stands for none.
AFFIX_NUMBERS = 8192
PREFIXES, SUFFIXES = (1, 2, 3, 4), (1, 2, 3, 4)
AFFIXES = 2 + len(PREFIXES) + len(SUFFIXES)

_NUMBER = {name: number for number, name in enumerate(SHAPES)}


def shape_of(word: str) -> int:
    """Say how a word is written, which an encoder that lowers all letters can't see."""
    letters = [char for char in word if char.isalpha()]
    digits = any(char.isdigit() for char in word)
    if digits:
        return _NUMBER["letters and 123" if letters else "123"]
    if not letters:
        return _NUMBER["other"]
    if not any(char.isupper() or char.istitle() for char in letters):
        return _NUMBER["lower"]
    if len(letters) == 1:
        return _NUMBER["one Capital"]
    if all(not char.islower() for char in letters):
        return _NUMBER["CAPITALS"]
    return _NUMBER["Capitalised" if not any(char.isupper() for char in letters[1:]) else "mIxed"]


def characters_of(word: str, alphabet: Mapping[str, int]) -> list[int]:
    """Give the numbers of a word's characters, `CHARACTERS` of them, 0 where there are none."""
    if len(word) > CHARACTERS:
        word = word[: CHARACTERS // 2] + word[-CHARACTERS // 2 :]
    found = [alphabet.get(char, 1) for char in word]
    return found + [0] * (CHARACTERS - len(found))


def affixes_of(word: str) -> list[int]:
    """Give numbers of a word's lowered form, its shape, its beginnings and its ends; different ones may share one."""
    plain = simple_form(word)
    told = [f"w{plain}", f"s{shape_of(word)}{len(plain) > 3}"]
    told += [f"p{plain[:size]}" if size <= len(plain) else "" for size in PREFIXES]
    told += [f"e{plain[-size:]}" if size <= len(plain) else "" for size in SUFFIXES]
    return [1 + crc32(one.encode("utf-8", "surrogatepass")) % (AFFIX_NUMBERS - 1) if one else 0 for one in told]


def simple_form(word: str) -> str:
    """Lower a word's letters and make its digits 0, in composed characters."""
    plain = word.lower() if word.isascii() else unicodedata.normalize("NFC", word).lower()
    return "".join("0" if char.isdigit() else char for char in plain) if any(map(str.isdigit, plain)) else plain


def alphabet_of(characters: Sequence[str]) -> dict[str, int]:
    """Give each character that a network knows a number."""
    return {char: number for number, char in enumerate(characters, start=FIRST_CHARACTER)}
