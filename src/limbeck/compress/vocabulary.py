"""A tokeniser cut to the word pieces that a corpus uses; its texts keep their pieces."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from limbeck.errors import LimbeckError

AT_ONCE = 4096


class CantBeCut(LimbeckError):
    """A tokeniser of a kind that isn't known here, or whose pieces hang together in another way."""


@dataclass(frozen=True)
class Cut:
    """A smaller tokeniser, and the old ids of its tokens in their new order."""

    tokeniser: bytes
    kept: NDArray[np.intp]


def cut_vocabulary(told: bytes, texts: Sequence[str]) -> Cut:
    """Leave out word pieces that none of these texts has.

    Single characters stay, so that a new word is read in smaller pieces instead of not at all.
    """
    tokenizer = _open(told)
    about = json.loads(told)
    model = about["model"]
    vocabulary = _vocabulary(model)
    special = {token["id"] for token in about.get("added_tokens", [])}
    used = special | _used(tokenizer, texts)
    words = {number: word for word, number in vocabulary.items()}
    used |= {number for number, word in words.items() if _is_single(word, model)}
    if model["type"] == "BPE":
        used |= _parts(used, words, vocabulary, _merges(model))
    if isinstance(model.get("unk_id"), int):
        used.add(model["unk_id"])
    kept = np.array(sorted(used), dtype=np.intp)
    place = {int(old): new for new, old in enumerate(kept)}
    _cut_model(model, vocabulary, place)
    _renumber(about, place)
    smaller = json.dumps(about, ensure_ascii=False).encode()
    _compare(tokenizer, _open(smaller), kept, texts)
    return Cut(smaller, kept)


def read_differently(told: bytes, cut: Cut, texts: Sequence[str]) -> float:
    """Give the share of texts that have other pieces with the smaller tokeniser; without texts, all of them."""
    before, after = _open(told), _open(cut.tokeniser)
    pairs = zip(before.encode_batch(list(texts)), after.encode_batch(list(texts)), strict=True)
    changed = sum(old.ids != cut.kept[new.ids].tolist() for old, new in pairs)
    return changed / len(texts) if texts else 1.0


def _open(told: bytes) -> Tokenizer:
    tokenizer = Tokenizer.from_buffer(told)
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def _vocabulary(model: dict[str, Any]) -> dict[str, int]:
    if model["type"] in ("WordPiece", "BPE", "WordLevel"):
        return dict(model["vocab"])
    if model["type"] == "Unigram":
        return {piece: number for number, (piece, _) in enumerate(model["vocab"])}
    raise CantBeCut(f"A tokeniser of the kind {model['type']} can't be cut.", 'Set compress.vocabulary = "all".')


def _is_single(word: str, model: dict[str, Any]) -> bool:
    prefix = model.get("continuing_subword_prefix") or ""
    bare = word.removeprefix(prefix) if prefix else word.removeprefix("▁")
    return len(bare) <= 1 or (bare.startswith("<0x") and bare.endswith(">"))


def _merges(model: dict[str, Any]) -> list[tuple[str, str]]:
    """Give the pairs; older files write them as one text."""
    return [(pair[0], pair[1]) if not isinstance(pair, str) else tuple(pair.split(" ", 1)) for pair in model["merges"]]  # type: ignore[misc]


def _parts(
    used: Iterable[int], words: dict[int, str], vocabulary: dict[str, int], merges: list[tuple[str, str]]
) -> set[int]:
    """Give all pieces that the used ones are merged from, on whichever way."""
    made: dict[str, list[tuple[str, str]]] = {}
    for left, right in merges:
        made.setdefault(left + right, []).append((left, right))
    found: set[int] = set()
    waiting = [words[number] for number in used if number in words]
    while waiting:
        for pair in made.get(waiting.pop(), []):
            for part in pair:
                if vocabulary[part] not in found:
                    found.add(vocabulary[part])
                    waiting.append(part)
    return found


def _cut_model(model: dict[str, Any], vocabulary: dict[str, int], place: dict[int, int]) -> None:
    if model["type"] == "Unigram":
        model["vocab"] = [model["vocab"][old] for old in place if old < len(model["vocab"])]
        if isinstance(model.get("unk_id"), int):
            model["unk_id"] = place[model["unk_id"]]
        return
    model["vocab"] = {word: place[number] for word, number in vocabulary.items() if number in place}
    if model["type"] == "BPE":
        left = [(a, b) for a, b in _merges(model) if a in model["vocab"] and b in model["vocab"]]
        model["merges"] = [[a, b] for a, b in left if a + b in model["vocab"]]


def _renumber(about: dict[str, Any], place: dict[int, int]) -> None:
    """Give special tokens their new ids, wherever the file names them."""
    for token in about.get("added_tokens", []):
        token["id"] = place[token["id"]]
    about["padding"] = about["truncation"] = None
    ends = about.get("post_processor") or {}
    for processor in [ends, *ends.get("processors", [])]:
        for token in (processor.get("special_tokens") or {}).values():
            token["ids"] = [place[number] for number in token["ids"]]
        for end in ("cls", "sep"):
            if isinstance(processor.get(end), list):
                processor[end][1] = place[processor[end][1]]


def _used(tokenizer: Tokenizer, texts: Sequence[str]) -> set[int]:
    found: set[int] = set(tokenizer.encode("").ids)
    for start in range(0, len(texts), AT_ONCE):
        for read in tokenizer.encode_batch(list(texts[start : start + AT_ONCE])):
            found.update(read.ids)
    return found


def _compare(before: Tokenizer, after: Tokenizer, kept: NDArray[np.intp], texts: Sequence[str]) -> None:
    """Make sure that every text has the pieces that it had."""
    for start in range(0, len(texts), AT_ONCE):
        some = list(texts[start : start + AT_ONCE])
        for text, old, new in zip(some, before.encode_batch(some), after.encode_batch(some), strict=True):
            if old.ids != kept[new.ids].tolist():
                raise CantBeCut(
                    f"Without the pieces that no text has, '{text[:40]}…' is read differently.",
                    'Set compress.vocabulary = "all".',
                )
