"""Batches: who waits together runs together, nobody waits for a timer, and not too many wait."""

import asyncio
import threading
import time

import pytest

from limbeck.serve.batching import AT_ONCE, Batcher
from limbeck.serve.limits import Limits
from limbeck.serve.refusals import Refusal

LIMITS = Limits(waiting=8, together=4)
SLOW = AT_ONCE * 2


def soon(seconds=5.0):
    return time.monotonic() + seconds


class Model:
    """Answers in capitals, and remembers its batches."""

    def __init__(self, seconds=0.0):
        self.seconds, self.batches, self.threads = seconds, [], set()

    def __call__(self, texts):
        self.batches.append(list(texts))
        self.threads.add(threading.current_thread())
        time.sleep(self.seconds)
        return [text.upper() for text in texts]


def test_requests_of_one_moment_run_together():
    async def main():
        model = Model()
        batcher = Batcher(model, LIMITS, seconds_a_text=0)
        answers = await asyncio.gather(*(batcher.answer([f"{n}a", f"{n}b"], soon()) for n in range(4)))
        assert answers == [[f"{n}A", f"{n}B"] for n in range(4)]
        assert [len(batch) for batch in model.batches] == [4, 4]
        assert model.threads == {threading.current_thread()}

    asyncio.run(main())


def test_a_lone_request_waits_for_nothing():
    async def main():
        batcher = Batcher(Model(), LIMITS, seconds_a_text=0)
        began = time.perf_counter()
        for _ in range(200):
            await batcher.answer(["a"], soon())
        assert time.perf_counter() - began < 0.2

    asyncio.run(main())


def test_slow_batches_leave_the_loop_alone_and_gather_what_comes_meanwhile():
    async def main():
        model = Model(0.1)
        batcher = Batcher(model, LIMITS, seconds_a_text=SLOW)
        first = asyncio.create_task(batcher.answer(["first"], soon()))
        await asyncio.sleep(0.03)
        began = time.perf_counter()
        await asyncio.sleep(0)
        assert time.perf_counter() - began < 0.05
        others = [asyncio.create_task(batcher.answer([str(n)], soon())) for n in range(3)]
        assert await first == ["FIRST"]
        assert [await one for one in others] == [["0"], ["1"], ["2"]]
        assert model.batches == [["first"], ["0", "1", "2"]]
        assert threading.current_thread() not in model.threads
        await batcher.finished()
        batcher.close()

    asyncio.run(main())


def test_past_the_bound_requests_are_refused_at_once():
    async def main():
        model = Model(0.1)
        batcher = Batcher(model, LIMITS, seconds_a_text=SLOW)
        running = asyncio.create_task(batcher.answer(["runs"], soon()))
        await asyncio.sleep(0.02)
        # A request of more than may wait is taken if nothing waits: it could never be taken else.
        large = asyncio.create_task(batcher.answer(["x"] * 20, soon()))
        await asyncio.sleep(0)
        assert batcher.full
        began = time.perf_counter()
        with pytest.raises(Refusal) as caught:
            await batcher.answer(["y"], soon())
        assert caught.value.status == 503 and int(caught.value.headers["retry-after"]) >= 1
        assert time.perf_counter() - began < 0.02
        assert await running == ["RUNS"] and len(await large) == 20
        assert batcher.waiting == 0
        batcher.close()

    asyncio.run(main())


def test_what_would_come_too_late_costs_nothing():
    async def main():
        model = Model(0.15)
        batcher = Batcher(model, LIMITS, seconds_a_text=0.01)
        running = asyncio.create_task(batcher.answer(["runs"] * 2, soon()))
        await asyncio.sleep(0.02)
        late = asyncio.create_task(batcher.answer(["late"], soon(0.05)))
        good = asyncio.create_task(batcher.answer(["good"], soon()))
        with pytest.raises(Refusal, match="can't be answered in the time"):
            await late
        assert (await running, await good) == (["RUNS"] * 2, ["GOOD"])
        assert model.batches == [["runs", "runs"], ["good"]]
        with pytest.raises(Refusal):
            await batcher.answer(["x"], time.monotonic() - 1)
        batcher.close()

    asyncio.run(main())


def test_one_stall_makes_no_large_request_seem_too_slow():
    async def main():
        model = Model(0.3)
        batcher = Batcher(model, LIMITS, seconds_a_text=0.001)
        assert await batcher.answer(["stalls"], soon()) == ["STALLS"]
        model.seconds = 0.0
        assert len(await batcher.answer(["x"] * 100, soon(2))) == 100
        batcher.close()

    asyncio.run(main())


def test_who_went_away_is_not_answered():
    async def main():
        model = Model(0.1)
        batcher = Batcher(model, LIMITS, seconds_a_text=SLOW)
        running = asyncio.create_task(batcher.answer(["runs"], soon()))
        await asyncio.sleep(0.02)
        gone = asyncio.create_task(batcher.answer(["gone"], soon()))
        await asyncio.sleep(0)
        gone.cancel()
        assert await running == ["RUNS"]
        await batcher.finished()
        assert model.batches == [["runs"]] and batcher.waiting == 0
        batcher.close()

    asyncio.run(main())


@pytest.mark.parametrize("seconds", [0.0, SLOW])
def test_an_error_reaches_those_who_asked_and_nobody_else(seconds):
    async def main():
        def model(texts):
            if "bad" in texts:
                raise ValueError("bad")
            return texts

        batcher = Batcher(model, Limits(together=1), seconds_a_text=seconds)
        found = await asyncio.gather(*(batcher.answer([t], soon()) for t in ("a", "bad", "b")), return_exceptions=True)
        assert found[0] == ["a"] and isinstance(found[1], ValueError) and found[2] == ["b"]
        batcher.close()

    asyncio.run(main())
