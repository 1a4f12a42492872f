"""Between the store and files: what annotators said as labelled texts, and labelled texts as answers."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from sqlalchemy import Connection, insert, select, update

from limbeck.annotate.asked import Question, checked_name
from limbeck.annotate.exchange import LabelledText, Task
from limbeck.annotate.judged import holding
from limbeck.annotate.schema import judgements, texts
from limbeck.annotate.store import Store
from limbeck.annotate.texts import NewText, plain, storable
from limbeck.scorer import Span

IMPORT = "import"
_TOGETHER = 200


def labels_of(store: Store, task: Task) -> Iterator[LabelledText]:
    """Give the answers that hold, one by one."""
    for one in holding(store):
        about: dict[str, Any] = {}
        if one.verdict == "label":
            if isinstance(one.value, bool):
                about = {"known": {one.category: one.value}}
            elif isinstance(one.value, list):
                about = {"spans": tuple(Span(s["start"], s["end"], s["type"]) for s in one.value)}
            elif task == "multiclass":
                about = {"complete": frozenset(one.value["labels"])}
            else:
                about = {"known": {name: name in one.value["labels"] for name in one.value["asked"]}}
        elif one.category:
            about = {"extra": {"category": one.category}}
        yield LabelledText(
            one.text,
            one.annotator,
            one.verdict,
            source=one.source,
            given=one.given,
            seconds=one.seconds,
            origin=one.origin,
            **about,
        )


def keep_labels(store: Store, labels: Iterable[LabelledText], task: Task, categories: Sequence[str]) -> tuple[int, int]:
    """Keep labelled texts as answers; give how many were new, and how many were there already.

    A later answer of the same annotator about the same text takes the place of the earlier one. `categories` are those
    that a complete list is about.
    """
    new = same = 0
    stream = iter(labels)
    while page := list(islice(stream, _TOGETHER)):
        added, known = store.write(lambda connection, page=page: _keep(connection, store, page, task, categories))  # type: ignore[misc]
        new, same = new + added, same + known
    return new, same


def _keep(
    connection: Connection, store: Store, page: Sequence[LabelledText], task: Task, categories: Sequence[str]
) -> tuple[int, int]:
    answers = [(one, *cell) for one in page for cell in _cells(one, task, categories)]
    kept = store.add_within(connection, [NewText(one.text, one.source or IMPORT, IMPORT) for one, _, _ in answers])
    known = select(texts.c.public_id, texts.c.id).where(texts.c.public_id.in_(set(kept)))
    row_of = dict(connection.execute(known).tuples().all())
    now, added = time.time(), 0
    for (one, category, value), name in zip(answers, kept, strict=True):
        annotator = checked_name(storable(one.annotator) or IMPORT)
        here = (
            judgements.c.text_id == row_of[name],
            judgements.c.category == storable(category),
            judgements.c.annotator == annotator,
            judgements.c.undone.is_(None),
        )
        old = connection.execute(select(judgements.c.verdict, judgements.c.value).where(*here)).first()
        if old is not None and tuple(old) == (one.verdict, value):
            continue
        given = now if one.given is None else one.given
        connection.execute(update(judgements).where(*here).values(undone=given))
        row = {
            "text_id": row_of[name],
            "category": storable(category),
            "annotator": annotator,
            "origin": storable(one.origin),
            "verdict": one.verdict,
            "value": plain(value),
            "seconds": plain(one.seconds),
            "given": given,
        }
        connection.execute(insert(judgements), row)
        added += 1
    return added, len(answers) - added


def _cells(one: LabelledText, task: Task, categories: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """Give what a labelled text answers: the category of the question, and the value as the store holds it."""
    if one.verdict != "label":
        yield str(one.extra.get("category", "")), None
    elif one.spans is not None:
        spans = [{"start": span.start, "end": span.end, "type": span.type} for span in one.spans]
        yield "", Question("spans", tuple({span.type for span in one.spans})).checked(spans, one.text)
    elif one.complete is not None:
        asked = list(categories) or sorted(one.complete)
        named = [name for name in asked if name in one.complete]
        yield "", {"labels": named if task != "multiclass" else sorted(one.complete), "asked": asked}
    else:
        yield from one.known.items()


def as_text(value: Any) -> str:  # noqa: ANN401 - as a judgement holds it
    """Give a value as something that can be compared and shown."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
