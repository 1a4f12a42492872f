"""What Label Studio says in a result: choices, entities, who said it and when."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from limbeck.annotate.exchange.checks import checked_name, checked_spans, number_in, shown
from limbeck.annotate.exchange.reading import Record
from limbeck.annotate.exchange.utf16 import in_characters
from limbeck.errors import BadLabel, BrokenRow, ColumnMissing, Place
from limbeck.scorer import Span

YES = {"yes": True, "no": False}


def text_key(data: Mapping[str, Any], place: Place) -> str:
    """Say which part of a task's data is its text: `text`, or the only one that is a string."""
    strings = [key for key, value in data.items() if isinstance(value, str) and key != "source"]
    if "text" in data or len(strings) == 1:
        return "text" if "text" in data else strings[0]
    raise ColumnMissing(
        f"There is no 'text' in the task's data, which has: {', '.join(data) or 'nothing'}.", "Name the text so.", place
    )


def said_of(
    controls: Mapping[str, Sequence[Any]],
    regions: Sequence[Record] | None,
    text: str,
    categories: Sequence[str],
    place: Place,
) -> list[dict[str, Any]]:
    """Give what choices (by the name of their control) and entities say, each kind as the fields of a judgement."""
    known: dict[str, bool] = {}
    chosen: set[str] | None = None
    for control, choices in controls.items():
        yes = _yes_or_no(choices, categories)
        if yes is None:
            chosen = (chosen or set()) | {checked_name(name, categories, place) for name in choices}
        else:
            known[checked_name(control, categories, place)] = yes
    said: list[dict[str, Any]] = []
    if known:
        said.append({"known": known})
    if chosen is not None:
        said.append({"complete": frozenset(chosen)})
    if regions is not None:
        said.append({"spans": _spans(regions, text, categories, place)})
    return said


def _yes_or_no(choices: Sequence[Any], categories: Sequence[str]) -> bool | None:
    if len(choices) != 1 or not isinstance(choices[0], str) or choices[0] in categories:
        return None
    return YES.get(choices[0].lower())


def _spans(regions: Sequence[Record], text: str, categories: Sequence[str], place: Place) -> tuple[Span, ...]:
    quoted = []
    for region in regions:
        start, end, types, quote = (region.get(key) for key in ("start", "end", "labels", "text"))
        if type(start) is not int or type(end) is not int:
            raise BrokenRow(
                f"An entity goes from {shown(start)} to {shown(end)}.",
                "Export from a project with <Text>; offsets into HTML can't be read.",
                place,
            )
        if not isinstance(types, list) or len(types) != 1:
            raise BadLabel(f"An entity has the labels {shown(types)}.", "Give it exactly one.", place)
        name = checked_name(types[0], categories, place)
        quoted.append((Span(start, end, name), quote if isinstance(quote, str) else None))
    found = in_characters(quoted, text)
    if isinstance(found, tuple):
        span, quote = found
        there = text[max(0, span.start) : max(0, span.end)][:40]
        claim = "" if quote is None else f", but the file says '{quote[:40]}'"
        raise BadLabel(
            f"The {span.type} from {span.start} to {span.end} of {len(text)} characters is '{there}'{claim}.",
            "Label it again in Label Studio, or export the text with it.",
            place,
        )
    return checked_spans(sorted(found, key=lambda span: span.start), text, categories, place)


def annotator_of(value: Any) -> str:  # noqa: ANN401 - whatever a file holds
    """Give who annotated: an e-mail address, or the number of a user."""
    if isinstance(value, dict):
        value = value.get("email") or value.get("id")
    return "" if value is None else str(value)


def as_annotator(name: str) -> Any:  # noqa: ANN401 - a number, an object or None
    """Give an annotator as Label Studio imports one: by number or by address, otherwise none at all."""
    if name.isascii() and name.isdigit():
        return int(name)
    return {"email": name} if "@" in name else None


def time_in(record: Record, key: str, place: Place) -> float | None:
    """Read a time: ISO 8601, or seconds since 1970 as old versions have it."""
    value = record.get(key)
    if not isinstance(value, str):
        return number_in(record, key, place)
    try:
        time = datetime.fromisoformat(value)
    except ValueError:
        raise BrokenRow(f"'{key}' is {shown(value)}.", "Write a time such as 2026-01-31T12:00:00Z.", place) from None
    return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()


def as_time(seconds: float) -> str:
    """Write a time."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
