"""Sentences with entities: words and BIO tags, and the characters that they stand for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from limbeck.scorer import Span
from limbeck.text.words import words


@dataclass(frozen=True)
class Sentence:
    """Words with BIO tags; `line` is where the sentence starts in its file.

    `raw` is the text that the words were cut from; '' for words that come from a file of words, one a line.
    """

    tokens: tuple[str, ...]
    tags: tuple[str, ...]
    line: int
    raw: str = ""

    @property
    def text(self) -> str:
        """The text; words without one are joined by single spaces."""
        return self.raw or " ".join(self.tokens)

    def offsets(self) -> list[tuple[int, int]]:
        """Give each word's first character and the one after its last, in `text`."""
        found: list[tuple[int, int]] = []
        at = 0
        for token in self.tokens:
            start = self.text.index(token, at) if self.raw else at
            found.append((start, start + len(token)))
            at = start + len(token) + (not self.raw)
        return found

    def entities(self) -> list[tuple[int, int, str]]:
        """Give the entities as (first word, word after the last, type)."""
        return entities_of(self.tags)

    def spans(self) -> list[Span]:
        """Give the entities by characters of `text`."""
        places = self.offsets()
        return [Span(places[first][0], places[last - 1][1], kind) for first, last, kind in self.entities()]


def entities_of(tags: Sequence[str]) -> list[tuple[int, int, str]]:
    """Give the entities of BIO tags as (first, after the last, type); a stray I- opens one, as conlleval has it."""
    found: list[tuple[int, int, str]] = []
    start, kind = 0, ""
    for position, tag in enumerate((*tags, "O")):
        if kind and (tag[0] in "OB" or tag[2:] != kind):
            found.append((start, position, kind))
            kind = ""
        if tag != "O" and not kind:
            start, kind = position, tag[2:]
    return found


def tags_of(entities: Iterable[tuple[int, int, str]], length: int) -> tuple[str, ...]:
    """Give the BIO tags of entities (first, after the last, type) that don't overlap."""
    tags = ["O"] * length
    for first, last, kind in entities:
        tags[first:last] = [f"B-{kind}", *[f"I-{kind}"] * (last - first - 1)]
    return tuple(tags)


def by_rule(sentence: Sentence) -> Sentence:
    """Cut a sentence's text into words by the rule of `limbeck.text.words`, whatever words its file has.

    So a model is taught the words that it will meet in plain text. Entities keep their characters.
    """
    text = sentence.text
    offsets = words(text)
    starts = {start: number for number, (start, _) in enumerate(offsets)}
    ends = {end: number + 1 for number, (_, end) in enumerate(offsets)}
    entities = [(starts[span.start], ends[span.end], span.type) for span in sentence.spans()]
    tokens = tuple(text[start:end] for start, end in offsets)
    return Sentence(tokens, tags_of(entities, len(offsets)), sentence.line, text)


def without_other_types(sentence: Sentence, types: tuple[str, ...]) -> Sentence:
    """Give the sentence with entities of other types turned into O."""
    return replace(sentence, tags=tuple(tag if tag == "O" or tag[2:] in types else "O" for tag in sentence.tags))


def count_types(sentences: Sequence[Sentence]) -> Counter[str]:
    """Count the entities of each type."""
    return Counter(kind for sentence in sentences for _, _, kind in sentence.entities())
