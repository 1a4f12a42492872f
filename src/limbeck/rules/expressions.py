"""Expressions that can't hang: RE2's time grows with the length of a text and no faster, and programs are bounded."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import re2

from limbeck.rules.folding import fold, unfold
from limbeck.rules.rewriting import Unusable, rewrite

LONGEST = 1_000
# Instructions of a program: the worst expressions on the worst texts take about 8 ns for each and each character.
LARGEST = 4_000
# Bytes for what RE2 remembers of all expressions together, and the least and most for one.
MEMORY = 1 << 30
LEAST, MOST = 256 << 10, 8 << 20
# Characters of expressions that share one filter, without classes: what it remembers of their words has 8 MB.
TOGETHER = 40_000
_CLASS = re.compile(r"\[[^\]]*\]")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")
_SYNTAX = "See https://github.com/google/re2/wiki/Syntax for what can be written."
_HINTS = (
    (r"\(\?<?[=!]", "There are no look-arounds: put what must not stand there under exclude."),
    (r"\\[1-9]", "There are no back-references: write out what may be repeated."),
    (r"\\Z", r"Write \z or $ for the end of a text."),
    ("repetition size", "Repeat at most 1,000 times in all."),
    ("too large", "Repeat fewer times, or make several expressions of it."),
)


def compile_expression(expression: str) -> str:
    """Give the expression as it is run on folded texts; raise `Unusable` if it can't be."""
    if not expression.strip():
        raise Unusable("it is empty", "Write an expression, or take it away.")
    if len(expression) > LONGEST:
        raise Unusable(f"it has {len(expression):,} characters", f"Write at most {LONGEST:,}; several will do as well.")
    if _CONTROL.search(expression):
        raise Unusable("it holds a control character", r"Write it in single quotes, such as '\blate\b'.")
    try:
        expression.encode("utf-8")
    except UnicodeEncodeError:
        raise Unusable("it holds half a character", "Write the whole character.") from None
    _compile(expression)
    rewritten = rewrite(expression)
    program = _compile(rewritten)
    if program.programsize > LARGEST:
        raise Unusable(
            f"it takes {program.programsize:,} steps, more than {LARGEST:,}",
            r"Repeat fewer times, write \w for \pL, or make several expressions of it.",
        )
    if program.search("") is not None:
        raise Unusable("it finds every text, even an empty one", "Say what must be there: + instead of *, no lone ?.")
    return rewritten


def _compile(expression: str) -> re2._Regexp:
    try:
        return re2.compile(expression, _options(MOST))
    except re2.error as error:
        told = error.args[0]
        reason = told.decode("utf-8", "replace") if isinstance(told, bytes) else str(told)
        fix = next((hint for sign, hint in _HINTS if re.search(sign, reason)), _SYNTAX)
        raise Unusable(reason, fix) from None


def _options(memory: int) -> re2.Options:
    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    options.max_mem = memory
    return options


class Finder:
    """Many compiled expressions at once.

    A text is searched for all words that expressions need in one go; only expressions whose words are there are run.
    """

    def __init__(self, compiled: Sequence[str]) -> None:
        """Take what `compile_expression` gave."""
        self._compiled = tuple(compiled)
        self._options = _options(max(LEAST, min(MOST, MEMORY // max(1, len(self._compiled)))))
        self._filters = [
            (first, made)
            for start, end in self._chunks()
            for first, made in _filters(self._compiled[start:end], start, self._options)
        ]

    def _chunks(self) -> Iterator[tuple[int, int]]:
        start = size = 0
        for number, expression in enumerate(self._compiled):
            more = len(_CLASS.sub("", expression))
            if size + more > TOGETHER and number > start:
                yield start, number
                start, size = number, 0
            size += more
        yield start, len(self._compiled)

    def find(self, text: str) -> list[int]:
        """Give the positions of the expressions that find something, in ascending order."""
        raw = fold(text).encode("utf-8")
        return [first + number for first, made in self._filters for number in made.Match(raw) or ()]

    def locate(self, number: int, text: str) -> tuple[str, int, int] | None:
        """Give the text, composed, and from where to where the expression's first find reaches; None without one."""
        found = re2.compile(self._compiled[number], self._options).search(fold(text))
        return None if found is None else unfold(text, found.start(), found.end())


def _filters(compiled: Sequence[str], first: int, options: re2.Options) -> list[tuple[int, re2.Filter]]:
    """Make one filter, or several if the words of all are too many for one."""
    made = re2.Filter()
    try:
        for expression in compiled:
            made.Add(expression, options)
        made.Compile()
    except re2.error:
        half = len(compiled) // 2
        if not half:
            raise
        return _filters(compiled[:half], first, options) + _filters(compiled[half:], first + half, options)
    return [(first, made)]
