"""The store of texts in a real PostgreSQL server, which the tests start and stop."""

import itertools

import postgres
import pytest

pytest.register_assert_rewrite("store_promises", "desk_promises")
from desk_promises import DeskPromises  # noqa: E402
from store_promises import StorePromises, new, sql  # noqa: E402

from limbeck.annotate.store import open_store  # noqa: E402
from limbeck.annotate.texts import Vote  # noqa: E402
from limbeck.annotate.writer import GroupWriter  # noqa: E402
from limbeck.errors import StoreBusy, StoreError, StoreMissing  # noqa: E402

NUMBERS = itertools.count()


@pytest.fixture(scope="module")
def server():
    with postgres.running() as server:
        yield server


@pytest.fixture
def url(server):
    # A schema does as well as a database, and is made at once.
    name = f"test_{next(NUMBERS)}"
    sql(server.url, f"CREATE SCHEMA {name}")
    return f"{server.url}&options=-csearch_path%3D{name}"


@pytest.fixture
def store(url):
    with open_store(url) as store:
        yield store


class TestPostgreSQL(StorePromises, DeskPromises):
    pass


def test_a_database_that_is_not_there_is_named_without_the_password(server):
    with pytest.raises(StoreMissing, match="createdb") as caught:
        open_store(f"postgres://postgres:geheim@/nowhere?host={server.folder}")
    assert "nowhere" in str(caught.value) and "geheim" not in str(caught.value)


def test_a_commit_waits_for_the_disk_even_if_the_server_is_set_not_to(url):
    sql(url, "ALTER ROLE postgres SET synchronous_commit = off")
    try:
        with open_store(url) as store, store._engine.connect() as connection:
            assert connection.exec_driver_sql("SHOW synchronous_commit").scalar() == "on"
    finally:
        sql(url, "ALTER ROLE postgres RESET synchronous_commit")


def test_a_server_that_is_killed_and_comes_back_keeps_what_was_acknowledged(server, store):
    with GroupWriter(store) as writer:
        names = [writer.submit(new(f"text {n}")) for n in range(100)]
        names = [name.result(9) for name in names]
        server.stop()
        try:
            assert isinstance(writer.submit(new("lost")).exception(9), StoreError)
        finally:
            server.start()
        assert writer.vote(Vote(names[0], True)).result(9)
    assert {row["public_id"] for row in store.export()} == set(names)


def test_a_purge_leaves_alone_what_is_being_written(store, url):
    name, _ = store.add([new("one", keep_days=0), new("two", keep_days=0)])
    with store._engine.begin() as connection:
        connection.exec_driver_sql("SELECT id FROM texts WHERE public_id = %s FOR KEY SHARE", (name,))
        assert store.purge() == 1
    assert store.purge() == 1


def test_a_server_without_a_free_connection_is_busy(url):
    sql(url, "CREATE ROLE ann LOGIN CONNECTION LIMIT 0")
    with pytest.raises(StoreBusy, match="too many connections"):
        open_store(url.replace("postgres@", "ann@"))
