"""What an answer costs: time from raw text to labels, memory, size, multiply-adds, and money."""

from __future__ import annotations

import itertools
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

WARM_UP, TIMED = 100, 300
# A slow model needn't be asked three hundred times to be known; it is asked for so long at least. Of batches the mean
# counts, which fewer calls tell.
SECONDS, FEWEST, FEWEST_BATCHES = 20.0, 30, 10


@dataclass(frozen=True)
class Timing:
    """Milliseconds a call, and texts a second."""

    calls: int
    mean: float
    deviation: float
    p5: float
    p25: float
    p50: float
    p75: float
    p95: float
    p99: float
    texts_a_second: float

    def as_dict(self) -> dict[str, float]:
        """Give plain values."""
        return asdict(self)


def time_calls(answer: Callable[[list[str]], object], batches: Sequence[list[str]], seconds: float = SECONDS) -> Timing:
    """Time an answer to each batch in turn, after a warm-up, one at a time, for about so many seconds at most."""
    return timing_of(sample_calls(answer, batches, seconds), batches)


def sample_calls(
    answer: Callable[[list[str]], object], batches: Sequence[list[str]], seconds: float, turns: int = 1
) -> list[float]:
    """Give the seconds of single calls, after a warm-up; of so many turns, one."""
    if not batches:
        raise ValueError("There are no texts to time.")
    shown = itertools.cycle(batches)
    fewest = -(-(FEWEST if len(batches[0]) == 1 else FEWEST_BATCHES) // turns)
    began = time.perf_counter()
    for done in range(WARM_UP):
        answer(next(shown))
        if done >= fewest // 3 and time.perf_counter() - began > seconds / turns / 4:
            break
    taken: list[float] = []
    began = time.perf_counter()
    while len(taken) < TIMED // turns:
        batch = next(shown)
        start = time.perf_counter()
        answer(batch)
        taken.append(time.perf_counter() - start)
        if len(taken) >= fewest and time.perf_counter() - began > seconds / turns:
            break
    return taken


def timing_of(taken: Sequence[float], batches: Sequence[list[str]]) -> Timing:
    """Sum up single calls, all of batches of one size."""
    found = np.array(taken) * 1e3
    p5, p25, p50, p75, p95, p99 = np.percentile(found, [5, 25, 50, 75, 95, 99]).tolist()
    speed = len(batches[0]) * 1e3 / found.mean()
    return Timing(len(taken), float(found.mean()), float(found.std()), p5, p25, p50, p75, p95, p99, float(speed))


def texts_of_length(texts: Sequence[str], count: Callable[[str], int], tokens: int, wanted: int) -> list[str]:
    """Put words of real texts together to `wanted` different texts of about so many tokens, none of more.

    `count` gives the tokens of a text, special ones included.
    """
    words = itertools.cycle([word for text in texts for word in text.split()])
    found = []
    for _ in range(wanted):
        made: list[str] = []
        while True:
            # Words are added by the share that is missing, so that few texts need counting more than three times.
            missing = tokens - count(" ".join(made))
            if missing <= 0:
                break
            made += itertools.islice(words, max(1, missing // 2))
        while made and count(" ".join(made)) > tokens:
            made.pop()
        found.append(" ".join(made))
    return found


@dataclass(frozen=True)
class Serving:
    """What a process that does nothing else needs: seconds until it is loaded, imports included, and megabytes."""

    load_seconds: float
    loaded_mb: float
    peak_mb: float


# What a process does to have a model that answers; `folders` are those that it was given.
A_BUNDLE = "import limbeck; answer = limbeck.load(folders[0]).predict"
A_STUDENT = "from limbeck.students.scorer import load_student; answer = load_student(folders[0]).predict_proba"
A_TEACHER = "from limbeck.teach.calibrate import load_calibrated; answer = load_calibrated(*folders).predict_proba"
A_BASELINE = "from limbeck.baselines import BaselineScorer; answer = BaselineScorer.load(folders[0]).predict_proba"

_CHILD = """
import sys, time
began = time.perf_counter()
from pathlib import Path
folders = [Path(name) if name else None for name in sys.argv[2:]]
exec(sys.argv[1])
answer(["a text"])
loaded = time.perf_counter() - began
import json, resource
def most():
    try:
        told = open("/proc/self/status").read()
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    # Unlike ru_maxrss, this doesn't count what the process was forked from.
    return int(told.partition("VmHWM:")[2].split()[0]) / 1024
after = most()
for text in json.load(sys.stdin):
    answer([text])
print(json.dumps([loaded, after, most()]))
"""


def serving_process(loading: str, folders: Sequence[Path | None], texts: Sequence[str], loads: int = 1) -> Serving:
    """Load a model in a process of its own, on one thread, until its first answer; then let it answer these texts.

    The time is the median of so many loads, each in a new process.
    """
    found = [_process(loading, folders, texts if turn == 0 else ()) for turn in range(loads)]
    return replace(found[0], load_seconds=statistics.median(one.load_seconds for one in found))


def _process(loading: str, folders: Sequence[Path | None], texts: Sequence[str]) -> Serving:
    done = subprocess.run(
        [sys.executable, "-c", _CHILD, loading, *("" if folder is None else str(folder) for folder in folders)],
        input=json.dumps(list(texts)),
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )
    return Serving(*json.loads(done.stdout.splitlines()[-1]))


def cost_of_a_million(texts_a_second: float, cores: int, price: float) -> tuple[float, float]:
    """Give the CPU-seconds of a million texts, and what they cost at a price a core-hour."""
    seconds = 1e6 / texts_a_second * cores
    return seconds, seconds / 3600 * price
