"""The store of texts that wait for labels and of feedback, in a file of SQLite or in PostgreSQL.

Several processes may use one store at once. What a method has written when it returns is on the disk.
"""

from __future__ import annotations

import secrets
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Literal, TypeVar

from sqlalchemy import URL, Connection, Engine, Select, Table, case, delete, func, inspect, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import SQLAlchemyError

from limbeck.annotate.database import address_of, connect, is_file, place_of, prepare_file, shown, told
from limbeck.annotate.schema import VERSION, judgements, limbeck_store, metadata, reasons, texts, votes
from limbeck.annotate.texts import GUESS, UNCERTAIN, KeptText, NewText, Vote, plain, row_of, storable, united
from limbeck.errors import StoreError, StoreMissing, StoreVersion

Result = TypeVar("Result")
Item = TypeVar("Item")
# Source and hash of a text.
Key = tuple[str, str]
Order = Literal["least confident", "newest"]

# Texts may be long, and a statement has a bounded number of parameters.
_PAGE = 100
# Few enough that whoever wants to write in between does not wait long.
_PURGED_AT_ONCE = 500
# Any number that no other program on the same server is likely to lock.
_MAKING_TABLES = 0x11B3C7

_labelled_by_a_person = (
    select(judgements.c.id)
    .where(
        judgements.c.text_id == texts.c.id,
        judgements.c.verdict == "label",
        judgements.c.origin == "person",
        judgements.c.undone.is_(None),
    )
    .exists()
)
_ORDERS = {
    "least confident": (texts.c.confidence.asc().nulls_last(), texts.c.id),
    "newest": (texts.c.last_seen.desc(), texts.c.id.desc()),
}
_SHOWN = [texts.c[field.name] for field in fields(KeptText) if field.name in texts.c]


@dataclass(frozen=True)
class Counts:
    """How much a store holds; `waiting` are the texts that no person has labelled."""

    texts: int
    waiting: int
    reasons: dict[str, int]
    helped: int
    not_helped: int


def open_store(url: str | Path, create: bool = True, busy_seconds: float = 30.0) -> Store:
    """Open the store at a path or URL, and make it if there is none and `create` allows it.

    A process that forks opens its store afterwards. SQLite waits `busy_seconds` for another process to finish writing.
    """
    address = address_of(url)
    if is_file(address):
        prepare_file(Path(str(address.database)), create)
    store = Store(connect(address, busy_seconds), address)
    try:
        store.prepare(create)
    except BaseException:
        store.close()
        raise
    return store


