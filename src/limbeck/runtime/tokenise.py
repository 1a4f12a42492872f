"""Texts as token ids: the tokenizers library, and shortcuts that give the same ids word by word."""

from __future__ import annotations

import json
import re
import string
from dataclasses import dataclass
from typing import Any

from tokenizers import Tokenizer

from limbeck.runtime.batches import CHARACTERS_A_TOKEN

# Words that are remembered, and how long they may be; past that all are forgotten, which costs a millisecond or so.
REMEMBERED, LONGEST_WORD = 1 << 15, 40


@dataclass(frozen=True)
class Tokenised:
    """One text's windows of ids, special tokens included; `cut` says that some of the text is in none of them."""

    windows: list[list[int]]
    cut: bool


class Tokeniser:
    """Gives the ids of a text, whole or in windows.

    Where words don't influence each other's ids (`by_word`), each word between two spaces is looked up first. The ids
    are the same; for text like what came before they take a sixth of the time. New words are cut into pieces here, if
    they are of the simple kind that most words are (`WordPieces`).
    """

    def __init__(self, told: bytes, max_tokens: int, overlap: int = 0, max_windows: int = 1) -> None:
        """Take a tokenizer.json; texts of more than `max_tokens` are read in at most `max_windows` windows."""
        self.tokenizer = Tokenizer.from_buffer(told)
        self.tokenizer.no_padding()
        self.tokenizer.no_truncation()
        self.first, self.last = _ends(self.tokenizer)
        self.room = max_tokens - len(self.first) - len(self.last)
        self.stride = max(1, self.room - overlap)
        self.max_windows = max_windows
        self.by_word = words_are_independent(self.tokenizer)
        self._pieces = word_pieces(self.tokenizer)
        self._known: dict[str, list[int]] = {}
        # What is read of a text at most, in tokens and in characters.
        self.most = self.room + (max_windows - 1) * self.stride
        self.longest = (self.most + len(self.first) + len(self.last)) * CHARACTERS_A_TOKEN

    def __call__(self, text: str) -> Tokenised:
        """Give the windows of a cleaned text."""
        shown = text[: self.longest]
        ids = self._words(shown) if self.by_word else self._encode(shown)
        if len(ids) <= self.room:
            return Tokenised([[*self.first, *ids, *self.last]], len(shown) < len(text))
        kept = ids[: self.most]
        starts = range(0, max(1, len(kept) - self.room + self.stride), self.stride)
        windows = [[*self.first, *kept[start : start + self.room], *self.last] for start in starts]
        return Tokenised(windows, len(kept) < len(ids) or len(shown) < len(text))

    def ids(self, word: str) -> list[int]:
        """Give the ids of one word of a text, without special tokens, as they are where a space stands before it."""
        return self._words(word) if self.by_word else self._encode(f" {word}")

    def _words(self, text: str) -> list[int]:
        known, ids = self._known, []
        for word in text.split(" "):
            found = known.get(word)
            if found is None:
                found = (self._pieces(word) if self._pieces else None) or self._encode(word)
                if len(word) <= LONGEST_WORD:
                    if len(known) >= REMEMBERED:
                        known.clear()
                    known[word] = found
            ids += found
        return ids

    def _encode(self, text: str) -> list[int]:
        ids: list[int] = self.tokenizer.encode(text, add_special_tokens=False).ids
        return ids


class WordPieces:
    """Cuts words of plain ASCII as BERT's tokeniser does, for a quarter of what a call of the library costs."""

    # Each punctuation mark is a word of its own.
    _PARTS = re.compile("[A-Za-z0-9]+|[^A-Za-z0-9]")

    def __init__(self, tokenizer: Tokenizer, known: dict[str, int]) -> None:
        """Take a BERT tokeniser and its vocabulary; see `word_pieces`."""
        model = tokenizer.model
        self._known = known
        self._unknown: int = self._known[model.unk_token]
        self._prefix: str = model.continuing_subword_prefix
        self._longest: int = model.max_input_chars_per_word
        self._lower: bool = _state(tokenizer.normalizer)["lowercase"]
        # What may be the beginning of a special token, such as [MASK], is left to the library.
        special = {token.content[0] for token in tokenizer.get_added_tokens_decoder().values()}
        plain = "".join(char for char in string.printable if not char.isspace() and char not in special)
        self._plain = re.compile(f"[{re.escape(plain)}]+")

    def __call__(self, word: str) -> list[int] | None:
        """Give a word's ids, or None if it isn't plain enough."""
        if not self._plain.fullmatch(word):
            return None
        ids: list[int] = []
        for part in self._PARTS.findall(word.lower() if self._lower else word):
            whole = self._known.get(part)
            if whole is None:
                ids += self._cut(part)
            else:
                ids.append(whole)
        return ids

    def _cut(self, part: str) -> list[int]:
        """Take the longest known piece from the left, again and again."""
        if len(part) > self._longest:
            return [self._unknown]
        ids: list[int] = []
        at, prefix = 0, ""
        while at < len(part):
            for end in range(len(part), at, -1):
                found = self._known.get(prefix + part[at:end])
                if found is not None:
                    break
            else:
                return [self._unknown]
            ids.append(found)
            at, prefix = end, self._prefix
        return ids


def word_pieces(tokenizer: Tokenizer) -> WordPieces | None:
    """Give the shortcut for a tokeniser of BERT's kind, None for any other."""
    kinds = [_state(part).get("type") for part in (tokenizer.normalizer, tokenizer.pre_tokenizer)]
    model = tokenizer.model
    if kinds != ["BertNormalizer", "BertPreTokenizer"] or type(model).__name__ != "WordPiece":
        return None
    known = tokenizer.get_vocab(with_added_tokens=False)
    return WordPieces(tokenizer, known) if model.unk_token in known else None


def words_are_independent(tokenizer: Tokenizer) -> bool:
    """Say whether the ids of a text are those of its words, split at spaces, one after the other.

    So it is if each character is normalised for itself, and spaces always part words: as in BERT and what came of it.
    """
    normaliser = _state(tokenizer.normalizer)
    splitter = _state(tokenizer.pre_tokenizer)
    parts = splitter.get("pretokenizers", []) if splitter.get("type") == "Sequence" else [splitter]
    if normaliser.get("type") != "BertNormalizer" or not parts or parts[0].get("type") != "BertPreTokenizer":
        return False
    within = [p.get("type") == "Metaspace" and p.get("prepend_scheme") == "always" for p in parts[1:]]
    added = tokenizer.get_added_tokens_decoder().values()
    return all(within) and not any(" " in token.content for token in added)


def _state(component: Any) -> dict[str, Any]:  # noqa: ANN401 - the library's own types
    state: dict[str, Any] = json.loads(component.__getstate__()) if component is not None else {}
    return state


def _ends(tokenizer: Tokenizer) -> tuple[list[int], list[int]]:
    """Give the special tokens that stand before and after every text."""
    bare = tokenizer.encode("a", add_special_tokens=False).ids
    whole = tokenizer.encode("a").ids
    start = next((at for at in range(len(whole)) if whole[at : at + len(bare)] == bare), 0)
    return whole[:start], whole[start + len(bare) :]
