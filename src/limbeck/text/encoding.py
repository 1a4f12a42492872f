"""Repair of text whose bytes were once read in the wrong encoding."""

from __future__ import annotations

import re
import unicodedata

_CP1252 = {byte: bytes([byte]).decode("cp1252", "ignore") for byte in range(0x80, 0xA0)}
_SPECIALS = "".join(_CP1252.values())
# What a UTF-8 continuation byte looks like after it was read as cp1252 or latin-1.
CONTINUATION = f"[\x80-\xbf{_SPECIALS}]"
_TO_BYTE = {ord(char): byte for byte, char in _CP1252.items() if char}
# U+0085 is left alone: as a line break it is meant.
_FROM_C1 = {byte: char for byte, char in _CP1252.items() if char and byte != 0x85}

_RUN = re.compile(f"(?:[\xc2-\xdf]{CONTINUATION}|[\xe0-\xef]{CONTINUATION}{{2}}|[\xf0-\xf4]{CONTINUATION}{{3}})++|â€")
# One class in front, for which the search skips ahead.
_SUSPECT = re.compile(f"[\x80-\x9f\xc2-\xf4\ud800-\udfff\ufffd](?:(?<![\xc2-\xf4])|{CONTINUATION})")
_SURROGATE = re.compile("[\ud800-\udfff]")
_C1 = re.compile("[\x80-\x9f]")

# How often a text may have been misread, one time on top of the other.
_LAYERS = 6
# Characters that correct text puts right after an accented letter, so that they prove nothing.
_PUNCTUATION = frozenset("“”‘’‚„…–—«»‹›•\xa0")
_SIGNS = _PUNCTUATION | frozenset("®™°²³´·")


def repair(text: str) -> str:
    """Undo UTF-8 read as cp1252 or latin-1, drop lone surrogates and U+FFFD, and compose to NFC."""
    if text.isascii():
        return text
    if _SUSPECT.search(text):
        if _SURROGATE.search(text):
            # Joins the halves of a pair, too.
            text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "ignore")
        text = text.replace("\ufffd", "")
        for _ in range(_LAYERS):
            before, text = text, _RUN.sub(_repair_run, text)
            if text == before:
                break
        if _C1.search(text):
            text = text.translate(_FROM_C1)
    return unicodedata.normalize("NFC", text)


def _repair_run(match: re.Match[str]) -> str:
    run = match.group()
    if run == "â€":
        # The closing quote, whose last byte cp1252 lacks and most programs drop.
        return "”"
    try:
        repaired = run.translate(_TO_BYTE).encode("latin-1").decode("utf-8")
    except UnicodeDecodeError:
        return run
    before = match.string[match.start() - 1 : match.start()] if match.start() else ""
    after = match.string[match.end() : match.end() + 1]
    if len(repaired) > 1:
        # 'Ä–Ö–Ü' is such a run as well.
        wrong = any(_is_telling(char) for char in run)
    elif len(run) > 2:
        wrong = _is_wrong_long(run)
    else:
        wrong = _is_wrong_pair(run[0], run[1], before, after)
    return repaired if wrong else run


def _is_telling(char: str) -> bool:
    return char not in _PUNCTUATION and not "\xc2" <= char <= "\xf4"


def _is_wrong_long(run: str) -> bool:
    """Judge one letter with two or three signs behind it, such as 'â€™' but not 'está»…' or 'Nescafé®…'."""
    if run.startswith("â€") or _C1.search(run):
        return True
    return "\xa0" not in run and not _SIGNS.issuperset(run[1:])


def _is_wrong_pair(lead: str, sign: str, before: str, after: str) -> bool:
    """Judge one letter with one sign behind it, such as 'Ã¼' but not the end of '“IRMÔ' or of '„MENÜ“'."""
    if lead == "Â":
        return "\x80" <= sign <= "\xbf"
    if lead == "Ã":
        if sign == "\xa0":
            return not before.isupper()
        return sign not in _PUNCTUATION or before.islower() or after.isalpha()
    if lead in "ÄÅ":
        # A neighbour must be a letter, for 'Å²' is a unit.
        return before.islower() or (sign not in _PUNCTUATION and (before.isalpha() or after.isalpha()))
    return False
