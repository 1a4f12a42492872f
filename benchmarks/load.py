"""A load on a server, from a process of its own.

So many connections, one request after the other on each; or so many requests a second, however long answers take.

python benchmarks/load.py '{"port": 8000, "path": "/v1/predict", "bodies": [...], "seconds": 10, "connections": 32}'
prints one JSON: requests a second, milliseconds, statuses. A body may be a pair: its own path, and the body.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections import Counter, deque
from typing import Any

import numpy as np
import uvloop


class Client(asyncio.Protocol):
    """One connection that is asked one thing at a time."""

    def __init__(self) -> None:
        """Wait to be connected."""
        self.transport: Any = None
        self.answer: asyncio.Future[tuple[int, bytes]] | None = None
        self.got = b""
        self.lost = False

    def connection_made(self, transport: Any) -> None:
        """Remember the connection."""
        self.transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell who waits."""
        self.lost = True
        if self.answer is not None and not self.answer.done():
            self.answer.set_exception(ConnectionError("closed"))

    def data_received(self, data: bytes) -> None:
        """Read an answer: its head, and as many bytes as that says."""
        self.got += data
        head, found, rest = self.got.partition(b"\r\n\r\n")
        if not found:
            return
        lower = head.lower()
        at = lower.find(b"content-length:")
        size = int(lower[at + 15 :].split(b"\r\n", 1)[0]) if at >= 0 else 0
        if len(rest) >= size and self.answer is not None and not self.answer.done():
            self.got = b""
            self.answer.set_result((int(head[9:12]), rest))

    def ask(self, raw: bytes) -> asyncio.Future[tuple[int, bytes]]:
        """Send a request."""
        self.answer = asyncio.get_running_loop().create_future()
        self.transport.write(raw)
        return self.answer


class Load:
    """Requests with different bodies, and what came back."""

    def __init__(self, told: dict[str, Any]) -> None:
        """Make the requests' bytes."""
        self.told = told
        head = "HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
        head += "".join(f"{name}: {value}\r\n" for name, value in told.get("headers", {}).items())
        pairs = [(told["path"], body) if isinstance(body, str) else body for body in told["bodies"]]
        self.raw = [
            f"POST {path} {head}content-length: {len(body.encode())}\r\n\r\n{body}".encode() for path, body in pairs
        ]
        self.at = 0
        self.statuses: Counter[str] = Counter()
        self.times: dict[str, list[tuple[float, float]]] = {}
        self.versions: Counter[str] = Counter()

    def next(self) -> bytes:
        """Give the next request."""
        self.at += 1
        return self.raw[self.at % len(self.raw)]

    async def connect(self) -> Client:
        """Open a connection."""
        loop = asyncio.get_running_loop()
        _, client = await loop.create_connection(Client, self.told.get("host", "127.0.0.1"), self.told["port"])
        return client

    async def one(self, client: Client, due: float) -> None:
        """Ask once; the time counts from when the request was due."""
        try:
            status, body = await asyncio.wait_for(client.ask(self.next()), 30)
            if self.told.get("versions") and status == 200:
                answer = json.loads(body)
                self.versions[f"{answer['version']} {'|'.join(answer['thresholds'])}"] += 1
            word = str(status)
        except (TimeoutError, ConnectionError) as error:
            word = type(error).__name__
        now = time.perf_counter()
        self.statuses[word] += 1
        self.times.setdefault(word, []).append((now, now - due))

    async def closed(self) -> None:
        """Let each connection ask one thing after the other."""
        until = time.perf_counter() + self.told["seconds"]

        async def loop() -> None:
            client = await self.connect()
            while time.perf_counter() < until:
                if client.lost:
                    client = await self.connect()
                await self.one(client, time.perf_counter())

        await asyncio.gather(*(loop() for _ in range(self.told["connections"])))

    async def open(self) -> None:
        """Ask at a fixed rate; a request that finds no free connection is counted, and not sent."""
        free: deque[Client] = deque([await self.connect() for _ in range(self.told["connections"])])
        tasks: set[asyncio.Task[None]] = set()
        began, sent = time.perf_counter(), 0

        async def ask(due: float) -> None:
            if not free:
                self.statuses["no free connection"] += 1
                return
            client = free.popleft()
            if client.lost:
                client = await self.connect()
            await self.one(client, due)
            free.append(client)

        while (now := time.perf_counter()) - began < self.told["seconds"]:
            while sent < (now - began) * self.told["rate"]:
                task = asyncio.get_running_loop().create_task(ask(began + sent / self.told["rate"]))
                tasks.add(task)
                task.add_done_callback(tasks.discard)
                sent += 1
            await asyncio.sleep(0.001)
        if tasks:
            await asyncio.wait(tasks, timeout=30)

    def report(self, seconds: float) -> dict[str, Any]:
        """Sum up."""
        found: dict[str, Any] = {"seconds": seconds, "statuses": dict(self.statuses), "versions": dict(self.versions)}
        for word, pairs in self.times.items():
            taken = np.array([value for _, value in pairs]) * 1e3
            marks = {f"p{p}": round(float(np.percentile(taken, p)), 3) for p in (50, 95, 99, 99.9)}
            found[word] = {"a second": round(len(pairs) / seconds, 1), **marks, "most": round(float(taken.max()), 2)}
        good = self.times.get("200", [])
        if good and self.told.get("by_second"):
            began = min(at for at, _ in good)
            whole = Counter(int(at - began) for at, _ in good)
            found["answers by second"] = [whole[second] for second in range(max(whole) + 1)]
        return found


async def main(told: dict[str, Any]) -> None:
    """Run a load and print what came of it."""
    load = Load(told)
    began = time.perf_counter()
    await (load.open() if "rate" in told else load.closed())
    print(json.dumps(load.report(time.perf_counter() - began)))


if __name__ == "__main__":
    uvloop.run(main(json.loads(sys.argv[1] if len(sys.argv) > 1 else sys.stdin.read())))
