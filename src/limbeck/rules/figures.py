"""What a survey tells, as plain values."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import asdict, dataclass, replace
from typing import Literal

from limbeck.rules.rules import Kind, Rules

AROUND = 60
LONGEST_PIECE = 100


@dataclass(frozen=True)
class Example:
    """A text, or the part of it around the piece that an expression found, from `start` to `end` of `text`.

    `row` counts the texts from 0. Without an expression nothing was found, and `start` and `end` are 0.
    """

    row: int
    text: str
    start: int = 0
    end: int = 0
    expression: str = ""

    @property
    def marked(self) -> str:
        """The text with the piece in « »."""
        if not self.expression:
            return self.text
        return f"{self.text[: self.start]}«{self.text[self.start : self.end]}»{self.text[self.end :]}"


def example(rules: Rules, row: int, text: str, expression: str = "") -> Example:
    """Show a text by the piece that the expression finds, with a little of what stands around it."""
    found = rules.locate(expression, text) if expression else None
    if found is None:
        return Example(row, text if len(text) <= 2 * AROUND else f"{text[: 2 * AROUND]}…")
    whole, start, end = found
    before = whole[:start] if start <= AROUND else f"…{whole[start - AROUND : start]}"
    after = whole[end:] if len(whole) - end <= AROUND else f"{whole[end : end + AROUND]}…"
    piece = whole[start:end] if end - start <= LONGEST_PIECE else f"{whole[start : start + LONGEST_PIECE]}…"
    return Example(row, before + piece + after, len(before), len(before) + len(piece), expression)


@dataclass(frozen=True)
class ExpressionFigures:
    """What one expression does.

    `found` counts the texts it finds, `share` is that of all texts. `excluded` are for an `include` those of them that
    an `exclude` forbids, for an `exclude` those that it forbids. `only` counts the texts that match, or are forbidden,
    through this expression alone. `precision` is the share of yes among the texts that it finds, that match and whose
    label is known, of which there are `known`; None if there are none.
    """

    expression: str
    kind: Kind
    found: int
    share: float
    only: int
    excluded: int
    known: int = 0
    precision: float | None = None


@dataclass(frozen=True)
class Quality:
    """How a rule agrees with known labels: `known` texts, `yes` of which people said yes, `found` that it matches.

    `wrong` are texts that match though people said no, `missed` those that don't though people said yes.
    """

    known: int
    yes: int
    found: int
    precision: float | None
    recall: float | None
    f1: float | None
    wrong: tuple[Example, ...] = ()
    missed: tuple[Example, ...] = ()


@dataclass(frozen=True)
class CategoryFigures:
    """What a category's rule does: texts that match, texts that only `exclude` keeps from it, and some of both."""

    category: str
    title: str
    found: int
    share: float
    excluded: int
    expressions: tuple[ExpressionFigures, ...]
    examples: tuple[Example, ...]
    forbidden: tuple[Example, ...]
    quality: Quality | None


@dataclass(frozen=True)
class Overlap:
    """Texts that match two categories: how many, their share of either, and phi, None where it isn't defined."""

    category: str
    other: str
    both: int
    share: float
    share_of_other: float
    phi: float | None


Problem = Literal["forbidden", "contradictory", "identical", "never", "idle", "covered", "same"]


@dataclass(frozen=True)
class Conflict:
    """Something about the rules that a person should look at; `told` says it in a sentence.

    `other` is the second category, where there is one.
    """

    problem: Problem
    category: str
    expression: str
    told: str
    other: str = ""


@dataclass(frozen=True)
class Survey:
    """What rules find in `texts` texts, of which `found` match at least one category."""

    texts: int
    found: int
    labelled: int
    categories: tuple[CategoryFigures, ...]
    overlaps: tuple[Overlap, ...]
    conflicts: tuple[Conflict, ...]

    def about(self, names: Collection[str]) -> Survey:
        """Give what concerns some categories alone, with their overlaps and conflicts with all others."""
        return replace(
            self,
            categories=tuple(one for one in self.categories if one.category in names),
            overlaps=tuple(one for one in self.overlaps if one.category in names or one.other in names),
            conflicts=tuple(one for one in self.conflicts if one.category in names or one.other in names),
        )

    def as_dict(self) -> dict[str, object]:
        """Give plain values for JSON."""
        return asdict(self)


def phi(texts: int, first: int, second: int, both: int) -> float | None:
    """Correlate two yes-or-no columns by their counts; None where one of them is always the same."""
    spread = first * (texts - first) * second * (texts - second)
    return (texts * both - first * second) / math.sqrt(spread) if spread else None
