"""Several workers on one port: started, watched, told to load models anew, and brought to an end.

Each worker is a process with a socket of its own on the same port; the system deals connections out. A pair of sockets
ties it to the parent, over which lines of JSON go: a worker asks for a reload, the parent tells all workers, and gives
the one that asked what came of it.
"""

from __future__ import annotations

import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

# A worker that ends sooner than this is started again only after a while, each time longer.
HASTY, LONGEST_WAIT = 5.0, 30.0
CHANNEL_VARIABLE, FOLDERS_VARIABLE = "LIMBECK_WORKER_CHANNEL", "LIMBECK_WORKER_FOLDERS"
RELOAD_SECONDS = 120.0


@dataclass
class _Worker:
    process: subprocess.Popen[bytes]
    channel: socket.socket
    started: float
    ready: bool = False
    unread: bytes = b""


@dataclass
class _Reload:
    """A reload under way: who asked (None: a signal), who hasn't answered yet, and what was answered."""

    asker: _Worker | None
    number: int
    waiting: set[int]
    until: float
    told: list[dict[str, Any]] = field(default_factory=list)


class Parent:
    """Keeps so many workers alive."""

    def __init__(self, command: Sequence[str], workers: int, drain_seconds: float) -> None:
        """Start `command` so many times; each gets its channel's number in the environment."""
        self._command, self._wanted, self._drain = list(command), workers, drain_seconds
        self._workers: list[_Worker] = []
        self._selector = selectors.DefaultSelector()
        self._reload: _Reload | None = None
        self._asked: list[tuple[_Worker | None, dict[str, Any]]] = []
        # Where models were last loaded from, for workers that start later.
        self._folders: dict[str, str] = {}
        self._ending = False
        self._numbers = self._failures = 0
        self._not_before = 0.0

    def run(self) -> int:
        """Work until a signal ends it; give the exit code."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._end)
        signal.signal(signal.SIGHUP, self._hang_up)
        while not self._ending:
            self._fill()
            for key, _ in self._selector.select(timeout=0.2):
                self._hear(key.data)
            self._bury()
            self._go_on()
        return self._drained()

    def _end(self, number: int, frame: FrameType | None) -> None:
        self._ending = True

    def _hang_up(self, number: int, frame: FrameType | None) -> None:
        self._asked.append((None, {"models": [], "folder": None}))

    def _fill(self) -> None:
        """Start workers that are missing."""
        while len(self._workers) < self._wanted and time.monotonic() >= self._not_before:
            ours, theirs = socket.socketpair()
            environment = os.environ | {CHANNEL_VARIABLE: str(theirs.fileno())}
            environment |= {FOLDERS_VARIABLE: json.dumps(self._folders)}
            process = subprocess.Popen(self._command, pass_fds=[theirs.fileno()], env=environment)
            theirs.close()
            ours.setblocking(False)
            worker = _Worker(process, ours, time.monotonic())
            self._workers.append(worker)
            self._selector.register(ours, selectors.EVENT_READ, worker)

    def _hear(self, worker: _Worker) -> None:
        try:
            got = worker.channel.recv(1 << 16)
        except BlockingIOError:
            return
        except OSError:
            got = b""
        if not got:
            self._forget(worker)
            return
        *lines, worker.unread = (worker.unread + got).split(b"\n")
        for line in lines:
            self._told(worker, json.loads(line))

    def _told(self, worker: _Worker, message: dict[str, Any]) -> None:
        if "ready" in message:
            worker.ready, self._failures = True, 0
        elif "ask" in message:
            self._asked.append((worker, message["ask"]))
        elif self._reload is not None and message.get("number") == self._reload.number:
            self._reload.waiting.discard(worker.process.pid)
            self._reload.told.append(message)
            self._folders |= message.get("folders", {})

    def _forget(self, worker: _Worker) -> None:
        """Close the channel of a worker that is gone."""
        if worker.channel.fileno() >= 0:
            self._selector.unregister(worker.channel)
            worker.channel.close()

    def _bury(self) -> None:
        for worker in [one for one in self._workers if one.process.poll() is not None]:
            self._workers.remove(worker)
            self._forget(worker)
            if self._reload is not None:
                self._reload.waiting.discard(worker.process.pid)
            if not worker.ready or time.monotonic() - worker.started < HASTY:
                self._failures += 1
                self._not_before = time.monotonic() + min(LONGEST_WAIT, 0.1 * 2**self._failures)
            if not worker.ready and self._failures >= self._wanted + 2:
                self._ending = True  # it can't start at all, and has said why
            print(f"worker {worker.process.pid} ended with {worker.process.returncode}", file=sys.stderr, flush=True)

    def _go_on(self) -> None:
        """Finish a reload that all have answered; begin the next one."""
        now = self._reload
        if now is not None and (not now.waiting or time.monotonic() > now.until):
            self._reload = None
            if now.asker is not None:
                self._send(now.asker, {"answer": now.told})
        if self._reload is None and self._asked:
            asker, what = self._asked.pop(0)
            self._numbers += 1
            ready = [worker for worker in self._workers if worker.ready]
            waiting = {worker.process.pid for worker in ready}
            self._reload = _Reload(asker, self._numbers, waiting, time.monotonic() + RELOAD_SECONDS)
            for worker in ready:
                self._send(worker, {"reload": what, "number": self._numbers})

    def _send(self, worker: _Worker, message: dict[str, Any]) -> None:
        try:
            worker.channel.setblocking(True)
            worker.channel.sendall(json.dumps(message).encode() + b"\n")
            worker.channel.setblocking(False)
        except OSError:
            self._forget(worker)

    def _drained(self) -> int:
        """Let workers finish what they have begun."""
        failed = self._failures >= self._wanted + 2
        for worker in self._workers:
            worker.process.terminate()
        until = time.monotonic() + self._drain + 5
        for worker in self._workers:
            try:
                worker.process.wait(max(0.1, until - time.monotonic()))
            except subprocess.TimeoutExpired:
                worker.process.kill()
                worker.process.wait()
        return 1 if failed else 0
