"""How long an annotator waits for the next text, while the model learns in the background and while it doesn't.

python benchmarks/annotating.py [--answers N] makes the demo corpus, serves its page, and answers as somebody would who
is faster than any person: every 100 ms. Rounds of learning run one after the other.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import numpy as np
from results import publish

EVERY = 0.1


@contextmanager
def page(project: Path) -> Iterator[str]:
    """Serve the annotators' page until the block ends; give its address."""
    command = [sys.executable, "-m", "limbeck", "annotate", "-p", str(project), "--category", "punctuality"]
    command += ["--port", "0", "--set", "annotate.batch=2000", "--set", "annotate.retrain_every=0"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    found = re.search(r"http://\S+", process.stderr.readline())
    assert found, "the page didn't start"
    threading.Thread(target=process.stderr.read, daemon=True).start()
    try:
        yield found[0]
    finally:
        process.terminate()
        process.wait(60)


def wait_for_texts(client: httpx.Client) -> None:
    """Wait for the first round, which reads all candidates."""
    while client.get("/api/progress").json()["waiting"] < 100:
        time.sleep(1)
    while client.get("/api/progress").json()["model"]["learning"]:
        time.sleep(0.5)


def ask(client: httpx.Client, answers: int, learning: bool) -> tuple[list[float], list[float], int]:
    """Answer and time it; give milliseconds of answers, of what the page asks besides, and how many rounds ran."""
    tasks = client.post("/api/next", json={"annotator": "Ann", "count": 3}).json()["tasks"]
    taken, besides, rounds = [], [], 0
    for number in range(answers):
        if learning:
            rounds += client.post("/api/learn", json={}).json()["started"]
        if number % 20 == 0:
            began = time.perf_counter()
            client.get("/api/progress", params={"annotator": "Ann"}).raise_for_status()
            besides.append(1e3 * (time.perf_counter() - began))
        body = {"annotator": "Ann", "id": tasks[0]["id"], "verdict": "label", "value": number % 3 == 0, "seconds": 2.0}
        began = time.perf_counter()
        told = client.post("/api/answer", json=body)
        taken.append(1e3 * (time.perf_counter() - began))
        told.raise_for_status()
        tasks = told.json()["tasks"]
        time.sleep(max(0.0, EVERY - (time.perf_counter() - began)))
    return taken, besides, rounds


def main() -> None:
    """Run and publish."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--answers", type=int, default=600)
    told = parser.parse_args()
    rows: list[dict[str, object]] = []
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder) / "demo"
        subprocess.run([sys.executable, "-m", "limbeck", "demo-data", str(project), "--pool-rows", "6000"], check=True)
        with page(project) as address, httpx.Client(base_url=address, timeout=60) as client:
            wait_for_texts(client)
            for learning in (False, True):
                taken, besides, rounds = ask(client, told.answers, learning)
                marks = {f"p{p} ms": float(np.percentile(taken, p)) for p in (50, 95, 99)}
                row = {"background": "learning" if learning else "nothing", "answers": len(taken), "rounds": rounds}
                rows.append(
                    {**row, **marks, "longest ms": max(taken), "progress, p95 ms": float(np.percentile(besides, 95))}
                )
                print(json.dumps(rows[-1]), flush=True)
    note = "The demo corpus, one category, SQLite: from an answer to the next text, kept on the disk in between; every "
    publish("annotating-latency", rows, note + "100 ms one. Rounds of learning run one after the other, on 2 cores.")


if __name__ == "__main__":
    main()
