"""Label Studio's JSON-MIN: a row an annotation, with the data of the task and what each control says side by side.

The converter writes the data, `id`, the controls, `annotator` and what it knows besides, in this order:
https://github.com/HumanSignal/label-studio-converter.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from limbeck.annotate.exchange.checks import checked_text, number_in, shown, string_in, text_in
from limbeck.annotate.exchange.label_studio_values import YES, annotator_of, said_of, text_key, time_in
from limbeck.annotate.exchange.labelled import LabelledText
from limbeck.annotate.exchange.reading import Record
from limbeck.errors import BadLabel, Place

_META = ("id", "annotator", "annotation_id", "created_at", "updated_at", "lead_time", "agreement")


def labels_in(row: Record, categories: Sequence[str], place: Place) -> Iterator[LabelledText]:
    """Give what a row says; a judgement without a value if it says nothing."""
    names = _control_names(row)
    data = {key: value for key, value in row.items() if key not in _META and (names is None or key not in names)}
    key = "text" if names is None else text_key(data, place)
    text = checked_text(row[key], place) if key in row else text_in(row, place)
    found = names if names is not None else _guessed(data, categories, place)
    controls: dict[str, list[Any]] = {}
    regions: list[Record] | None = None
    for name in found:
        for value in row[name] if isinstance(row[name], list) else [row[name]]:
            if isinstance(value, dict) and "labels" in value:
                regions = [*(regions or []), value]
            else:
                controls.setdefault(name, []).extend(_choices(value, name, place))
    rest = {name: value for name, value in data.items() if name not in (key, "source", *found)}
    for said in said_of(controls, regions, text, categories, place) or [{}]:
        yield LabelledText(
            text=text,
            annotator=annotator_of(row.get("annotator")),
            source=string_in(row, "source", place),
            given=time_in(row, "created_at", place),
            seconds=number_in(row, "lead_time", place),
            extra={"data": rest} if rest else {},
            **said,
        )


def _control_names(row: Record) -> list[str] | None:
    names = list(row)
    if "id" not in row or "annotator" not in row or names.index("annotator") < names.index("id"):
        return None
    return names[names.index("id") + 1 : names.index("annotator")]


def _guessed(data: Record, categories: Sequence[str], place: Place) -> list[str]:
    """Tell controls by what they say, where the order of a row doesn't tell them from data."""
    names = []
    for name, value in data.items():
        if name in ("text", "source"):
            continue
        if isinstance(value, str) and not categories:
            raise BadLabel(
                f"It can't be told whether '{name:.60}' is {shown(value)} in the data or by an annotator.",
                "Give the categories, or export as JSON rather than JSON-MIN.",
                place,
            )
        if not isinstance(value, str) or value in categories or (name in categories and value.lower() in YES):
            names.append(name)
    return [name for name in names if isinstance(data[name], str | dict | list)]


def _choices(value: Any, name: str, place: Place) -> list[Any]:  # noqa: ANN401 - whatever a file holds
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict) and isinstance(value.get("choices"), list):
        return list(value["choices"])
    raise BadLabel(
        f"'{name:.60}' is {shown(value)}, neither choices nor labels.",
        "Export from a project that asks for those.",
        place,
    )
