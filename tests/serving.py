"""A real server process on a free port, for tests that ask it over HTTP."""

import os
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from limbeck.serve.settings import ServeSettings

READY_SECONDS, STOP_SECONDS = 60.0, 30.0
_ANSWERS = " answers on "


@dataclass(frozen=True)
class Running:
    """A server that answers; `stop` ends it before its time."""

    url: str
    process: subprocess.Popen[bytes]
    log: Path

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    @property
    def stderr(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")

    def stop(self) -> int:
        """Ask it to end, and give its exit code."""
        self.process.terminate()
        return self.process.wait(STOP_SECONDS)


@contextmanager
def running(settings: ServeSettings, port: int = 0, environment: Mapping[str, str] | None = None) -> Iterator[Running]:
    """Run one worker until the block ends. Without a `port` the system chooses one, which is free for sure."""
    command = [sys.executable, "-m", "limbeck.serve.worker", replace(settings, port=port).as_json()]
    with tempfile.TemporaryDirectory(prefix="limbeck-serving-") as folder:
        log = Path(folder) / "stderr"
        with log.open("wb") as stderr:
            process = subprocess.Popen(command, stderr=stderr, env={**os.environ, **(environment or {})})
        try:
            yield _ready(process, log, "https" if settings.certificate else "http")
        finally:
            if process.poll() is None:
                process.terminate()
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _ready(process: subprocess.Popen[bytes], log: Path, scheme: str) -> Running:
    """Wait until it says where it listens, and that it may be asked."""
    until = time.monotonic() + READY_SECONDS
    while True:
        said = [line for line in log.read_text(encoding="utf-8", errors="replace").splitlines() if _ANSWERS in line]
        if said:
            found = Running(f"{scheme}://{said[0].rpartition(_ANSWERS)[2]}", process, log)
            if scheme == "https" or _is_ready(found.url):
                return found
        if process.poll() is not None or time.monotonic() > until:
            code = process.poll()
            state = "is not ready" if code is None else f"ended with {code}"
            raise AssertionError(f"The server {state}:\n{log.read_text(encoding='utf-8', errors='replace')}")
        time.sleep(0.02)


def _is_ready(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/readyz", timeout=5) as answer:
            return answer.status == 200
    except (urllib.error.URLError, ConnectionError):
        return False
