"""Databases that a store can live in, SQLite and PostgreSQL: their addresses, connections and errors.

What is told of an error holds neither a password nor a text.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import re
import sqlite3
import time
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DataError, DBAPIError, IntegrityError, SQLAlchemyError, StatementError
from sqlalchemy.exc import TimeoutError as NoConnectionFree

from limbeck.errors import ExtraMissing, Place, StoreBusy, StoreError, StoreMissing, TextRefused

_KNOWN = "Give the path of a file, sqlite:///FILE or postgresql://USER@HOST/DATABASE."
_DRIVERS = {"sqlite": "sqlite", "postgresql": "postgresql+psycopg", "postgres": "postgresql+psycopg"}
# A server that is gone without a word must not hold a writer for ever; any of these can be set in the URL.
_POSTGRESQL_OPTIONS = {"connect_timeout": 10, "tcp_user_timeout": 30_000}
# Rows of one statement: each number of rows makes another statement, and databases remember those that they have seen.
_ROWS_TOGETHER = 16
# In words, because an error on the way to a connection has no code.
_BUSY = re.compile("is locked|too many (connections|clients)|connection slots|system is (starting|shutting)")


def address_of(url: str | Path) -> URL:
    """Read where a store is: a path, or a URL of SQLite or PostgreSQL."""
    if isinstance(url, Path) or "://" not in url:
        return URL.create("sqlite", database=str(url))
    try:
        address = make_url(url)
    except (ArgumentError, ValueError):
        # Which part is wrong is not known, so none is shown: it may be the password.
        raise StoreError("The address of the store is no URL.", _KNOWN) from None
    kind = address.drivername.partition("+")[0]
    if address.drivername not in {kind, "postgresql+psycopg"} or kind not in _DRIVERS:
        raise StoreError(f"A store can't live in '{address.drivername}'.", _KNOWN)
    if kind == "sqlite" and address.database in {None, "", ":memory:"}:
        raise StoreError("A store in memory would be lost with its process.", _KNOWN)
    return address.set(drivername=_DRIVERS[kind])


def shown(address: URL) -> str:
    """Give an address without its password; libpq takes one among the options as well, so none of those is shown."""
    if is_file(address):
        return str(address.database)
    return address.set(query={}).render_as_string(hide_password=True)


def is_file(address: URL) -> bool:
    """Say whether a store is a file of SQLite."""
    return address.get_backend_name() == "sqlite"


def place_of(address: URL) -> Place | None:
    """Give the file of a store, if it is one."""
    return Place(Path(str(address.database))) if is_file(address) else None


def prepare_file(file: Path, create: bool) -> None:
    """Make an empty file that nobody else may read, unless there is one."""
    if file.is_dir():
        raise StoreError(f"{file} is a folder.", "Give the path of a file in it.", Place(file))
    if file.exists():
        return
    if not create:
        raise StoreMissing(f"There is no store {file}.", "Check the path.", Place(file))
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            # Not opened if another process was faster: closing it would let go of the locks that SQLite holds on it.
            os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except OSError as error:
        raise StoreError(f"The store {file} can't be made: {error.strerror}.", "Check the path.", Place(file)) from None


def connect(address: URL, busy_seconds: float) -> Engine:
    """Make an engine; a connection is made when one is needed, and again after the database was away."""
    if is_file(address):
        engine = create_engine(
            address,
            connect_args={"timeout": busy_seconds},
            insertmanyvalues_page_size=_ROWS_TOGETHER,
            hide_parameters=True,
        )
        event.listen(engine, "connect", lambda raw, _: _prepare_sqlite(raw, busy_seconds))
        event.listen(engine, "begin", _begin_sqlite)
        return engine
    if importlib.util.find_spec("psycopg") is None:
        raise ExtraMissing("annotate", "A store in PostgreSQL")
    options = {name: value for name, value in _POSTGRESQL_OPTIONS.items() if name not in address.query}
    engine = create_engine(
        address,
        connect_args=options,
        isolation_level="READ COMMITTED",
        pool_pre_ping=True,
        insertmanyvalues_page_size=_ROWS_TOGETHER,
        hide_parameters=True,
    )
    event.listen(engine, "connect", lambda raw, _: _prepare_postgresql(raw))
    return engine


def _prepare_sqlite(raw: Any, busy_seconds: float) -> None:  # noqa: ANN401 - SQLAlchemy has no type for it
    # Transactions are begun below: sqlite3 begins them late, and then can't wait for its turn to write.
    raw.isolation_level = None
    _write_ahead(raw, busy_seconds)
    # Secure: a text whose time is up is overwritten, not only forgotten.
    for setting in ("synchronous = FULL", "foreign_keys = ON", "secure_delete = ON"):
        raw.execute(f"PRAGMA {setting}")


def _write_ahead(raw: sqlite3.Connection, busy_seconds: float) -> None:
    # SQLite doesn't wait for a lock here, unlike anywhere else.
    last = time.monotonic() + busy_seconds
    while True:
        try:
            raw.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > last:
                raise
            time.sleep(0.01)
        else:
            return


def _begin_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _prepare_postgresql(raw: Any) -> None:  # noqa: ANN401 - as above
    # What is acknowledged is on the disk, whatever the server's own setting; a stricter one is kept.
    raw.execute(
        "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'"
    )
    raw.commit()


def told(error: SQLAlchemyError, address: URL) -> StoreError:
    """Give a database's error as one of ours."""
    reason = _reason(error, address)
    where, place = shown(address), place_of(address)
    if isinstance(error, NoConnectionFree) or _BUSY.search(reason):
        return StoreBusy(f"The store {where} is busy: {reason}.", "Try again later.", place)
    if isinstance(error, DataError | IntegrityError) or _before_the_database(error):
        return TextRefused(f"The store {where} can't hold this: {reason}.", "Leave it out.", place)
    if re.search('database ".*" does not exist', reason):
        return StoreMissing(f"There is no database {where}: {reason}.", "Make it with createdb.", place)
    return StoreError(f"The store {where} can't be used: {reason}.", "Check the database and the address.", place)


def _before_the_database(error: SQLAlchemyError) -> bool:
    # A value that could not even be sent.
    return isinstance(error, StatementError) and not isinstance(error, DBAPIError)


def _reason(error: SQLAlchemyError, address: URL) -> str:
    # Only the first line: the others may quote what a row holds.
    first = str(error.orig if isinstance(error, StatementError) else error).strip().partition("\n")[0]
    secrets = [str(address.password or ""), *(str(value) for name, value in address.query.items() if "pass" in name)]
    for secret in filter(None, secrets):
        first = first.replace(secret, "***")
    return first.rstrip(".")[:300]
