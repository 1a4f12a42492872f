"""Label Studio's JSON: a list of tasks, each with the annotations of one text; JSON-MIN is read as well.

A result of type choices is a complete list of categories, or the one class. Yes or no to a single category is a
result whose `from_name` is the category and whose choice is yes or no. A result of type labels is an entity. Its
offsets count characters; old versions counted UTF-16 units, so both are tried against the entity's text. Predictions
are passed over. What Label Studio has no place for stands under `limbeck`, which its import ignores. See
https://labelstud.io/guide/task_format and https://labelstud.io/guide/export.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from limbeck.annotate.exchange import label_studio_min
from limbeck.annotate.exchange.agreed import OTHER_TASK, check_names, fits
from limbeck.annotate.exchange.checks import checked_text, number_in, shown, string_in
from limbeck.annotate.exchange.label_studio_values import (
    YES,
    annotator_of,
    as_annotator,
    as_time,
    said_of,
    text_key,
    time_in,
)
from limbeck.annotate.exchange.labelled import VERDICTS, LabelledText, Task
from limbeck.annotate.exchange.reading import Record, read_elements
from limbeck.annotate.exchange.writing import Written, as_json
from limbeck.errors import BadLabel, BrokenRow, DataError, Place

# What an annotation without a result says, by what the file's other annotations are about.
_NOTHING: dict[str, dict[str, Any]] = {"spans": {"spans": ()}, "complete": {"complete": frozenset()}, "known": {}}


def read(path: Path, categories: Sequence[str]) -> Iterator[LabelledText]:
    """Stream a file's annotations.

    Those without a result are held back until another one tells what was asked: entities or categories.
    """
    asked = ""
    waiting: list[tuple[Place, LabelledText]] = []
    for place, task in read_elements(path):
        for label in _labels_in(task, categories, place):
            waiting.append((place, label))
            asked = asked or _about(label)
        if asked:
            yield from _settled(waiting, asked)
            waiting = []
    for place, label in waiting:
        if label.verdict == "label":
            raise BadLabel(
                "No annotation of the file has a result, so that it can't be told what was asked.",
                "Export at least one text with a label.",
                place,
            )
        yield label


def rows(labels: Iterable[LabelledText], task: Task, categories: Sequence[str], written: Written) -> Iterator[str]:
    """Give each text as a task, with an annotation for everything that was said of it."""
    texts: dict[str, list[LabelledText]] = {}
    for label in labels:
        if label.verdict == "label" and not fits(label, task):
            written.note(OTHER_TASK, label.text)
            continue
        check_names(label, categories)
        texts.setdefault(label.text, []).append(label)
    yield "["
    number = 0
    for text, said in texts.items():
        annotations = [_annotation(label, number + at) for at, label in enumerate(said, 1)]
        number += len(said)
        data = {**_part(said[0], "data"), "text": text}
        source = next((label.source for label in said if label.source), "")
        if source:
            data["source"] = source
        yield ",\n" if written.rows else "\n"
        written.rows += 1
        yield as_json({"id": written.rows, "data": data, "annotations": annotations, "predictions": []}, text)
    yield "\n]\n"


def _about(label: LabelledText) -> str:
    if label.spans is not None:
        return "spans"
    return "complete" if label.complete is not None else "known" if label.known else ""


def _settled(waiting: Iterable[tuple[Place, LabelledText]], asked: str) -> Iterator[LabelledText]:
    for _, label in waiting:
        if label.verdict != "label" or _about(label):
            yield label
        elif _NOTHING[asked]:
            yield replace(label, **_NOTHING[asked])


def _labels_in(task: Record, categories: Sequence[str], place: Place) -> Iterator[LabelledText]:
    data = task.get("data")
    annotations = task.get("annotations", task.get("completions"))
    if annotations is None and not isinstance(data, dict):
        yield from label_studio_min.labels_in(task, categories, place)
        return
    if not isinstance(data, dict) or not isinstance(annotations or [], list):
        raise BrokenRow(
            f"Task {shown(task.get('id'))}: 'data' is no object, or 'annotations' no list.", "Export it again.", place
        )
    for annotation in annotations or ():
        if not isinstance(annotation, dict):
            raise BrokenRow(f"Task {shown(task.get('id'))}: an annotation is {shown(annotation)}.", "Mend it.", place)
        try:
            yield from _labels_of(annotation, data, categories, place)
        except DataError as error:
            # Most of these files are a single line, so the line alone says little.
            error.message = f"Task {shown(task.get('id'))}, annotation {shown(annotation.get('id'))}: {error.message}"
            raise


def _labels_of(annotation: Record, data: Record, categories: Sequence[str], place: Place) -> Iterator[LabelledText]:
    key = text_key(data, place)
    text = checked_text(data[key], place)
    ours = annotation.get("limbeck")
    ours = ours if isinstance(ours, dict) else {}
    rest = {name: value for name, value in data.items() if name not in (key, "source")}
    label = LabelledText(
        text=text,
        annotator=string_in(ours, "annotator", place) or annotator_of(annotation.get("completed_by")),
        verdict=_verdict(annotation, ours),
        source=string_in(data, "source", place),
        given=time_in(annotation, "created_at", place),
        seconds=number_in(annotation, "lead_time", place),
        origin=string_in(ours, "origin", place) or "import",
    )
    controls, regions, others, names = _sorted_results(annotation.get("result"), place)
    extra = {"data": rest, "results": others, **names}
    label = replace(label, extra={name: value for name, value in extra.items() if value})
    if label.verdict != "label":
        yield label
        return
    if not controls and regions is None and others:
        raise BrokenRow(
            f"Its results are of the type {', '.join(sorted({str(one.get('type')) for one in others}))}.",
            "Export from a project that asks for choices or labels.",
            place,
        )
    for said in said_of(controls, regions, text, categories, place) or [_NOTHING.get(str(ours.get("asked")), {})]:
        yield replace(label, **said)


def _verdict(annotation: Record, ours: Record) -> str:
    # Called skipped before version 1.0.
    if not (annotation.get("was_cancelled") or annotation.get("skipped")):
        return "label"
    return ours["verdict"] if ours.get("verdict") in VERDICTS[1:] else "skip"


def _sorted_results(
    results: Any,  # noqa: ANN401 - whatever a file holds
    place: Place,
) -> tuple[dict[str, list[Any]], list[Record] | None, list[Record], dict[str, str]]:
    """Give choices by their control, entities, what else there is, and the names of the control and of the text."""
    controls: dict[str, list[Any]] = {}
    regions: list[Record] | None = None
    others: list[Record] = []
    names: dict[str, str] = {}
    if not isinstance(results or [], list):
        raise BrokenRow(f"The result is {shown(results)}, not a list.", "Export it again.", place)
    for result in results or ():
        if not isinstance(result, dict):
            raise BrokenRow(f"A result is {shown(result)}, not an object.", "Export it again.", place)
        kind, control, value = str(result.get("type")), str(result.get("from_name")), result.get("value")
        if kind == "choices" and isinstance(value, dict) and "start" not in value:
            controls.setdefault(control, []).extend(_choices(value, place))
        elif kind == "labels" and isinstance(value, dict):
            regions = [*(regions or []), value]
        elif kind.endswith("labels"):
            raise BrokenRow(f"A result is of type {kind}.", "Only labels of plain text can be read.", place)
        else:
            # Among them choices with a start, which are about a part of the text.
            others.append(result)
            continue
        names = names or {"from_name": control, "to_name": str(result.get("to_name"))}
    return controls, regions, others, names


def _choices(value: Record, place: Place) -> list[Any]:
    choices = value.get("choices")
    if not isinstance(choices, list):
        raise BadLabel(f"The choices are {shown(choices)}, not a list.", "Export it again.", place)
    return choices


def _part(label: LabelledText, key: str) -> Record:
    part = label.extra.get(key)
    return part if isinstance(part, dict) else {}


def _annotation(label: LabelledText, number: int) -> Record:
    annotation: Record = {
        "id": number,
        "result": _results(label, number),
        "was_cancelled": label.verdict != "label",
        # Label Studio takes an annotation for ground truth if it isn't told otherwise.
        "ground_truth": False,
    }
    known = as_annotator(label.annotator)
    ours = {
        "annotator": label.annotator if annotator_of(known) != label.annotator else "",
        "verdict": label.verdict if label.verdict not in ("label", "skip") else "",
        "origin": label.origin if label.origin != "import" else "",
        "asked": _about(label) if not annotation["result"] else "",
    }
    rest = {
        "completed_by": known,
        "lead_time": label.seconds,
        "created_at": None if label.given is None else as_time(label.given),
        "limbeck": {name: value for name, value in ours.items() if value} or None,
    }
    return {**annotation, **{name: value for name, value in rest.items() if value is not None}}


def _results(label: LabelledText, number: int) -> list[Record]:
    said: list[tuple[str, str, Record]] = []
    control = label.extra.get("from_name")
    for name, yes in label.known.items():
        said.append((name, "choices", {"choices": [next(word for word, means in YES.items() if means == yes)]}))
    if label.complete:
        said.append((str(control or "category"), "choices", {"choices": sorted(label.complete)}))
    for span in label.spans or ():
        quote = label.text[span.start : span.end].replace("\n", "\\n")
        value = {"start": span.start, "end": span.end, "text": quote, "labels": [span.type]}
        said.append((str(control or "label"), "labels", value))
    to = str(label.extra.get("to_name") or "text")
    others = label.extra.get("results")
    return [
        {"id": f"{number}-{at}", "from_name": name, "to_name": to, "type": kind, "value": value}
        for at, (name, kind, value) in enumerate(said, 1)
    ] + (others if isinstance(others, list) else [])
