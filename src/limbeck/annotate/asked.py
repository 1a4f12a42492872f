"""What an annotator is asked, and what an answer is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

from limbeck.annotate.texts import NewText
from limbeck.errors import AnswerRefused

# One category, yes or no; any of several categories; exactly one of several classes; entities in the text.
Mode = Literal["binary", "labels", "class", "spans"]
Verdict = Literal["label", "skip", "don't know"]
VERDICTS: tuple[Verdict, ...] = ("label", "skip", "don't know")
LONGEST_NAME = 80


@dataclass(frozen=True)
class Question:
    """What is asked about every text: in the mode 'binary' of one category, otherwise of all of them at once."""

    mode: Mode
    categories: tuple[str, ...]

    @property
    def category(self) -> str:
        """The category under which answers are kept; "" if they are about all."""
        return self.categories[0] if self.mode == "binary" else ""

    def checked(self, value: Any, text: str) -> Any:  # noqa: ANN401 - whatever a client sent
        """Give a label's value in the form in which it is kept, or say what is wrong with it.

        Lists of categories are kept with those that were asked: one that is added later was not looked at.
        """
        if self.mode == "binary":
            if not isinstance(value, bool):
                raise AnswerRefused(f"The answer is {value!r:.60}.", "Answer true or false.")
            return value
        if self.mode == "spans":
            return [*_spans(value, text, self.categories)]
        chosen = [value] if self.mode == "class" else value
        if not isinstance(chosen, list) or not all(isinstance(name, str) for name in chosen):
            raise AnswerRefused(f"The answer is {value!r:.60}.", "Answer with the names of categories.")
        for name in chosen:
            if name not in self.categories:
                raise AnswerRefused(f"'{name:.60}' is no category.", f"Known are: {', '.join(self.categories)}.")
        return {"labels": [name for name in self.categories if name in chosen], "asked": list(self.categories)}


def _spans(value: Any, text: str, types: Sequence[str]) -> list[dict[str, Any]]:  # noqa: ANN401 - as above
    if not isinstance(value, list) or not all(isinstance(span, Mapping) for span in value):
        raise AnswerRefused(f"The answer is {value!r:.60}.", "Answer with a list of spans: start, end, type.")
    found = []
    for span in value:
        start, end, kind = (span.get(name) for name in ("start", "end", "type"))
        if type(start) is not int or type(end) is not int or not 0 <= start < end <= len(text):
            raise AnswerRefused(
                f"A span goes from {start!r:.20} to {end!r:.20} in a text of {len(text)} characters.",
                "Count characters from 0; the end is not part of the span.",
            )
        if kind not in types:
            raise AnswerRefused(f"'{kind!s:.60}' is no type of entity.", f"Known are: {', '.join(types)}.")
        found.append({"start": start, "end": end, "type": kind})
    found.sort(key=lambda span: span["start"])
    for before, after in pairwise(found):
        if after["start"] < before["end"]:
            raise AnswerRefused(
                f"The spans at {before['start']} and {after['start']} overlap.", "Take one of them away."
            )
    return found


def checked_name(annotator: str) -> str:
    """Give an annotator's name without the space around it, or say what is wrong with it."""
    name = annotator.strip()
    if not 0 < len(name) <= LONGEST_NAME or not name.isprintable():
        raise AnswerRefused(
            f"The annotator's name is {annotator!r:.60}.", f"Give a name of 1 to {LONGEST_NAME} letters."
        )
    return name


@dataclass(frozen=True)
class Wanted:
    """A text for the queue: what a model says of it, which strategy asks for it, and how urgently.

    `people` are to answer; more than one where their agreement is measured.
    """

    text: NewText
    urgency: float
    people: int = 1


@dataclass(frozen=True)
class Task:
    """A text on an annotator's screen until `until`; `given` is what the same annotator said before an undo.

    `guess` holds a model's `labels` with their `probabilities`, or `entities`; it is empty without a model.
    """

    public_id: str
    text: str
    strategy: str | None
    guess: Mapping[str, Any]
    until: float
    verdict: str | None = None
    given: Any = None


@dataclass(frozen=True)
class Answer:
    """What an annotator said of a text, in which circumstances."""

    public_id: str
    annotator: str
    verdict: Verdict
    value: Any = None
    seconds: float | None = None
    guess_shown: bool = False
    origin: str = "person"


@dataclass(frozen=True)
class Judgement:
    """An answer that holds, with the text it is about."""

    public_id: str
    text: str
    source: str
    category: str
    annotator: str
    origin: str
    verdict: Verdict
    value: Any
    strategy: str | None
    guess: Any
    guess_shown: bool | None
    seconds: float | None
    given: float
