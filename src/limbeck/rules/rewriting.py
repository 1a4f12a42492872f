"""Expressions rewritten for folded texts.

Each part of an expression that stands for one character becomes a group that stands for the same character as
`limbeck.rules.folding` writes it; all else stays. What a part stands for is left to RE2: the ASCII characters are
found by asking it, and those beyond ASCII are told apart by the marks around them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

import re2

from limbeck.rules.folding import OTHER, SPECIAL, WORD, fold

_TOKEN = re.compile(
    r"""
    \\Q(?P<quoted>.*?)(?:\\E|\Z)
    | (?P<flags>\(\?[A-Za-z-]*[:)])
    | (?P<named>\(\?P?<[^>]*>)
    | (?P<kept>\\[bBAz]|[()|*+?{}^$])
    | \\x(?:\{(?P<long>[0-9A-Fa-f]+)\}|(?P<short>[0-9A-Fa-f]{2}))
    | (?P<part>
        \\(?:[pP]\{[^}]*\}|[pP].|[0-7]{1,3}|.)
        | \[\^?\]?(?:\[:[^\]]*:\]|\\.|[^\]\\])*\]
        | \.
      )
    | (?P<char>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_SWAPPED = {"w": r"\W", "W": r"\w"}
# Parts that stand for nothing beyond ASCII: escapes such as \d or \., and classes of ASCII without escapes.
_NONE_BEYOND = re.compile(r"\\[^pP0-7]|\[(?!\^)[\x20-\x5a\x5d-\x7e]+\]")
# Parts that stand for all that is beyond ASCII, or for all of it that belongs to words or doesn't.
_ALL_BEYOND = {".": (WORD, OTHER), r"\D": (WORD, OTHER), r"\S": (WORD, OTHER), r"\w": (WORD,), r"\W": (OTHER,)}
_BEYOND = r"[^\x00-\x7f]"
_NOTHING = r"[^\x00-\x{10ffff}]"
_PRINTED = [chr(code) for code in range(128) if fold(chr(code)) == chr(code).lower()]
_BLANKS = "\t\n\f\r"
# What folded texts have of ASCII, in order; a range may pass over what they don't have.
_OCCURRING = sorted({char.lower() for char in _PRINTED} | {*WORD, *OTHER})


class Unusable(ValueError):
    """An expression that can't be used: why, and the way out."""

    def __init__(self, reason: str, fix: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.fix = fix


def rewrite(expression: str) -> str:
    """Give an expression that finds in folded texts what `expression`, which RE2 has taken, means in plain ones."""
    return "".join(_rewrite(token) for token in _TOKEN.finditer(unicodedata.normalize("NFC", expression)))


def _rewrite(token: re.Match[str]) -> str:
    whole = token[0]
    if token["quoted"] is not None:
        return "".join(_literal(char) for char in token["quoted"])
    if token["flags"]:
        return _without_flags(whole)
    if token["named"]:
        return "(?:"
    if token["kept"]:
        return whole
    if token["part"]:
        return _part(whole)
    code = token["long"] or token["short"]
    return _literal(chr(int(code, 16)) if code else whole)


def _without_flags(group: str) -> str:
    """Leave flags away: case never counts, and folded texts have no line ends that others could be about."""
    if "i" in group.partition("-")[2]:
        raise Unusable(f"it has {group}, but rules never look at case", "Take it away.")
    return "(?:" if group.endswith(":") else "(?:)"


def _literal(char: str) -> str:
    folded = fold(char)
    if len(folded) == 1:
        return re.escape(folded)
    marks = next((marks for marks in (WORD, OTHER) if folded[0] == marks[0]), None)
    return f"(?:{re.escape(folded)})" if marks is None else _between((marks,), f"(?i:{folded[1]})")


@lru_cache(maxsize=1024)
def _part(part: str) -> str:
    if part == r"\C":
        raise Unusable(r"it has \C, which takes characters apart", "Write a dot for any character.")
    ranges = _ranges(_plain(part))
    choices = [f"[{ranges}]"] if ranges else []
    return f"(?:{'|'.join(choices + _beyond(part)) or _NOTHING})"


def _beyond(part: str) -> list[str]:
    if part in _ALL_BEYOND:
        return [_between(_ALL_BEYOND[part], _BEYOND)]
    if _NONE_BEYOND.fullmatch(part):
        return []
    # Beyond ASCII, RE2 takes everything for \W. Among word characters it is \w that takes everything.
    swapped = _ESCAPE.sub(lambda escape: _SWAPPED.get(escape[1], escape[0]), part)
    if swapped == part:
        return [_between((WORD, OTHER), f"(?i:{part})")]
    return [_between((WORD,), f"(?i:{swapped})"), _between((OTHER,), f"(?i:{part})")]


def _between(marks: Sequence[tuple[str, str]], inside: str) -> str:
    before, after = ("".join(rf"\x{ord(pair[side]):02x}" for pair in marks) for side in (0, 1))
    return f"(?:[{before}]{inside}[{after}])"


def _plain(part: str) -> set[str]:
    """Give the ASCII characters of folded texts that the part stands for."""
    options = re2.Options()
    options.case_sensitive = False
    options.log_errors = False
    engine = re2.compile(part, options)
    plain = {char.lower() for char in _PRINTED if engine.fullmatch(char)}
    listed = {SPECIAL[char] for char in part if char in SPECIAL} if part.startswith("[") else set()
    if part.startswith("[^"):
        return plain - listed
    blank = {" "} if any(engine.fullmatch(char) for char in _BLANKS) else set()
    return plain | listed | blank


def _ranges(chars: set[str]) -> str:
    """Write characters as the fewest ranges, for a class."""
    runs: list[list[str]] = []
    before = False
    for char in _OCCURRING:
        if char in chars and before:
            runs[-1][1] = char
        elif char in chars:
            runs.append([char, char])
        before = char in chars
    return "".join(rf"\x{ord(first):02x}-\x{ord(last):02x}" for first, last in runs)
