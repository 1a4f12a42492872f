"""When a server has enough to do: too many texts wait, or what waits takes too long."""

import asyncio
import time

import pytest
from bundles import write_bundle

from limbeck.serve.limits import Limits
from limbeck.serve.shelf import PATIENCE, Shelf

LIMITS = Limits(waiting=100, deadline=2.0)


@pytest.fixture
def shelf(tmp_path):
    opened = Shelf({"one": write_bundle(tmp_path / "one"), "two": write_bundle(tmp_path / "two")}, LIMITS)
    yield opened
    opened.close()


def waits(shelf, texts, seconds_a_text):
    """Let so many texts wait for the second model, and give whether the server is then busy."""

    async def main():
        batcher = shelf.models["two"].batcher
        batcher.seconds_a_text = seconds_a_text
        asked = asyncio.create_task(batcher.answer(["late"] * texts, time.monotonic() + 1000))
        await asyncio.sleep(0)
        busy = shelf.busy(0)
        await asked
        return busy

    return asyncio.run(main())


def test_fast_texts_may_wait_up_to_the_bound(shelf):
    assert not waits(shelf, LIMITS.waiting - 1, 1e-6)
    assert waits(shelf, LIMITS.waiting, 1e-6)


def test_few_slow_texts_are_enough(shelf):
    share = PATIENCE * LIMITS.deadline / 10
    assert not waits(shelf, 10, share * 0.9)
    assert waits(shelf, 10, share * 1.1)


def test_a_batch_that_runs_keeps_nobody_out(shelf):
    two = shelf.models["two"].batcher
    two.running, two.seconds_a_text = 1000, 1.0
    assert not shelf.busy(0)
