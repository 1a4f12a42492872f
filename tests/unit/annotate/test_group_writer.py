"""The writer that commits for many: what it promises to each of them."""

import threading
import time

import pytest

from limbeck.annotate.store import open_store
from limbeck.annotate.texts import SAMPLED, NewText
from limbeck.annotate.writer import GroupWriter
from limbeck.errors import StoreBusy, TextRefused


@pytest.fixture
def store(tmp_path):
    with open_store(tmp_path / "texts.db") as store:
        yield store


def new(words="The train was late.", **more):
    return NewText(words, "server", SAMPLED, **more)


class Gate:
    """Holds each commit until it is opened, and notes how many entries each had."""

    def __init__(self, store):
        self.sizes = []
        self.reached = threading.Event()
        self.opened = threading.Event()
        self.record, store.record = store.record, self

    def __call__(self, entries):
        self.sizes.append(len(entries))
        self.reached.set()
        assert self.opened.wait(9)
        return self.record(entries)


def test_those_that_wait_together_share_a_commit(store):
    gate = Gate(store)
    with GroupWriter(store, most_together=40) as writer:
        answers = [writer.submit(new("text 0"))]
        gate.reached.wait(9)
        answers += [writer.submit(new(f"text {n}")) for n in range(1, 101)]
        assert not any(answer.done() for answer in answers)
        gate.opened.set()
        ids = [answer.result(9) for answer in answers]
    assert gate.sizes == [1, 40, 40, 20]
    assert {row["public_id"]: row["text"] for row in store.export()} == {
        public_id: f"text {n}" for n, public_id in enumerate(ids)
    }


def test_a_full_queue_refuses_at_once(store):
    gate = Gate(store)
    with GroupWriter(store, most_waiting=3) as writer:
        first = writer.submit(new())
        gate.reached.wait(9)
        others = [writer.submit(new()) for _ in range(3)]
        start = time.monotonic()
        with pytest.raises(StoreBusy, match="3 entries wait"):
            writer.submit(new())
        assert time.monotonic() - start < 1
        gate.opened.set()
        assert {answer.result(9) for answer in others} == {first.result(9)}
        assert writer.submit(new()).result(9) == first.result(9)


def test_closing_writes_what_waits_and_takes_no_more(store):
    gate = Gate(store)
    writer = GroupWriter(store, most_together=2)
    answers = [writer.submit(new(f"text {n}")) for n in range(9)]
    threading.Timer(0.05, gate.opened.set).start()
    writer.close()
    writer.close()
    assert all(answer.done() for answer in answers) and store.counts().texts == 9
    with pytest.raises(StoreBusy, match="closed"):
        writer.submit(new())


def test_a_bad_entry_fails_alone(store):
    gate = Gate(store)
    with GroupWriter(store) as writer:
        good = [writer.submit(new("text 0"))]
        gate.reached.wait(9)
        good.append(writer.submit(new("text 1")))
        bad = writer.submit(new("bad", labels=[object()]))
        good.append(writer.submit(new("text 2")))
        gate.opened.set()
        assert isinstance(bad.exception(9), TextRefused)
        assert len({answer.result(9) for answer in good}) == 3
    assert {row["text"] for row in store.export()} == {"text 0", "text 1", "text 2"}


def test_an_entry_that_nobody_waits_for_any_more_is_not_written(store):
    gate = Gate(store)
    with GroupWriter(store) as writer:
        first = writer.submit(new("text 0"))
        gate.reached.wait(9)
        given_up = writer.submit(new("given up"))
        assert given_up.cancel() and not first.cancel()
        gate.opened.set()
        first.result(9)
    assert [row["text"] for row in store.export()] == ["text 0"]


def test_an_error_that_nobody_foresaw_does_not_end_the_writer(store, monkeypatch):
    with GroupWriter(store) as writer:
        monkeypatch.setattr(store, "record", lambda entries: 1 / 0)
        assert isinstance(writer.submit(new()).exception(9), ZeroDivisionError)
        monkeypatch.undo()
        assert writer.submit(new()).result(9)
