"""Rules: what finds a category's texts, what forbids it, and what that says of a text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from limbeck.errors import BadSetting
from limbeck.rules.expressions import Finder, compile_expression
from limbeck.rules.rewriting import Unusable

MOST_CATEGORIES = 1_000
MOST_IN_ONE = 500
MOST_EXPRESSIONS = 5_000
WEIGHT = 0.5

Verdict = Literal["matched", "excluded", "none"]
Kind = Literal["include", "exclude"]


@dataclass(frozen=True)
class Rule:
    """One category's expressions, in any case; a text matches that `include` finds and no `exclude` does.

    `weight`, above 0 and up to 1, is how much a weak label counts against a person's. Only with `negative` is a text
    that does not match a weak no; otherwise it is unknown.
    """

    name: str
    include: tuple[str, ...]
    exclude: tuple[str, ...] = ()
    title: str = ""
    weight: float = WEIGHT
    negative: bool = False

    def expressions(self) -> Iterator[tuple[Kind, int, str]]:
        """Give each expression with its kind and its position among its kind."""
        for position, expression in enumerate(self.include):
            yield "include", position, expression
        for position, expression in enumerate(self.exclude):
            yield "exclude", position, expression


@dataclass(frozen=True, slots=True)
class Finding:
    """Which of a rule's expressions find something in a text, by their positions in `include` and `exclude`."""

    include: tuple[int, ...]
    exclude: tuple[int, ...]

    @property
    def verdict(self) -> Verdict:
        """What the rule says of the text."""
        if not self.include:
            return "none"
        return "excluded" if self.exclude else "matched"


@dataclass(frozen=True)
class Rules:
    """The rules of some categories, ready to run."""

    rules: tuple[Rule, ...]
    _numbers: Mapping[str, int] = field(init=False, repr=False, compare=False)
    _uses: tuple[tuple[tuple[str, Kind, int], ...], ...] = field(init=False, repr=False, compare=False)
    _finder: Finder = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Compile the expressions, those that several rules share once."""
        compiled: dict[str, int] = {}
        numbers: dict[str, int] = {}
        uses: list[list[tuple[str, Kind, int]]] = []
        for rule in self.rules:
            for kind, position, expression in rule.expressions():
                if expression not in numbers:
                    numbers[expression] = compiled.setdefault(compiled_for(rule.name, expression), len(compiled))
                number = numbers[expression]
                if number == len(uses):
                    uses.append([])
                uses[number].append((rule.name, kind, position))
        object.__setattr__(self, "_numbers", numbers)
        object.__setattr__(self, "_uses", tuple(tuple(used) for used in uses))
        object.__setattr__(self, "_finder", Finder(tuple(compiled)))

    @property
    def names(self) -> tuple[str, ...]:
        """The categories, in the order of the file."""
        return tuple(rule.name for rule in self.rules)

    def match(self, texts: Iterable[str]) -> Iterator[dict[str, Finding]]:
        """Say of each text which categories' expressions find something; a category that isn't there has none."""
        return map(self.look, texts)

    def look(self, text: str) -> dict[str, Finding]:
        """Say it of one text."""
        found: dict[str, tuple[list[int], list[int]]] = {}
        for number in self._finder.find(text):
            for name, kind, position in self._uses[number]:
                found.setdefault(name, ([], []))[kind == "exclude"].append(position)
        return {name: Finding(tuple(sorted(yes)), tuple(sorted(no))) for name, (yes, no) in found.items()}

    def locate(self, expression: str, text: str) -> tuple[str, int, int] | None:
        """Give the text, composed, and from where to where the first find of one of the expressions reaches."""
        return self._finder.locate(self._numbers[expression], text)

    def alike(self) -> Iterator[tuple[tuple[str, Kind, int], ...]]:
        """Give the places of expressions that mean the same and stand in more than one."""
        yield from (used for used in self._uses if len(used) > 1)

    def only(self, names: Iterable[str]) -> Rules:
        """Give the rules of some categories."""
        wanted = set(names)
        return Rules(tuple(rule for rule in self.rules if rule.name in wanted))


def compiled_for(name: str, expression: str) -> str:
    """Compile a category's expression, or say why that can't be done."""
    try:
        return compile_expression(expression)
    except Unusable as error:
        shown = expression if expression.isprintable() else ascii(expression)[1:-1]
        shown = shown if len(shown) <= 80 else f"{shown[:77]}…"
        raise BadSetting(
            f"The category '{name}' has the expression '{shown}', which can't be used: {error.reason}.", error.fix
        ) from None