class Store:
    """An open store; made by `open_store`."""

    def __init__(self, engine: Engine, address: URL) -> None:
        """Use a database."""
        self._engine = engine
        self._writing = engine.execution_options(writes=True)
        self._address = address

    def __str__(self) -> str:
        """Give the address, without its password."""
        return shown(self._address)

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()

    def prepare(self, create: bool) -> None:
        """Make the tables unless they are there; refuse those of a newer version."""
        version = self.read(_version)
        if version is None and create:
            version = self.write(self._make_tables)
        if version is None:
            raise StoreMissing(f"The database {self} holds no store.", "Check the address.", place_of(self._address))
        if version > VERSION:
            raise StoreVersion(
                f"The store {self} has version {version}, this Limbeck knows versions up to {VERSION}.",
                "Install a newer Limbeck.",
                place_of(self._address),
            )

    def add(self, new: Sequence[NewText]) -> list[str]:
        """Keep texts and give their public ids, which nobody can guess.

        A text that is there from the same source is kept once: it was seen once more, has one more reason perhaps,
        has the newer guess, and stays for the longer time.
        """
        return self.write(lambda connection: self.add_within(connection, new))

    def vote(self, public_id: str, helped: bool, voter: str = "") -> bool:
        """Note whether a reply helped; a vote of the same voter before is replaced. False if there is no such text."""
        return self.write(lambda connection: self._vote(connection, [Vote(public_id, helped, voter)]))[0]

    def record(self, entries: Sequence[NewText | Vote]) -> list[str | bool]:
        """Do what `add` and `vote` do for many at once, with one commit; give their answers in the same order."""

        def work(connection: Connection) -> list[str | bool]:
            ids = iter(self.add_within(connection, [entry for entry in entries if isinstance(entry, NewText)]))
            known = iter(self._vote(connection, [entry for entry in entries if isinstance(entry, Vote)]))
            return [next(ids) if isinstance(entry, NewText) else next(known) for entry in entries]

        return self.write(work)

    def waiting(self, limit: int, order: Order = "least confident") -> list[KeptText]:
        """Give texts that no person has labelled; those without a confidence are the last of the least confident."""
        return self._kept(select(texts.c.id, *_SHOWN).where(~_labelled_by_a_person).order_by(*_ORDERS[order]), limit)

    def uncertain(self, limit: int) -> list[KeptText]:
        """Give the last texts that a model was not sure of, the newest first."""
        unsure = select(reasons.c.text_id).where(reasons.c.text_id == texts.c.id, reasons.c.reason == UNCERTAIN)
        return self._kept(select(texts.c.id, *_SHOWN).where(unsure.exists()).order_by(*_ORDERS["newest"]), limit)

    def counts(self) -> Counts:
        """Count what the store holds."""

        def work(connection: Connection) -> Counts:
            every = select(func.count()).select_from(texts)
            why = select(reasons.c.reason, func.count(reasons.c.text_id.distinct())).group_by(reasons.c.reason)
            voted = select(votes.c.helped, func.count()).group_by(votes.c.helped)
            helped = {bool(kind): int(count) for kind, count in connection.execute(voted)}
            return Counts(
                texts=connection.scalar(every) or 0,
                waiting=connection.scalar(every.where(~_labelled_by_a_person)) or 0,
                reasons={str(reason): int(count) for reason, count in connection.execute(why.order_by("reason"))},
                helped=helped.get(True, 0),
                not_helped=helped.get(False, 0),
            )

        return self.read(work)

    def purge(self, now: float | None = None) -> int:
        """Delete texts past their retention, votes and skips with them, and say how many.

        One that a person has labelled stays. One that is being written at this moment is left for the next time.
        """
        moment = time.time() if now is None else now
        purged = 0
        while gone := self.write(lambda connection: _purge(connection, moment)):
            purged += gone
        return purged

    def export(self) -> Iterator[dict[str, Any]]:
        """Give all texts in the order in which they came, as plain values, a few in memory at a time."""
        last = 0
        while page := self._page_behind(last):
            yield from (asdict(kept) for _, kept in page)
            last = page[-1][0]

    def _page_behind(self, last: int) -> list[tuple[int, KeptText]]:
        page = select(texts.c.id, *_SHOWN).where(texts.c.id > last).order_by(texts.c.id).limit(_PAGE)
        return self.read(lambda connection: _completed(connection, page))

    def _kept(self, wanted: Select[Any], limit: int) -> list[KeptText]:
        return [kept for _, kept in self.read(lambda connection: _completed(connection, wanted.limit(limit)))]

    def add_within(self, connection: Connection, new: Sequence[NewText]) -> list[str]:
        """Do what `add` does as a part of something larger."""
        now = time.time()
        rows: dict[Key, dict[str, Any]] = {}
        why: dict[tuple[Key, str, str], float | None] = {}
        keys = []
        for one in new:
            row = row_of(one, secrets.token_urlsafe(16), now)
            key = (row["source"], row["digest"])
            rows[key] = united(rows[key], row) if key in rows else row
            why[key, storable(one.reason), storable(one.category)] = plain(one.urgency)
            keys.append(key)
        if not rows:
            return []
        kept = self._upsert(connection, rows)
        insert = self.insert(reasons)
        newer = {"score": insert.excluded.score, "added": insert.excluded.added}
        connection.execute(
            insert.on_conflict_do_update(
                index_elements=["text_id", "reason", "category"], set_=newer, where=insert.excluded.score.is_not(None)
            ),
            [
                {"text_id": kept[key][0], "reason": reason, "category": category, "score": urgency, "added": now}
                for (key, reason, category), urgency in why.items()
            ],
        )
        return [kept[key][1] for key in keys]

    def _upsert(self, connection: Connection, rows: Mapping[Key, Mapping[str, Any]]) -> dict[Key, tuple[int, str]]:
        insert = self.insert(texts)
        later = insert.excluded
        statement = insert.on_conflict_do_update(
            index_elements=["source", "digest"],
            set_={
                **{name: case((later.model.is_not(None), later[name]), else_=texts.c[name]) for name in GUESS},
                "seen": texts.c.seen + later.seen,
                "last_seen": later.last_seen,
                # The later one, and none as soon as one of them is none.
                "expires": case(
                    (later.expires > texts.c.expires, later.expires), (later.expires.is_not(None), texts.c.expires)
                ),
            },
        ).returning(texts.c.id, texts.c.public_id, texts.c.source, texts.c.digest)
        # In the same order in every process: those that add the same texts wait for each other, but not in a circle.
        found = connection.execute(statement, [dict(rows[key]) for key in sorted(rows)])
        return {(source, digest): (row, public_id) for row, public_id, source, digest in found}

    def _vote(self, connection: Connection, given: Sequence[Vote]) -> list[bool]:
        known = _rows_named(connection, [storable(vote.public_id) for vote in given])
        last = {(known[vote.public_id], storable(vote.voter)): vote for vote in given if vote.public_id in known}
        now = time.time()
        rows = [
            {"text_id": row, "voter": voter, "helped": last[row, voter].helped, "voted": now}
            for row, voter in sorted(last)
        ]
        insert = self.insert(votes)
        newer = {"helped": insert.excluded.helped, "voted": insert.excluded.voted}
        if rows:
            connection.execute(insert.on_conflict_do_update(index_elements=["text_id", "voter"], set_=newer), rows)
        return [vote.public_id in known for vote in given]

    def insert(self, table: Table) -> postgresql.Insert | sqlite.Insert:
        """Begin a statement that inserts rows, in the words of this store's database."""
        return sqlite.insert(table) if is_file(self._address) else postgresql.insert(table)

    def _make_tables(self, connection: Connection) -> int:
        # SQLite lets one process write at a time anyway.
        if not is_file(self._address):
            connection.execute(select(func.pg_advisory_xact_lock(_MAKING_TABLES)))
        version = _version(connection)
        if version is not None:
            return version
        there = set(inspect(connection).get_table_names())
        strange = there if is_file(self._address) else there & set(metadata.tables)
        if strange:
            raise StoreError(
                f"The database {self} is no store of Limbeck: it has a table '{min(strange)}'.",
                "Give another address.",
                place_of(self._address),
            )
        metadata.create_all(connection, checkfirst=False)
        connection.execute(limbeck_store.insert(), {"one": 1, "version": VERSION, "made": time.time()})
        return VERSION

    def read(self, work: Callable[[Connection], Result]) -> Result:
        """Let `work` look at the tables as they are at one moment."""
        return self._run(self._engine, work)

    def write(self, work: Callable[[Connection], Result]) -> Result:
        """Let `work` change the tables; all of it is on the disk when this returns, or nothing after an error."""
        return self._run(self._writing, work)

    def _run(self, engine: Engine, work: Callable[[Connection], Result]) -> Result:
        try:
            with engine.begin() as connection:
                return work(connection)
        except SQLAlchemyError as error:
            # Not as its cause: that would be printed as well, with what we leave out.
            raise told(error, self._address) from None


