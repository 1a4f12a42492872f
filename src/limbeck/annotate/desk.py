"""The annotators' desk: who gets which text, what they say of it, and taking it back.

A text on somebody's screen is leased: nobody else gets it until it is answered, handed back, or the lease ends. All
of it is in the store, so desks of several processes on several machines work from one queue.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import ColumnElement, Connection, RowMapping, and_, delete, exists, func, insert, or_, select, update

from limbeck.annotate.asked import VERDICTS, Answer, Question, Task, Wanted, checked_name
from limbeck.annotate.schema import judgements, leases, reasons, texts
from limbeck.annotate.store import Store
from limbeck.annotate.texts import plain, storable
from limbeck.errors import AnswerLate, AnswerRefused

LEASE_SECONDS = 900.0
# Texts that are looked at for each that is wanted: others may take some of them at the same moment.
_SPARE = 8
# Nobody takes longer over one text: a tab was left open.
LONGEST = 3600.0
# Statements have a bounded number of parameters.
_PAGE = 500


class Desk:
    """The queue of one question in a store."""

    def __init__(self, store: Store, question: Question, lease_seconds: float = LEASE_SECONDS) -> None:
        """Ask `question`; who keeps a text longer than `lease_seconds` may lose it to somebody else."""
        self.store, self.question = store, question
        self._lease_seconds = lease_seconds
        self._category = storable(question.category)

    def queue(self, wanted: Sequence[Wanted], instead_of: Sequence[str] = ()) -> None:
        """Put texts in the queue, instead of those that the strategies `instead_of` put there and nobody has touched.

        A text that was asked for already has the new reason and place, once.
        """
        new = [replace(one.text, category=self._category, urgency=one.urgency) for one in wanted]

        def work(connection: Connection) -> None:
            if instead_of:
                self._forget(connection, [storable(name) for name in instead_of])
            kept = self.store.add_within(connection, new)
            for people in {one.people for one in wanted}:
                mine = [name for name, one in zip(kept, wanted, strict=True) if one.people == people]
                for some in _pages(mine):
                    connection.execute(update(texts).where(texts.c.public_id.in_(some)).values(wanted=people))

        self.store.write(work)

    def next(self, annotator: str, count: int = 1, now: float | None = None) -> list[Task]:
        """Lease texts to an annotator, the most urgent first; those that are leased to the same one come again."""
        name, moment = checked_name(annotator), time.time() if now is None else now
        return self.store.write(lambda connection: self._lease(connection, name, count, moment))

    def answer(self, answer: Answer, now: float | None = None) -> int:
        """Keep an answer and give its number; the same answer sent twice is kept once.

        A later answer of the same annotator takes the place of the earlier one.
        """
        if answer.verdict not in VERDICTS:
            raise AnswerRefused(f"'{answer.verdict:.40}' is no verdict.", f"Known are: {', '.join(VERDICTS)}.")
        name, moment = checked_name(answer.annotator), time.time() if now is None else now
        given = replace(answer, annotator=name)
        return self.store.write(lambda connection: self._answer(connection, given, moment))

    def undo(self, annotator: str, now: float | None = None) -> Task | None:
        """Take an annotator's last answer back and lease its text again; what that answer replaced holds once more."""
        name, moment = checked_name(annotator), time.time() if now is None else now
        return self.store.write(lambda connection: self._undo(connection, name, moment))

    def release(self, annotator: str) -> int:
        """Hand back what an annotator has on the screen, and say how many texts."""
        mine = and_(leases.c.annotator == checked_name(annotator), leases.c.category == self._category)
        return self.store.write(lambda connection: connection.execute(delete(leases).where(mine)).rowcount)

    def waiting(self) -> int:
        """Count the texts in the queue that still want an answer."""
        every = select(func.count(texts.c.id.distinct())).select_from(texts.join(reasons)).where(*self._asked())
        return self.store.read(
            lambda connection: connection.scalar(every.where(_labels_of_all() < texts.c.wanted)) or 0
        )

    def _asked(self) -> list[ColumnElement[bool]]:
        return [reasons.c.category == self._category, reasons.c.score.is_not(None)]

    def _lease(self, connection: Connection, annotator: str, count: int, now: float) -> list[Task]:
        connection.execute(delete(leases).where(leases.c.category == self._category, leases.c.until < now))
        urgent = self._urgent()
        mine = (
            select(leases.c.text_id)
            .outerjoin(urgent, urgent.c.text_id == leases.c.text_id)
            .where(leases.c.annotator == annotator, leases.c.category == self._category)
            .order_by(urgent.c.score.desc().nulls_first(), leases.c.text_id)
        )
        held = list(connection.scalars(mine.limit(count)))
        until = now + self._lease_seconds
        if held:
            again = and_(
                leases.c.text_id.in_(held), leases.c.annotator == annotator, leases.c.category == self._category
            )
            connection.execute(update(leases).where(again).values(until=until))
        if len(held) < count:
            held += self._take(connection, annotator, count - len(held), until)
        return self._tasks(connection, held, until)

    def _take(self, connection: Connection, annotator: str, count: int, until: float) -> list[int]:
        """Lease free texts. They are locked first: who comes at the same moment looks at others."""
        urgent = self._urgent()
        free = (
            select(texts.c.id, texts.c.wanted)
            .join(urgent, urgent.c.text_id == texts.c.id)
            .where(~self._said(annotator), ~self._leased(annotator), self._used() < texts.c.wanted)
            .order_by(urgent.c.score.desc(), texts.c.id)
            .limit(count + _SPARE)
        )
        locked = connection.execute(free.with_for_update(of=texts, skip_locked=True)).all()
        # Counted again: before the lock, somebody may have taken one.
        still = select(texts.c.id, self._used()).where(texts.c.id.in_([row for row, _ in locked]))
        used = {row: number for row, number in connection.execute(still)}
        found: list[int] = []
        for row, people in locked:
            if len(found) < count and used[row] < people:
                slots = set(connection.scalars(self._slots(row)))
                slot = next(number for number in range(people + len(slots)) if number not in slots)
                connection.execute(
                    insert(leases),
                    {"text_id": row, "category": self._category, "slot": slot, "annotator": annotator, "until": until},
                )
                found.append(row)
        return found

    def _urgent(self) -> Any:  # noqa: ANN401 - a statement
        urgency = func.max(reasons.c.score).label("score")
        return select(reasons.c.text_id, urgency).where(*self._asked()).group_by(reasons.c.text_id).subquery()

    def _slots(self, row: int) -> Any:  # noqa: ANN401 - a statement
        return select(leases.c.slot).where(leases.c.text_id == row, leases.c.category == self._category)

    def _said(self, annotator: str) -> ColumnElement[bool]:
        return exists().where(
            judgements.c.text_id == texts.c.id,
            judgements.c.category == self._category,
            judgements.c.annotator == annotator,
            judgements.c.undone.is_(None),
        )

    def _leased(self, annotator: str) -> ColumnElement[bool]:
        return exists().where(
            leases.c.text_id == texts.c.id, leases.c.category == self._category, leases.c.annotator == annotator
        )

    def _used(self, besides: str | None = None) -> Any:  # noqa: ANN401 - a number of the database
        """Count who has labelled a text or has it on the screen."""
        labelled = select(func.count()).where(
            judgements.c.text_id == texts.c.id,
            judgements.c.category == self._category,
            judgements.c.verdict == "label",
            judgements.c.undone.is_(None),
        )
        leased = select(func.count()).where(leases.c.text_id == texts.c.id, leases.c.category == self._category)
        if besides is not None:
            labelled = labelled.where(judgements.c.annotator != besides)
            leased = leased.where(leases.c.annotator != besides)
        return labelled.correlate(texts).scalar_subquery() + leased.correlate(texts).scalar_subquery()

    def _tasks(self, connection: Connection, rows: Sequence[int], until: float) -> list[Task]:
        if not rows:
            return []
        why = select(reasons.c.text_id, reasons.c.reason).where(reasons.c.text_id.in_(rows), *self._asked())
        strategy_of = dict(connection.execute(why.order_by(reasons.c.score)).tuples().all())
        found = connection.execute(select(texts).where(texts.c.id.in_(rows))).mappings()
        by_row = {row["id"]: row for row in found}
        return [
            Task(by_row[row]["public_id"], by_row[row]["text"], strategy_of.get(row), _guess(by_row[row]), until)
            for row in rows
        ]

    def _answer(self, connection: Connection, given: Answer, now: float) -> int:
        wanted = select(texts).where(texts.c.public_id == storable(given.public_id))
        text = connection.execute(wanted.with_for_update(key_share=True)).mappings().first()
        if text is None:
            raise AnswerRefused(f"There is no text '{given.public_id:.40}'.", "Ask for the next text.")
        value = self.question.checked(given.value, text["text"]) if given.verdict == "label" else None
        old = self._holding(connection, text["id"], given.annotator)
        if old is not None and (old["verdict"], old["value"]) == (given.verdict, value):
            self._drop_lease(connection, text["id"], given.annotator)
            return int(old["id"])
        if old is None and not self._mine_or_free(connection, text["id"], given.annotator, now):
            raise AnswerLate("Somebody else has this text by now.", "Go on with the next one.")
        if old is not None:
            connection.execute(update(judgements).where(judgements.c.id == old["id"]).values(undone=now))
        why = select(reasons.c.reason).where(reasons.c.text_id == text["id"], *self._asked())
        row = {
            "text_id": text["id"],
            "category": self._category,
            "annotator": given.annotator,
            "origin": given.origin,
            "verdict": given.verdict,
            "value": plain(value),
            "strategy": connection.scalar(why.order_by(reasons.c.score.desc()).limit(1)),
            "model": text["model"],
            "version": text["version"],
            "guess": _guess(text) or None,
            "guess_shown": given.guess_shown,
            "seconds": None if given.seconds is None else min(max(0.0, given.seconds), LONGEST),
            "given": now,
        }
        self._drop_lease(connection, text["id"], given.annotator)
        return int(connection.execute(insert(judgements).returning(judgements.c.id), row).scalar_one())

    def _mine_or_free(self, connection: Connection, row: int, annotator: str, now: float) -> bool:
        here = (leases.c.text_id == row, leases.c.category == self._category)
        if connection.scalar(select(leases.c.until).where(*here, leases.c.annotator == annotator)) is not None:
            return True
        connection.execute(delete(leases).where(*here, leases.c.until < now))
        return bool(connection.scalar(select(self._used(besides=annotator) < texts.c.wanted).where(texts.c.id == row)))

    def _holding(self, connection: Connection, row: int, annotator: str) -> RowMapping | None:
        holding = select(judgements).where(
            judgements.c.text_id == row,
            judgements.c.category == self._category,
            judgements.c.annotator == annotator,
            judgements.c.undone.is_(None),
        )
        return connection.execute(holding).mappings().first()

    def _drop_lease(self, connection: Connection, row: int, annotator: str) -> None:
        mine = (leases.c.text_id == row, leases.c.category == self._category, leases.c.annotator == annotator)
        connection.execute(delete(leases).where(*mine))

    def _undo(self, connection: Connection, annotator: str, now: float) -> Task | None:
        mine = (judgements.c.category == self._category, judgements.c.annotator == annotator)
        last = select(judgements).where(*mine, judgements.c.undone.is_(None), judgements.c.origin == "person")
        newest = last.order_by(judgements.c.given.desc(), judgements.c.id.desc()).limit(1)
        found = connection.execute(newest.with_for_update()).mappings().first()
        if found is None:
            return None
        connection.execute(update(judgements).where(judgements.c.id == found["id"]).values(undone=now))
        replaced = (*mine, judgements.c.text_id == found["text_id"], judgements.c.undone == found["given"])
        connection.execute(update(judgements).where(*replaced).values(undone=None))
        until = now + self._lease_seconds
        self._drop_lease(connection, found["text_id"], annotator)
        slots = set(connection.scalars(self._slots(found["text_id"])))
        row = {"text_id": found["text_id"], "category": self._category, "annotator": annotator, "until": until}
        connection.execute(insert(leases), {**row, "slot": next(n for n in range(len(slots) + 1) if n not in slots)})
        (task,) = self._tasks(connection, [found["text_id"]], until)
        return replace(task, verdict=found["verdict"], given=found["value"])

    def _forget(self, connection: Connection, strategies: Sequence[str]) -> None:
        """Take texts out of the queue that nobody has answered or has on the screen; those of no other use go."""
        touched = or_(
            exists().where(judgements.c.text_id == reasons.c.text_id, judgements.c.category == self._category),
            exists().where(leases.c.text_id == reasons.c.text_id, leases.c.category == self._category),
        )
        old = (reasons.c.category == self._category, reasons.c.reason.in_(strategies), ~touched)
        of_old = select(texts.c.id).where(texts.c.id.in_(select(reasons.c.text_id).where(*old)))
        held = connection.scalars(of_old.with_for_update(skip_locked=True)).all()
        # Asked again: one may have been leased before it was held, and none can be from now on.
        rows = [row for page in _pages(held) for row in connection.scalars(of_old.where(texts.c.id.in_(page)))]
        for page in _pages(rows):
            mine = (reasons.c.category == self._category, reasons.c.reason.in_(strategies), reasons.c.text_id.in_(page))
            connection.execute(delete(reasons).where(*mine))
            used = (exists().where(table.c.text_id == texts.c.id) for table in (judgements, leases, reasons))
            unused = and_(texts.c.id.in_(page), *(~one for one in used))
            connection.execute(delete(texts).where(unused))


def _labels_of_all() -> Any:  # noqa: ANN401 - a number of the database
    labelled = select(func.count()).where(
        judgements.c.text_id == texts.c.id,
        judgements.c.category == reasons.c.category,
        judgements.c.verdict == "label",
        judgements.c.undone.is_(None),
    )
    return labelled.correlate(texts, reasons).scalar_subquery()


def _guess(row: RowMapping) -> dict[str, Any]:
    if row["model"] is None:
        return {}
    if row["entities"] is not None:
        return {"entities": row["entities"]}
    return {"labels": row["labels"], "probabilities": row["probabilities"] or {}}


def _pages(items: Sequence[Any]) -> Iterator[Sequence[Any]]:
    for start in range(0, len(items), _PAGE):
        yield items[start : start + _PAGE]
