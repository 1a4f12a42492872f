"""Facts that were read from JSON as dataclasses, each checked for its kind and its bounds.

A library could do this as well, but takes a third of the time in which a bundle has to be loaded.
"""

from __future__ import annotations

import dataclasses
import re
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

Part = TypeVar("Part")


class BadFact(ValueError):
    """A fact that is not as it must be; `where` is its path, such as labels.0.threshold."""

    def __init__(self, where: str, problem: str) -> None:
        """Say what is wrong, and where."""
        super().__init__(f"'{where}': {problem}")
        self.where, self.problem = where, problem


@dataclass(frozen=True)
class Within:
    """Bounds of a number, both allowed."""

    least: float
    most: float = float("inf")

    def __call__(self, value: float) -> str | None:
        """Say what is wrong with a number, if anything is; one that is no number is wrong as well."""
        return None if self.least <= value <= self.most else f"{value} is not between {self.least} and {self.most}"


@dataclass(frozen=True)
class Matches:
    """What a text must look like, as a regular expression for all of it."""

    pattern: str

    def __call__(self, value: str) -> str | None:
        """Say what is wrong with a text, if anything is."""
        return None if re.fullmatch(self.pattern, value, re.DOTALL) else f"{value[:80]!r} doesn't match {self.pattern}"


def not_empty(value: list[Any]) -> str | None:
    """Say what is wrong with a list, if anything is."""
    return None if value else "there must be one at least"


def read_part(kind: type[Part], told: object, where: str = "") -> Part:
    """Make a dataclass of a JSON object; one fact too many, too few or of the wrong kind is an error."""
    if not isinstance(told, dict):
        raise BadFact(where, "an object is expected")
    fields = {field.name: field for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    for name in told:
        if name not in fields:
            raise BadFact(_inside(where, name), "this version doesn't know it")
    hints = _hints(kind)  # type: ignore[arg-type]
    given = {}
    for name, field in fields.items():
        if name in told:
            given[name] = _value(hints[name], told[name], _inside(where, name))
        elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            raise BadFact(_inside(where, name), "it is missing")
    try:
        return kind(**given)
    except ValueError as error:
        raise BadFact(where, str(error)) from None


@cache
def _hints(kind: type[Any]) -> dict[str, Any]:
    """Look a dataclass's annotations up once: a bundle may have a thousand labels."""
    return get_type_hints(kind, include_extras=True)


def _inside(where: str, name: object) -> str:
    return f"{where}.{name}" if where else str(name)


def _value(kind: Any, told: Any, where: str) -> Any:  # noqa: ANN401 - whatever JSON and annotations hold
    if kind is Any:
        return told
    if dataclasses.is_dataclass(kind):
        return read_part(kind, told, where)  # type: ignore[arg-type]
    reader = _READERS.get(get_origin(kind))
    if reader is not None:
        return reader(get_args(kind), told, where)
    if kind is float and type(told) is int:
        return float(told)
    # JSON's true is an int to Python, and never meant as one.
    if type(told) is not kind:
        raise BadFact(where, f"{_NAMES[kind]} is expected")
    return told


def _annotated(arguments: tuple[Any, ...], told: Any, where: str) -> Any:  # noqa: ANN401 - as above
    value = _value(arguments[0], told, where)
    for check in arguments[1:]:
        problem = check(value)
        if problem:
            raise BadFact(where, problem)
    return value


def _literal(arguments: tuple[Any, ...], told: Any, where: str) -> Any:  # noqa: ANN401 - as above
    if not any(type(told) is type(one) and told == one for one in arguments):
        raise BadFact(where, f"one of {', '.join(map(repr, arguments))} is expected")
    return told


def _either(arguments: tuple[Any, ...], told: Any, where: str) -> Any:  # noqa: ANN401 - as above
    if told is None and type(None) in arguments:
        return None
    return _value(next(one for one in arguments if one is not type(None)), told, where)


def _list(arguments: tuple[Any, ...], told: Any, where: str) -> list[Any]:  # noqa: ANN401 - as above
    if not isinstance(told, list):
        raise BadFact(where, "a list is expected")
    return [_value(arguments[0], one, _inside(where, place)) for place, one in enumerate(told)]


def _dict(arguments: tuple[Any, ...], told: Any, where: str) -> dict[str, Any]:  # noqa: ANN401 - as above
    if not isinstance(told, dict):
        raise BadFact(where, "an object is expected")
    return {name: _value(arguments[1], one, _inside(where, name)) for name, one in told.items()}


_READERS: Mapping[Any, Callable[[tuple[Any, ...], Any, str], Any]] = {
    Annotated: _annotated,
    Literal: _literal,
    Union: _either,
    types.UnionType: _either,
    list: _list,
    dict: _dict,
}
_NAMES = {str: "a text", int: "a whole number", float: "a number", bool: "true or false"}
