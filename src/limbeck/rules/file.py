"""Reading a rules.toml: what it may hold, and what is said of what it may not."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

from limbeck.errors import BadSetting, ConfigError, ConfigSyntax, FileMissing, Place, UnknownSetting, nearest
from limbeck.rules.rules import MOST_CATEGORIES, MOST_EXPRESSIONS, MOST_IN_ONE, WEIGHT, Rule, Rules, compiled_for

FILE_NAME = "rules.toml"
LARGEST = 4 << 20
LONGEST_NAME = 200
_KEYS = ("include", "exclude", "title", "weight", "negative")
_QUOTES = r"Correct the line; expressions stand in single quotes, such as '\blate\b'."
_NAMES = """A name with spaces, or with letters other than a to z, needs quotes: ["ärger"]."""
_UNQUOTED = re.compile(r"\s*\[[A-Za-z0-9_.-]*[^A-Za-z0-9_.\-\[\]\"'#]")

TEMPLATE = r"""# Rules that find a category's texts: a table a category, named as in the labels; ["ärger"] needs quotes.
#   limbeck rules        shows what each finds in the pool, and how often it is right where there are labels.
#
# A text matches that one of `include` finds and none of `exclude` does. Write expressions in single quotes. Case never
# counts, curly quotes and dashes are like straight ones, white space of any kind is one space.
#   \b           the edge of a word, umlauts included         'verspät'        finds Verspätung too
#   \w* \d+      letters and digits; digits                   'delay(s|ed)?'   what may follow
#   (a|b)        one of several                               'a.{0,40}b'      at most 40 characters in between
# There are no look-arounds and no back-references (the engine is RE2, which no expression can hang): what must not
# stand there goes under `exclude`.