def _version(connection: Connection) -> int | None:
    if not inspect(connection).has_table(limbeck_store.name):
        return None
    return connection.scalar(select(limbeck_store.c.version))


def _rows_named(connection: Connection, public_ids: Sequence[str]) -> dict[str, int]:
    known: dict[str, int] = {}
    for page in _pages(public_ids):
        named = select(texts.c.public_id, texts.c.id).where(texts.c.public_id.in_(page))
        # Held until the commit, so that no purge takes them away in between.
        held = connection.execute(named.with_for_update(key_share=True, read=True))
        known.update((public_id, row) for public_id, row in held)
    return known


def _purge(connection: Connection, now: float) -> int:
    expired = select(texts.c.id).where(texts.c.expires <= now, ~_labelled_by_a_person)
    held = connection.scalars(expired.limit(_PURGED_AT_ONCE).with_for_update(skip_locked=True)).all()
    # Asked again: a label may have come in before they were held, and none can come from now on.
    gone = connection.scalars(expired.where(texts.c.id.in_(held))).all()
    connection.execute(delete(judgements).where(judgements.c.text_id.in_(gone)))
    connection.execute(delete(texts).where(texts.c.id.in_(gone)))
    return len(gone)


def _completed(connection: Connection, wanted: Select[Any]) -> list[tuple[int, KeptText]]:
    rows = connection.execute(wanted).mappings().all()
    why: dict[int, list[str]] = {}
    helped: Counter[tuple[int, bool]] = Counter()
    for page in _pages([row["id"] for row in rows]):
        of_page = reasons.c.text_id.in_(page)
        for row, reason in connection.execute(select(reasons.c.text_id, reasons.c.reason).distinct().where(of_page)):
            why.setdefault(row, []).append(reason)
        given = select(votes.c.text_id, votes.c.helped).where(votes.c.text_id.in_(page))
        helped.update((row, bool(vote)) for row, vote in connection.execute(given))
    return [
        (
            row["id"],
            KeptText(
                **{column.name: row[column.name] for column in _SHOWN},
                reasons=sorted(why.get(row["id"], [])),
                helped=helped[row["id"], True],
                not_helped=helped[row["id"], False],
            ),
        )
        for row in rows
    ]


def _pages(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    for start in range(0, len(items), _PAGE):
        yield items[start : start + _PAGE]
