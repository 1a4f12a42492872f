"""What annotators said: the answers that hold, and how far and how fast they got."""

from __future__ import annotations

import json
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import ColumnElement, Connection, Text, cast, func, select

from limbeck.annotate.asked import Judgement, Question
from limbeck.annotate.schema import judgements, texts
from limbeck.annotate.store import Store
from limbeck.annotate.texts import storable

_PAGE = 500
# The pace of the last while, not that of a whole day with its breaks.
RECENT_SECONDS = 600.0
LAST_TIMED = 200
_SHOWN = (
    judgements.c.id,
    texts.c.public_id,
    texts.c.text,
    texts.c.source,
    *(
        judgements.c[name]
        for name in ("category annotator origin verdict value strategy guess guess_shown seconds given".split())
    ),
)


def holding(store: Store, category: str | None = None) -> Iterator[Judgement]:
    """Give the answers that nobody took back, of one category or of all, in the order in which they came."""
    last = 0
    while page := _page(store, category, last):
        for number, judgement in page:
            last = number
            yield judgement


def _page(store: Store, category: str | None, last: int) -> list[tuple[int, Judgement]]:
    wanted = select(*_SHOWN).join(texts, texts.c.id == judgements.c.text_id)
    wanted = wanted.where(judgements.c.undone.is_(None), judgements.c.id > last).order_by(judgements.c.id).limit(_PAGE)
    if category is not None:
        wanted = wanted.where(judgements.c.category == storable(category))

    def work(connection: Connection) -> list[tuple[int, Judgement]]:
        return [
            (row["id"], Judgement(**{k: v for k, v in row.items() if k != "id"}))
            for row in connection.execute(wanted).mappings()
        ]

    return store.read(work)


@dataclass
class Tally:
    """How far annotators are with a question.

    `balance` counts labels by category, and by True and False for a single one; `pace` is in answers a minute, over
    the last ten minutes that somebody worked.
    """

    labels: int = 0
    skipped: int = 0
    unknown: int = 0
    texts: int = 0
    by_annotator: Counter[str] = field(default_factory=Counter)
    by_strategy: Counter[str] = field(default_factory=Counter)
    balance: Counter[str] = field(default_factory=Counter)
    seconds: float | None = None
    pace: float | None = None


def tally(store: Store, question: Question, annotator: str | None = None, now: float | None = None) -> Tally:
    """Count a question's answers; median seconds and pace are those of `annotator`, if one is named."""
    moment = time.time() if now is None else now
    held = (judgements.c.category == storable(question.category), judgements.c.undone.is_(None))
    labels = (*held, judgements.c.verdict == "label")
    mine = (*held, judgements.c.origin == "person", *((judgements.c.annotator == annotator,) if annotator else ()))
    value = cast(judgements.c.value, Text)

    def work(connection: Connection) -> Tally:
        def counted(column: ColumnElement[Any], *which: ColumnElement[bool]) -> dict[Any, int]:
            found = connection.execute(select(column, func.count()).where(*which).group_by(column))
            return dict(found.tuples().all())

        verdicts = counted(judgements.c.verdict, *held)
        found = Tally(
            verdicts.get("label", 0),
            verdicts.get("skip", 0),
            verdicts.get("don't know", 0),
            connection.scalar(select(func.count(judgements.c.text_id.distinct())).where(*labels)) or 0,
            Counter(counted(judgements.c.annotator, *labels)),
            Counter({name or "none": number for name, number in counted(judgements.c.strategy, *labels).items()}),
        )
        for told, number in counted(value, *labels).items():
            found.balance.update(dict.fromkeys(_names(question, json.loads(told)), number))
        recent = select(judgements.c.given).where(*mine, judgements.c.given > moment - RECENT_SECONDS)
        times = sorted(connection.scalars(recent))
        if len(times) > 1 and times[-1] > times[0]:
            found.pace = 60 * (len(times) - 1) / (times[-1] - times[0])
        last = select(judgements.c.seconds).where(*mine, *labels, judgements.c.seconds.is_not(None))
        taken = sorted(connection.scalars(last.order_by(judgements.c.id.desc()).limit(LAST_TIMED)))
        found.seconds = taken[len(taken) // 2] if taken else None
        return found

    return store.read(work)


def _names(question: Question, value: Any) -> list[str]:  # noqa: ANN401 - as a judgement holds it
    """Give what a value counts as; of a type of entity that occurs twice in a text, once."""
    if question.mode == "binary":
        return ["yes" if value else "no"]
    if question.mode == "spans":
        return sorted({span["type"] for span in value})
    return list(value["labels"])


def agreed(store: Store) -> dict[tuple[str, str], Any]:
    """Give what holds of each text and category after all annotators: the majority, and nothing where they tie."""
    said: dict[tuple[str, str], list[Judgement]] = defaultdict(list)
    for one in holding(store):
        if one.verdict == "label":
            said[one.text, one.category].append(one)
    found = {}
    for key, several in said.items():
        counted = Counter(repr(one.value) for one in several).most_common(2)
        if len(counted) == 1 or counted[0][1] > counted[1][1]:
            found[key] = next(one.value for one in several if repr(one.value) == counted[0][0])
    return found
