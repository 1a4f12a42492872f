"""Offsets as JavaScript counts them: a character beyond U+FFFF, such as an emoji, counts twice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate

from limbeck.scorer import Span

Quoted = tuple[Span, str | None]


def in_characters(quoted: Sequence[Quoted], text: str) -> list[Span] | Quoted:
    """Give entities by characters, in whichever unit all quotes fit; if neither does, the first that doesn't fit.

    A quote is what the file says the entity's text is, None if it doesn't say.
    """
    if all(_fits(span, quote, text) for span, quote in quoted):
        return [span for span, _ in quoted]
    to_character = _to_character(text)
    found = [(_moved(span, to_character), quote) for span, quote in quoted]
    if all(span is not None and _fits(span, quote, text) for span, quote in found):
        return [span for span, _ in found if span is not None]
    return next((span, quote) for span, quote in quoted if not _fits(span, quote, text))


def _to_character(text: str) -> Callable[[int], int | None]:
    ends = accumulate((1 + (ord(character) > 0xFFFF) for character in text), initial=0)
    return {unit: character for character, unit in enumerate(ends)}.get


def _moved(span: Span, to_character: Callable[[int], int | None]) -> Span | None:
    start, end = to_character(span.start), to_character(span.end)
    return None if start is None or end is None else Span(start, end, span.type)


def _fits(span: Span, quote: str | None, text: str) -> bool:
    if not 0 <= span.start < span.end <= len(text):
        return False
    return quote is None or _bare(text[span.start : span.end]) == _bare(quote)


def _bare(text: str) -> str:
    r"""Drop white space, which browsers change in what is selected; Label Studio writes a line break as a plain \n."""
    return "".join(text.replace("\\n", " ").split())
