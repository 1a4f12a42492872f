"""A pool that is scored by a process that is killed with SIGKILL; and one that is larger than memory should ever be."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from small_project import make_texts
from teaching_project import QUICK, pipeline, teaching_project

from limbeck.pseudo.buckets import Gathered
from limbeck.pseudo.guesses import PoolScores

POOL_AT_SIZE = Path(__file__).parent / "pool_at_size.py"
# Real buckets hold 2 MB, more than a test wants to score.
SMALL_BUCKETS = "import limbeck.pseudo.gather as g; g.BUCKET_BYTES = 2_000; from limbeck.cli import main; main()"
TEXTS = 700


def command(folder):
    told = [*QUICK, "encoder.name=encoder", "teach.kind=probe"]
    sets = [word for setting in told for word in ("--set", setting)]
    return [sys.executable, "-c", SMALL_BUCKETS, "pseudo", "--quiet", "-p", str(folder), *sets]


def finished(folder, store=".limbeck"):
    """Give the finished tasks; they come while this looks."""
    found = (folder / store / "tasks" / "scores").glob("*/manifest.json")
    return {file.parent.name: json.loads(file.read_text(encoding="utf-8"))["finished"] for file in found}


def test_a_kill_while_the_pool_is_scored_costs_one_bucket(tmp_path, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    folder = teaching_project(tmp_path / "p")
    texts = [text for text, _ in make_texts(TEXTS, seed=5)]
    lines = [json.dumps({"text": text}) for text in [*texts, *texts[:100]]]
    (folder / "pool.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")

    deadline = time.monotonic() + 120
    process = subprocess.Popen(command(folder), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    while len(finished(folder)) < 3:
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    before = finished(folder)
    chain = pipeline(folder, "probe")
    buckets = len(Gathered.load(chain.folder("pool")).buckets)
    assert 3 <= len(before) < buckets and chain.folder("pseudo") is None

    subprocess.run(command(folder), check=True, capture_output=True, timeout=280)
    after = finished(folder)
    assert {key: after[key] for key in before} == before and len(after) == buckets
    chain = pipeline(folder, "probe")
    rows, seen = [], []
    for bucket, proba in PoolScores.load(chain.folder("pool"), chain.folder("pseudo"), chain.folder("teach")):
        rows += bucket.rows[0].tolist()
        seen += bucket.texts
        assert not (proba != proba)[bucket.train_row < 0].any()
    judges = pq.read_table(chain.folder("pool") / "judges.parquet").num_rows
    assert sorted(rows) == list(range(TEXTS + 100)) and judges == 0
    assert sorted(seen) == sorted(texts)
    selected = pq.read_table(chain.folder("select") / "selected.parquet").column("row").to_pylist()
    labelled = sum(bucket.labelled for bucket in Gathered.load(chain.folder("pool")).buckets)
    assert len(set(selected)) == len(selected) == TEXTS - labelled


def at_size(folder, rows, kill_after=0):
    """Let a fresh process send a pool of so many rows through; give its peak memory and what it found.

    If it is killed first, when it has scored `kill_after` buckets, the tasks that were finished then are given, too,
    and the peak is the higher one of the two processes: the first has read and gathered.
    """
    folder.mkdir()
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    arguments = [sys.executable, str(POOL_AT_SIZE), str(folder), str(rows)]
    before, peak = {}, 0.0
    if kill_after:
        process = subprocess.Popen(
            arguments, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment
        )
        deadline = time.monotonic() + 1500
        while len(finished(folder, "store")) < kill_after:
            assert process.poll() is None, process.communicate()[1]
            assert time.monotonic() < deadline
            time.sleep(0.05)
        status = Path(f"/proc/{process.pid}/status").read_text(encoding="utf-8")
        process.send_signal(signal.SIGKILL)
        process.communicate()
        peak = int(status.partition("VmHWM:")[2].split()[0]) / 1024
        before = finished(folder, "store")
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=1500, env=environment)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    told["peak_mib"] = max(told["peak_mib"], peak)
    print(json.dumps({**told, "finished before the kill": len(before)}))
    return told, before


@pytest.mark.slow
def test_a_million_rows_take_no_more_memory_and_survive_a_kill(tmp_path):
    small, _ = at_size(tmp_path / "small", 100_000)
    large, before = at_size(tmp_path / "large", 1_000_000, kill_after=20)
    for told, rows in ((small, 100_000), (large, 1_000_000)):
        assert told["rows"] == told["distinct"] == rows
        assert told["kept"] == told["scored"] == told["texts"] == rows * 9 // 10
    after = finished(tmp_path / "large", "store")
    assert 20 <= len(before) < large["buckets"] == len(after)
    assert {key: after[key] for key in before} == before
    assert large["peak_mib"] - small["peak_mib"] < 50
