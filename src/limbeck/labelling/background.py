"""Learning in the background: a process of its own at a low priority, so that nobody waits for it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from limbeck.labelling.status import Round, read_rounds

# A round that could find nothing to ask isn't tried again at once.
PATIENCE_SECONDS = 60.0
# Behind whoever is served, and not so far behind that a busy machine never comes to it.
NICENESS = 10
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")


class Learner:
    """Starts rounds when enough answers came or the queue runs out, one at a time."""

    def __init__(self, command: Sequence[str], folder: Path, every: int) -> None:
        """Run `command` for a round; its rounds are in `folder`/rounds.jsonl, what it says in `folder`/round.log."""
        self._command, self._folder, self._every = list(command), folder, every
        self._answers, self._tried = 0, -PATIENCE_SECONDS
        self._process: subprocess.Popen[bytes] | None = None
        self._failed, self._stopped = "", False
        self._lock = threading.Lock()

    def answered(self) -> None:
        """Count an answer; every so many start a round, at once or when the one that runs has ended."""
        self._answers += 1
        if self._is_due():
            self.start()

    def running_out(self) -> None:
        """Look for more to ask, unless that was tried just now without success."""
        if time.monotonic() - self._tried > PATIENCE_SECONDS:
            self.start()

    def start(self) -> bool:
        """Begin a round unless one runs."""
        with self._lock:
            if self._process is not None or self._stopped:
                return False
            self._answers, self._tried = 0, time.monotonic()
            self._folder.mkdir(parents=True, exist_ok=True)
            with (self._folder / "round.log").open("wb") as log:
                self._process = subprocess.Popen(
                    self._command,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    env={**os.environ, **_ONE_THREAD},
                    preexec_fn=lambda: os.nice(NICENESS),
                )
            threading.Thread(target=self._wait, args=(self._process,), daemon=True).start()
            return True

    def state(self) -> dict[str, Any]:
        """Say whether a round runs, how many answers the next waits for, and what went wrong with the last."""
        with self._lock:
            left = max(0, self._every - self._answers) if self._every else None
            return {"learning": self._process is not None, "next_in": left, "failed": self._failed or None}

    def rounds(self) -> list[Round]:
        """Give the rounds so far."""
        return read_rounds(self._folder / "rounds.jsonl")

    def stop(self) -> None:
        """End a round that runs, and begin no other; what it has finished is kept."""
        with self._lock:
            self._stopped = True
            process = self._process
        if process is not None:
            process.terminate()
            process.wait(20)

    def _is_due(self) -> bool:
        return bool(self._every) and self._answers >= self._every

    def _wait(self, process: subprocess.Popen[bytes]) -> None:
        code = process.wait()
        with self._lock:
            self._failed = self._last_words() if code else ""
            self._process = None
        if self._is_due():
            self.start()

    def _last_words(self) -> str:
        said = (self._folder / "round.log").read_text(encoding="utf-8", errors="replace").strip().splitlines()
        return said[-1][:300] if said else "The round ended without a word."


def round_command(project: Path, question: dict[str, Any], overrides: Sequence[str]) -> list[str]:
    """Give the command of a round."""
    told = json.dumps({"project": str(project), "question": question, "overrides": list(overrides)})
    return [sys.executable, "-m", "limbeck.labelling.rounds", told]
