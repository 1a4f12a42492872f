"""The vectors of a word, by number: its own, or those of the pieces it is cut into."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Protocol

from limbeck.runtime.tokenise import Tokeniser
from limbeck.runtime.wordforms import simple_form

PAD, UNKNOWN = "[PAD]", "[UNK]"
# Pieces of a word that are looked at; few words have more.
PIECES = 4
# Rows of a word list after those of single words: the words that share each, separated by blanks.
SHARED = "shared"


class Lexicon(Protocol):
    """Numbers for any word; `places` of them, filled up with `pad`."""

    places: int
    pad: int

    def __call__(self, word: str) -> list[int]:
        """Give a word's numbers."""
        ...


class WordList:
    """A list of words: each is looked up as it is written, in lower case, and with its digits as 0."""

    places = 1

    def __init__(self, told: bytes) -> None:
        """Take a tokenizer.json that lists words."""
        listed = json.loads(told)
        own: dict[str, int] = listed["model"]["vocab"]
        rows = enumerate(listed["model"].get(SHARED, ()), start=len(own))
        self._known = {word: row for row, alike in rows for word in alike.split(" ")} | own
        self.pad, self.unknown = own[PAD], own[UNKNOWN]

    def __call__(self, word: str) -> list[int]:
        """Give a word's number, or that of unknown words."""
        known = self._known
        for form in (word, word.lower(), simple_form(word)):
            if form in known:
                return [known[form]]
        return [self.unknown]


class WordPiecesOf:
    """The pieces that an encoder's tokeniser cuts a word into."""

    places = PIECES

    def __init__(self, told: bytes, pad: int, unknown: int) -> None:
        """Take a tokenizer.json, and the numbers of padding and of what can't be written in pieces."""
        self._pieces = Tokeniser(told, 1 << 16)
        self.pad, self._unknown = pad, unknown

    def __call__(self, word: str) -> list[int]:
        """Give the first pieces of a word; one that vanishes in normalising is unknown."""
        found = (self._pieces.ids(word) or [self._unknown])[:PIECES]
        return found + [self.pad] * (PIECES - len(found))


def word_list(words: Sequence[str], shared: Sequence[Sequence[str]] = ()) -> bytes:
    """Write a list of words, the first of which is for padding and the second for unknown ones, as tokenizer.json.

    Each of `shared` is words that have one number together; such numbers follow those of the words of their own.
    """
    vocabulary = {word: number for number, word in enumerate(words)}
    told: dict[str, Any] = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": {"type": "Lowercase"},
        "pre_tokenizer": None,
        "post_processor": None,
        "decoder": None,
        "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": UNKNOWN},
    }
    if shared:
        told["model"][SHARED] = [" ".join(alike) for alike in shared]
    return json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode()


def read_lexicon(told: bytes, pad: int, unknown: int) -> Lexicon:
    """Give the lexicon that a tokenizer.json stands for: a list of words as written here, or any tokeniser."""
    model = json.loads(told)["model"]
    listed = model["type"] == "WordLevel" and PAD in model["vocab"]
    return WordList(told) if listed else WordPiecesOf(told, pad, unknown)
