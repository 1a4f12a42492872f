"""Prodigy's jsonl, one task a line: https://prodi.gy/docs/api-interfaces.

A task with a `label` is yes (accept) or no (reject) to one category. One with `options` has those that apply in
`accept`: with them all is said of the options, or the one class. One of the manual views of entities has `spans` by
characters, and with the numbers of their first and last word in `tokens`. The answer ignore skips a task; so does
reject where the task is no question of yes or no.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from limbeck.annotate.exchange.agreed import OTHER_TASK, check_names, fits
from limbeck.annotate.exchange.checks import checked_name, checked_spans, number_in, shown, span_in, string_in, text_in
from limbeck.annotate.exchange.labelled import VERDICTS, LabelledText, Task
from limbeck.annotate.exchange.reading import Record, read_objects
from limbeck.annotate.exchange.writing import Written, as_json
from limbeck.errors import BadLabel, BrokenRow, Place
from limbeck.scorer import Span
from limbeck.text.words import words

ANSWERS = ("accept", "reject", "ignore")
_MARKS = frozenset("_input_hash _task_hash _view_id _session_id _annotator_id _is_binary options accept".split())
_MANUAL = ("ner_manual", "spans_manual")
_USED = frozenset("text answer label accept spans _annotator_id _timestamp verdict origin seconds".split())
# Parts of a task that are true of it whatever was answered, so that they can be written again.
_KEPT = frozenset("_input_hash _task_hash _session_id meta".split())


def read(path: Path, categories: Sequence[str]) -> Iterator[LabelledText]:
    """Stream a file's answers; a task without one counts as accepted, as it does for Prodigy's own import."""
    for place, record in read_objects(path):
        yield from _labels_in(record, categories, place)


def rows(labels: Iterable[LabelledText], task: Task, categories: Sequence[str], written: Written) -> Iterator[str]:
    """Give each judgement as a task; yes or no to several categories as several."""
    for label in labels:
        check_names(label, categories)
        if label.verdict == "label" and not fits(label, task):
            written.note(OTHER_TASK, label.text)
            continue
        for told in _tasks(label, task, categories):
            written.rows += 1
            yield as_json(told, label.text) + "\n"


def is_one(record: Record) -> bool:
    """Say whether an object is a task of Prodigy."""
    return record.get("answer") in ANSWERS or not _MARKS.isdisjoint(record)


def _labels_in(record: Record, categories: Sequence[str], place: Place) -> Iterator[LabelledText]:
    text = text_in(record, place)
    answer = record.get("answer", "accept")
    if answer not in ANSWERS:
        raise BadLabel(f"The answer is {shown(answer)}.", f"Write one of: {', '.join(ANSWERS)}.", place)
    said = [] if answer == "ignore" else _said(record, text, answer == "accept", categories, place)
    meta = record.get("meta")
    source = meta.get("source") if isinstance(meta, dict) else None
    verdict = record["verdict"] if record.get("verdict") in VERDICTS[1:] else "skip"
    for value in said or [{"verdict": verdict}]:
        yield LabelledText(
            text=text,
            annotator=string_in(record, "_annotator_id", place) or string_in(record, "_session_id", place),
            source=source if isinstance(source, str) else "",
            given=number_in(record, "_timestamp", place),
            seconds=number_in(record, "seconds", place),
            origin=string_in(record, "origin", place) or "import",
            extra={name: part for name, part in record.items() if name not in _USED},
            **value,
        )


def _said(record: Record, text: str, accepted: bool, categories: Sequence[str], place: Place) -> list[dict[str, Any]]:
    """Give what an answer says as fields of judgements; none if it only rejects the task."""
    view = record.get("_view_id")
    said: list[dict[str, Any]] = []
    if "options" in record or "accept" in record:
        if not accepted:
            return []
        said += _choice(record, categories, place)
        if view != "blocks" or "tokens" not in record:
            return said
    elif isinstance(record.get("label"), str):
        return [{"known": {checked_name(record["label"], categories, place): accepted}}]
    if "spans" not in record and view not in _MANUAL and not said:
        raise BrokenRow(
            "The task has neither a label nor options nor spans.",
            "Export a dataset of textcat or of ner.manual.",
            place,
        )
    if view == "ner" or record.get("_is_binary") is True:
        raise BrokenRow(
            "The task is a yes or no to a single entity, which doesn't tell all entities of the text.",
            "Export a dataset of ner.manual or ner.correct.",
            place,
        )
    if not accepted:
        return []
    return [*said, {"spans": _spans(record.get("spans"), text, categories, place)}]


def _choice(record: Record, categories: Sequence[str], place: Place) -> list[dict[str, Any]]:
    accepted = _names(record.get("accept"), categories, place)
    options = _names([_id(option) for option in _list(record.get("options"), place)], categories, place)
    if options and not accepted <= options:
        raise BadLabel(
            f"{', '.join(sorted(accepted - options))} was accepted, but is no option.", "Mend the task.", place
        )
    config = record.get("config")
    if isinstance(config, dict) and config.get("choice_style") == "single":
        # The one that was chosen rules out all others, even those that were no option.
        return [{"complete": accepted}] if accepted else []
    if options and not options.issuperset(categories):
        return [{"known": {name: name in accepted for name in sorted(options)}}]
    return [{"complete": accepted}]


def _id(option: Any) -> Any:  # noqa: ANN401 - whatever a file holds
    return option.get("id") if isinstance(option, dict) else option


def _names(told: Any, categories: Sequence[str], place: Place) -> frozenset[str]:  # noqa: ANN401 - as above
    # The id of an option may be a number.
    names = [str(name) if type(name) is int else name for name in _list(told, place)]
    return frozenset(checked_name(name, categories, place) for name in names)


def _list(told: Any, place: Place) -> list[Any]:  # noqa: ANN401 - as above
    if not isinstance(told, list | None):
        raise BrokenRow(f"A part of the task is {shown(told)}, not a list.", "Mend it.", place)
    return told or []


def _spans(told: Any, text: str, categories: Sequence[str], place: Place) -> tuple[Span, ...]:  # noqa: ANN401 - as above
    spans = [span_in(one, "label", place) for one in _list(told, place)]
    return checked_spans(sorted(spans, key=lambda span: span.start), text, categories, place)


def _tasks(label: LabelledText, task: Task, categories: Sequence[str]) -> Iterator[Record]:
    common = _common(label)
    if label.verdict != "label":
        unknown = {} if label.verdict == "skip" else {"verdict": label.verdict}
        yield {"text": label.text, **common, **unknown, "answer": "ignore"}
    for name, yes in label.known.items():
        answer = "accept" if yes else "reject"
        yield {"text": label.text, "label": name, **common, "_view_id": "classification", "answer": answer}
    if label.complete is not None:
        yield {
            "text": label.text,
            "options": [{"id": name, "text": name} for name in categories or sorted(label.complete)],
            **common,
            "_view_id": "choice",
            "config": {"choice_style": "single" if task == "multiclass" else "multiple"},
            "accept": sorted(label.complete),
            "answer": "accept",
        }
    if label.spans is not None:
        tokens = _tokens(label.text, label.spans)
        told = {"tokens": tokens, "_view_id": "ner_manual", "spans": _word_spans(label.spans, tokens)}
        yield {"text": label.text, **common, **told, "answer": "accept"}


def _common(label: LabelledText) -> Record:
    common = {name: part for name, part in label.extra.items() if name in _KEPT}
    meta = common.get("meta")
    if label.source:
        common["meta"] = {**(meta if isinstance(meta, dict) else {}), "source": label.source}
    if label.annotator:
        common = {"_session_id": label.annotator, **common, "_annotator_id": label.annotator}
    if label.given is not None:
        common["_timestamp"] = int(label.given)
    if label.seconds is not None:
        common["seconds"] = label.seconds
    if label.origin != "import":
        common["origin"] = label.origin
    return common


def _tokens(text: str, spans: Sequence[Span]) -> list[Record]:
    """Give the words of a text, cut where an entity begins or ends within one, as Prodigy has them."""
    cuts = sorted({cut for span in spans for cut in (span.start, span.end)})
    pieces: list[tuple[int, int]] = []
    for start, end in words(text):
        inside = cuts[bisect_right(cuts, start) : bisect_left(cuts, end)]
        pieces += pairwise([start, *inside, end])
    return [
        {"text": text[start:end], "start": start, "end": end, "id": number, "ws": text[end : end + 1].isspace()}
        for number, (start, end) in enumerate(pieces)
    ]


def _word_spans(spans: Sequence[Span], tokens: Sequence[Record]) -> list[Record]:
    """Give entities with their first and last word, which are left away if one is all white space."""
    starts, ends = [token["start"] for token in tokens], [token["end"] for token in tokens]
    told = []
    for span in spans:
        first, after = bisect_right(ends, span.start), bisect_left(starts, span.end)
        place = {"token_start": first, "token_end": after - 1} if first < after else {}
        told.append({"start": span.start, "end": span.end, **place, "label": span.type})
    return told
