"""One worker: its models, its application, its socket; alone, or one of several that a parent watches."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import logging
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any

import uvicorn
from starlette.middleware.cors import CORSMiddleware

from limbeck.errors import BadSetting, BundleError, LimbeckError, SystemRefused
from limbeck.serve.app import make_app, short_ways
from limbeck.serve.guard import App, Guard
from limbeck.serve.keys import Rates, read_keys
from limbeck.serve.live import Live
from limbeck.serve.metrics import Metrics
from limbeck.serve.protocol import protocol
from limbeck.serve.recording import Recorder, open_recorder
from limbeck.serve.replies_file import read_replies
from limbeck.serve.server import Server
from limbeck.serve.settings import ServeSettings
from limbeck.serve.shelf import Shelf, load_model
from limbeck.serve.workers import CHANNEL_VARIABLE, FOLDERS_VARIABLE, RELOAD_SECONDS

# How often the other workers are told what this one did.
TOLD_EVERY = 1.0
# Every so many times it looks whether labels moved, so that texts of these are kept.
LOOKED_EVERY = 30
KEEP_ALIVE = 30
BACKLOG = 2048
# Seconds that a thread may hold the interpreter while others wait: batches must not stop the reading of requests.
SWITCH = 0.0005

log = logging.getLogger("limbeck.serve")


class Worker:
    """Everything that lives as long as a worker."""

    def __init__(self, settings: ServeSettings) -> None:
        """Load the models; nothing listens yet."""
        self.settings = settings
        self.channel: asyncio.StreamWriter | None = None
        self._answers: list[asyncio.Future[list[dict[str, Any]]]] = []
        self._tasks: set[asyncio.Task[Any]] = set()
        folders = {name: Path(folder) for name, folder in settings.models.items()}
        folders |= {k: Path(v) for k, v in json.loads(os.environ.get(FOLDERS_VARIABLE, "{}")).items()}
        metrics: Metrics | None = None

        def ran(name: str, *told: Any) -> None:  # noqa: ANN401 - as Metrics.ran takes them
            if metrics is not None:
                metrics.ran(name, *told)

        self.shelf = Shelf(folders, settings.limits, settings.threads, ran)
        state = Path(settings.state) if settings.state else None
        live = Live(self.shelf, state)
        metrics = self.metrics = Metrics(state is not None, live.gauges)
        self.recorder: Recorder | None = open_recorder(settings.store) if settings.store else None
        self.server = Server(
            self.shelf,
            settings.limits,
            metrics,
            live,
            read_replies(Path(settings.replies)) if settings.replies else None,
            self.recorder,
            self.reload_everywhere,
            bool(settings.store and settings.store.shown),
            Rates(settings.limits.rate / settings.workers),
            page=settings.page,
            log_texts=settings.log_texts,
        )

    def application(self) -> App:
        """Give the guarded application."""
        app: Any = make_app(self.server)
        app.router.lifespan_context = self._lifespan
        settings = self.settings
        keys = read_keys(Path(settings.keys) if settings.keys else None)
        guarded: App = Guard(app, keys, settings.limits, self.metrics, settings.open_metrics, short_ways(self.server))
        if settings.cors:
            guarded = CORSMiddleware(
                guarded, settings.cors, allow_methods=["GET", "POST"], allow_headers=["authorization", "content-type"]
            )
        return guarded

    @contextlib.asynccontextmanager
    async def _lifespan(self, app: object) -> AsyncIterator[None]:
        """Tell others of this worker while it runs; at the end, keep what was promised."""
        sys.setswitchinterval(SWITCH)
        await self._listen_to_parent()
        self._start(self._tell())
        yield
        for task in self._tasks:
            task.cancel()
        for served in self.shelf.models.values():
            await served.batcher.finished()
        if self.recorder is not None:
            await asyncio.to_thread(self.recorder.close)
        self.shelf.close()

    def _start(self, work: Any) -> None:  # noqa: ANN401 - any coroutine
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _tell(self) -> None:
        for told in itertools.count(1):
            await asyncio.sleep(TOLD_EVERY)
            with contextlib.suppress(OSError):
                self.server.live.write()
            if self.recorder is not None:
                await self.recorder.tidy()
                if told % LOOKED_EVERY == 0:
                    self.recorder.want(self.server.live.suggested(), self.settings.workers)

    async def reload(self, names: Sequence[str], folder: str | None) -> dict[str, str]:
        """Load models anew in this worker: checked and warmed up in a thread, exchanged between two batches."""
        chosen = self.shelf.to_load(names, Path(folder) if folder else None)
        # All are loaded before any takes its place.
        fresh = [
            await asyncio.to_thread(load_model, name, path, self.settings.threads) for name, path in chosen.items()
        ]
        return {model.name: self.shelf.exchange(model, seconds) for model, seconds in fresh}

    async def reload_everywhere(self, names: Sequence[str], folder: str | None) -> tuple[dict[str, str], int]:
        """Load models anew in all workers; give the versions and how many workers have them."""
        if self.channel is None:
            return await self.reload(names, folder), 1
        answer: asyncio.Future[list[dict[str, Any]]] = asyncio.get_running_loop().create_future()
        self._answers.append(answer)
        self._send({"ask": {"models": list(names), "folder": folder}})
        told = await asyncio.wait_for(answer, RELOAD_SECONDS)
        failed = [one["error"] for one in told if "error" in one]
        if failed or not told:
            raise BundleError(failed[0] if failed else "No worker answered.")
        return told[0]["versions"], len(told)

    async def _listen_to_parent(self) -> None:
        number = os.environ.get(CHANNEL_VARIABLE)
        if number is None:
            loop = asyncio.get_running_loop()
            loop.add_signal_handler(signal.SIGHUP, lambda: self._start(self._by_signal()))
            return
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        reader, self.channel = await asyncio.open_connection(sock=socket.socket(fileno=int(number)))
        self._start(self._hear(reader))
        self._send({"ready": True})

    async def _by_signal(self) -> None:
        try:
            versions = await self.reload((), None)
            log.warning("models were loaded anew: %s", versions)
        except LimbeckError as error:
            log.error("models were not loaded anew: %s", error)

    async def _hear(self, reader: asyncio.StreamReader) -> None:
        """Do what the parent says; without a parent there is no reason to go on."""
        while line := await reader.readline():
            message = json.loads(line)
            if "answer" in message and self._answers:
                waiting = self._answers.pop(0)
                if not waiting.done():
                    waiting.set_result(message["answer"])
            elif "reload" in message:
                self._start(self._reload_for_parent(message))
        os.kill(os.getpid(), signal.SIGTERM)

    async def _reload_for_parent(self, message: dict[str, Any]) -> None:
        what = message["reload"]
        told: dict[str, Any] = {"number": message["number"]}
        try:
            told["versions"] = await self.reload(what["models"], what["folder"])
            told["folders"] = {name: str(self.shelf.models[name].model.folder) for name in told["versions"]}
        except LimbeckError as error:
            told["error"] = str(error)
            log.error("models were not loaded anew: %s", error)
        self._send(told)

    def _send(self, message: dict[str, Any]) -> None:
        if self.channel is not None:
            self.channel.write(json.dumps(message).encode() + b"\n")


class _Uvicorn(uvicorn.Server):
    """Says that it isn't ready any more as soon as it is told to end."""

    def __init__(self, config: uvicorn.Config, server: Server) -> None:
        super().__init__(config)
        self._server = server

    def handle_exit(self, sig: int, frame: Any) -> None:  # noqa: ANN401 - uvicorn's
        self._server.draining = True
        super().handle_exit(sig, frame)
        # Else it would end by the same signal once more when all is done.
        self._captured_signals.clear()