[punctuality]
include = ['\b(late|delay(s|ed)?)\b', 'verspät', '\bunpünktlich']
exclude = ['\bnot late\b', '\bsleep late\b']
# title = "Punctuality"   # how it is shown to people
# weight = 0.5            # above 0, up to 1: how much a label that was made by this rule counts against a person's
# negative = false        # true: what doesn't match is a weak no; otherwise it is unknown
"""


def load_rules(path: Path) -> Rules:
    """Read a rules.toml; whatever can't be used, or isn't known, is an error with its line."""
    content = _content(path)
    try:
        told = tomllib.loads(content)
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"at line (\d+)", str(error))
        number = int(line[1]) if line else None
        wrong = content.splitlines()[number - 1] if number else ""
        fix = _NAMES if _UNQUOTED.match(wrong) else _QUOTES
        raise ConfigSyntax(f"This is not TOML: {error}.", fix, Place(path, number)) from None
    # Lists within lists without end, or a number of thousands of digits.
    except (RecursionError, ValueError) as error:
        raise ConfigSyntax(f"This can't be read as TOML: {error}.", "Write it more simply.", Place(path)) from None
    return _Reader(path, content).rules(told)


def _content(path: Path) -> str:
    if not path.is_file():
        raise FileMissing("There is no such file of rules.", "Write one with: limbeck rules --init", Place(path))
    with path.open("rb") as file:
        raw = file.read(LARGEST + 1)
    if len(raw) > LARGEST:
        raise BadSetting(f"It has more than {LARGEST:,} bytes.", "Take rules away.", Place(path))
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise ConfigSyntax(f"Byte {error.start + 1} is not UTF-8.", "Save it as UTF-8.", Place(path, line)) from None


class _Reader:
    """Turns plain values into rules; holds the content to find the lines of what is wrong."""

    def __init__(self, path: Path, content: str) -> None:
        self._path = path
        self._lines = content.splitlines()

    def rules(self, told: Mapping[str, object]) -> Rules:
        if not told:
            raise BadSetting("It has no rule.", "Write a table for each category, such as [late].", Place(self._path))
        if len(told) > MOST_CATEGORIES:
            raise self._wrong(f"There are {len(told):,} categories.", f"At most {MOST_CATEGORIES:,} can be.", "")
        rules = tuple(self._rule(name, table) for name, table in told.items())
        total = sum(len(rule.include) + len(rule.exclude) for rule in rules)
        if total > MOST_EXPRESSIONS:
            raise self._wrong(f"There are {total:,} expressions.", f"At most {MOST_EXPRESSIONS:,} can be.", "")
        return Rules(rules)

    def _rule(self, name: str, told: object) -> Rule:
        if not isinstance(told, dict):
            raise self._no_table(name, told)
        if not name.strip() or len(name) > LONGEST_NAME or not name.isprintable():
            raise self._wrong(
                f"The category {name!r:.60} has no name that could be shown.",
                f"Name it in 1 to {LONGEST_NAME} characters.",
                name,
            )
        for key, value in told.items():
            if key not in _KEYS:
                inner = f""" A name with a dot needs quotes: ["{name}.{key}"].""" if isinstance(value, dict) else ""
                message = f"The category '{name}' has the key '{key}', which is not known."
                raise self._wrong(message, f"{nearest(key, _KEYS)}{inner}", name, key, UnknownSetting)
        include = self._expressions(name, "include", told.get("include", []))
        if not include:
            raise self._wrong(
                f"The category '{name}' includes nothing.", "Write include = ['…'], with an expression at least.", name
            )
        exclude = self._expressions(name, "exclude", told.get("exclude", []))
        return Rule(
            name, include, exclude, self._title(name, told), self._weight(name, told), self._negative(name, told)
        )

    def _no_table(self, name: str, told: object) -> ConfigError:
        if name in _KEYS:
            return self._wrong(f"'{name}' stands in no category.", "Write its category above it, such as [late].", name)
        brackets = "once, with one pair of brackets" if isinstance(told, list) else "and its keys below it"
        return self._wrong(f"'{name}' is no table.", f"Write [{name}] {brackets}.", name)

    def _expressions(self, name: str, key: str, told: object) -> tuple[str, ...]:
        if not isinstance(told, list) or not all(isinstance(one, str) for one in told):
            raise self._bad(name, key, told, "Write a list of expressions, such as ['late', 'delay'].")
        if len(told) > MOST_IN_ONE:
            raise self._bad(name, key, f"{len(told):,} expressions", f"Write at most {MOST_IN_ONE}.")
        for expression in told:
            try:
                compiled_for(name, expression)
            except BadSetting as error:
                error.place = Place(self._path, self._line(name, key, expression))
                raise
        return tuple(dict.fromkeys(told))

    def _title(self, name: str, told: Mapping[str, object]) -> str:
        title = told.get("title", "")
        if not isinstance(title, str):
            raise self._bad(name, "title", title, "Write a text.")
        return title

    def _weight(self, name: str, told: Mapping[str, object]) -> float:
        weight = told.get("weight", WEIGHT)
        if isinstance(weight, bool) or not isinstance(weight, int | float) or math.isnan(weight) or not 0 < weight <= 1:
            raise self._bad(name, "weight", weight, "Write a number above 0 and up to 1.")
        return float(weight)

    def _negative(self, name: str, told: Mapping[str, object]) -> bool:
        negative = told.get("negative", False)
        if not isinstance(negative, bool):
            raise self._bad(name, "negative", negative, "Write true or false.")
        return negative

    def _bad(self, name: str, key: str, told: object, fix: str) -> ConfigError:
        shown = told if isinstance(told, str) and key in ("include", "exclude") else repr(told)
        return self._wrong(f"The category '{name}' can't have '{key}' as {shown:.60}.", fix, name, key)

    def _wrong(
        self, message: str, fix: str, name: str, key: str = "", kind: type[ConfigError] = BadSetting
    ) -> ConfigError:
        return kind(message, fix, Place(self._path, self._line(name, key)))

    def _line(self, name: str, key: str = "", expression: str = "") -> int | None:
        """Find a line by reading the file as people do: a table's name, a key below it, an expression from there."""
        called = rf"""["']?{re.escape(name)}["']?\s*"""
        starts = [i for i, line in enumerate(self._lines) if re.match(rf"\s*(\[+\s*{called}[\].]|{called}[.=])", line)]
        if not starts:
            return None
        ends = (i for i in range(starts[0] + 1, len(self._lines)) if re.match(r"\s*\[+\s*[\w\"'-]", self._lines[i]))
        section = range(starts[0], next(ends, len(self._lines)))
        keyed = rf"""(.*[.\s{{,])?["']?{re.escape(key)}["']?\s*="""
        at_key = next((i for i in section if key and re.match(keyed, self._lines[i])), starts[0])
        return next((i for i in section if i >= at_key and expression in self._lines[i]), at_key) + 1
