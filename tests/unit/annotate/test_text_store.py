"""The store of texts in a file of SQLite, and what is told of addresses that are wrong."""

import importlib
import sqlite3
import stat
import sys
import time
import traceback

import pytest

pytest.register_assert_rewrite("store_promises", "desk_promises")
from desk_promises import DeskPromises  # noqa: E402
from store_promises import StorePromises, new  # noqa: E402

import limbeck.annotate  # noqa: E402
from limbeck.annotate.database import address_of  # noqa: E402
from limbeck.annotate.store import open_store  # noqa: E402
from limbeck.annotate.texts import DAY  # noqa: E402
from limbeck.errors import ExtraMissing, StoreBusy, StoreError, StoreMissing  # noqa: E402


@pytest.fixture
def url(tmp_path):
    return f"sqlite:///{tmp_path / 'texts.db'}"


@pytest.fixture
def store(url):
    with open_store(url) as store:
        yield store


class TestSQLite(StorePromises, DeskPromises):
    pass


def test_a_path_is_an_address_and_its_folder_is_made(tmp_path):
    file = tmp_path / "new folder" / "texts.db"
    with open_store(file) as store:
        (name,) = store.add([new()])
        assert str(store) == str(file)
    with open_store(str(file), create=False) as store:
        assert [kept.public_id for kept in store.waiting(9)] == [name]


def test_only_the_owner_may_read_the_file(tmp_path):
    with open_store(tmp_path / "texts.db") as store:
        store.add([new()])
        modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()}
    assert modes == {"texts.db": 0o600, "texts.db-wal": 0o600, "texts.db-shm": 0o600}


def test_every_commit_waits_for_the_disk(store):
    with store._engine.connect() as connection:
        asked = ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        found = {name: connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in asked}
    assert found == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "busy_timeout": 30_000}


def test_a_purged_text_is_gone_from_the_file_itself(tmp_path):
    with open_store(tmp_path / "texts.db") as store:
        store.add([new("an unmistakable phrase", keep_days=1), new("another one")])
        store.purge(time.time() + 2 * DAY)
    content = (tmp_path / "texts.db").read_bytes()
    assert b"unmistakable" not in content and b"another one" in content


def test_a_store_that_another_process_writes_to_for_long_is_busy(tmp_path):
    with open_store(tmp_path / "texts.db", busy_seconds=0.05) as store:
        other = sqlite3.connect(tmp_path / "texts.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreBusy, match="locked"):
            store.add([new()])
        assert store.waiting(9) == []
        other.execute("COMMIT")
        other.close()
        assert store.add([new()])


def test_nothing_is_made_where_a_store_must_be(tmp_path):
    with pytest.raises(StoreMissing, match="no store"):
        open_store(tmp_path / "texts.db", create=False)
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_database_is_refused_with_its_name(tmp_path):
    (tmp_path / "notes.txt").write_text("Just some notes, longer than a header of SQLite would be.\n" * 20)
    with pytest.raises(StoreError, match="notes.txt.*not a database"):
        open_store(tmp_path / "notes.txt")
    with pytest.raises(StoreError, match="is a folder"):
        open_store(tmp_path)
    with pytest.raises(StoreError, match="can't be made"):
        open_store(tmp_path / "notes.txt" / "texts.db")


@pytest.mark.parametrize("given", ["postgresql+psycopg", "postgresql", "postgres"])
def test_postgresql_has_three_names(given):
    address = address_of(f"{given}://ann@host/texts")
    assert address.drivername == "postgresql+psycopg" and address.database == "texts"


@pytest.mark.parametrize(
    "url",
    [
        "mysql://ann:geheim@host/texts",
        "postgresql+asyncpg://ann:geheim@host/texts",
        "postgresql://ann:geheim@host:geheim/texts",
        "://geheim",
        "sqlite://",
        "sqlite:///:memory:",
    ],
)
def test_an_address_that_can_be_none_is_told_what_would_be_one(url):
    with pytest.raises(StoreError, match="sqlite:///FILE or postgresql://") as caught:
        open_store(url)
    assert "geheim" not in "".join(traceback.format_exception(caught.value))


def test_a_server_that_does_not_answer_is_told_without_the_password():
    url = "postgresql://ann:geheim@127.0.0.1:1/texts?sslpassword=streng"
    with pytest.raises(StoreError, match=r"ann:\*\*\*@127.0.0.1:1/texts") as caught:
        open_store(url)
    said = "".join(traceback.format_exception(caught.value))
    assert "geheim" not in said and "streng" not in said


def test_the_extra_is_named_where_it_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "sqlalchemy", None)
    with pytest.raises(ExtraMissing, match=r"limbeck\[annotate\]"):
        importlib.reload(limbeck.annotate)