def listening(host: str, port: int, shared: bool, listen: bool = True) -> socket.socket:
    """Give a socket that listens, or only keeps the port; `shared` lets several processes have the same one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    opened = socket.socket(family, socket.SOCK_STREAM)
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if shared:
        if not hasattr(socket, "SO_REUSEPORT"):
            raise BadSetting("On this system workers can't share a port.", "Use --workers 1.")
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    try:
        opened.bind((host, port))
    except OSError as error:
        opened.close()
        raise SystemRefused(
            f"Nothing can listen on {host}, port {port}: {error.strerror}.", "Choose another --port."
        ) from None
    if listen:
        opened.listen(BACKLOG)
    return opened


def run_worker(settings: ServeSettings, tell: Callable[[ServeSettings, int], None] | None = None) -> int:
    """Answer until a signal ends it; give the exit code. `tell` is told of the port, once it is known."""
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    if settings.log_texts:
        log.setLevel(logging.INFO)
    worker = Worker(settings)
    own = listening(settings.host, settings.port, settings.workers > 1)
    config = uvicorn.Config(
        worker.application(),
        http=protocol(settings.limits, worker.shelf.busy, worker.metrics.shed.inc),
        ws="none",
        loop="uvloop" if sys.platform != "win32" else "asyncio",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        timeout_keep_alive=KEEP_ALIVE,
        timeout_graceful_shutdown=round(settings.limits.drain_seconds),
        ssl_certfile=settings.certificate,
        ssl_keyfile=settings.private_key,
    )
    server = _Uvicorn(config, worker.server)
    port = own.getsockname()[1]
    print(f"worker {os.getpid()} answers on {settings.host}:{port}", file=sys.stderr, flush=True)
    if tell is not None:
        tell(settings, port)
    server.run([own])
    return 0


if __name__ == "__main__":
    try:
        sys.exit(run_worker(ServeSettings.from_json(sys.argv[1])))
    except LimbeckError as told:
        print(told, file=sys.stderr)
        sys.exit(told.exit_code)
