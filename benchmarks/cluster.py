"""Teaching and scoring the pool on a Ray cluster of three nodes on this machine, against this machine without one.

python benchmarks/cluster.py [--pool-rows 40000] [--set section.key=value] [--no-publish]

The cluster's head has no cores and gives out the tasks; two nodes share the machine's cores, a thread a task. In the
last run one of the two is killed with all its processes while the pool is scored.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
from results import RESULTS, ROOT, WORK, publish

from limbeck.project import create_demo
from limbeck.store import content_of

POOL_ROWS = 40_000
# Real buckets hold 2 MB; of a pool of this size there would be too few to share out.
BUCKETS = 16
SETTINGS = ("teach.kind=partial", "teach.folds=4", "train.epochs=1", "baselines.kinds=[]")
STORE_BYTES = 200_000_000
# Finished buckets after which a node is killed.
KILLED_AFTER = 3
RUN = "import limbeck.pseudo.gather as g; g.BUCKET_BYTES = {}; from limbeck.cli import main; main()"


@dataclass(frozen=True)
class Cluster:
    """A running cluster, and the processes of a node of it that may be killed."""

    address: str
    raylet: int

    def kill_node(self) -> None:
        """End a node as a power cut would."""
        for process in [psutil.Process(self.raylet), *psutil.Process(self.raylet).children(recursive=True)]:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.send_signal(signal.SIGKILL)


@contextlib.contextmanager
def cluster(cores: int) -> Iterator[Cluster]:
    """Start a head without cores and two nodes that share so many, each with an address of its own."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ["PYTHONPATH"] = str(ROOT / "src")
    from ray.cluster_utils import Cluster as Nodes

    head = {"node_ip_address": "127.0.0.2", "num_cpus": 0, "object_store_memory": STORE_BYTES}
    nodes = Nodes(initialize_head=True, head_node_args={**head, "include_dashboard": False})
    try:
        told = [
            nodes.add_node(node_ip_address=f"127.0.0.{3 + place}", num_cpus=share, object_store_memory=STORE_BYTES)
            for place, share in enumerate((cores // 2, cores - cores // 2))
        ]
        nodes.wait_for_nodes()
        yield Cluster(nodes.address, told[0].all_processes["raylet"][0].process.pid)
    finally:
        nodes.shutdown()


@dataclass(frozen=True)
class Ran:
    """A finished run: seconds and figures of its steps, and what its tasks' files hold."""

    seconds: dict[str, float]
    texts: int
    tasks: dict[str, str]


def run(folder: Path, threads: int, settings: tuple[str, ...], killed: Cluster | None = None) -> Ran:
    """Run a project's chain up to the pseudo labels in a fresh process with so many threads."""
    chain = RUN.format((folder / "pool.jsonl").stat().st_size // BUCKETS)
    command = [sys.executable, "-c", chain, "run", "--json", "--until", "pseudo", "-p", str(folder)]
    command += [word for setting in settings for word in ("--set", setting)]
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "PYTHONPATH": str(ROOT / "src")}
    if killed:
        threading.Thread(target=_kill_later, args=(folder, killed), daemon=True).start()
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    told: dict[str, Any] = json.loads(done.stdout)
    root = folder / ".limbeck" / "tasks"
    tasks = {f.parent.relative_to(root).as_posix(): content_of(f.parent) for f in root.rglob("manifest.json")}
    return Ran({name: step["seconds"] for name, step in told.items()}, int(told["pseudo"]["figures"]["texts"]), tasks)


def _kill_later(folder: Path, cluster: Cluster) -> None:
    while len(list((folder / ".limbeck" / "tasks" / "scores").glob("*/manifest.json"))) < KILLED_AFTER:
        time.sleep(0.05)
    cluster.kill_node()


def main() -> None:
    """Parse, run, publish."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pool-rows", type=int, default=POOL_ROWS, help="rows of the pool")
    parser.add_argument("--set", dest="settings", action="append", default=[], help="section.key=value")
    parser.add_argument("--no-publish", action="store_true", help="leave docs/RESULTS.md alone")
    arguments = parser.parse_args()
    cores = os.cpu_count() or 1
    settings = (*SETTINGS, *arguments.settings)
    work = WORK / "cluster"
    shutil.rmtree(work, ignore_errors=True)

    def project(title: str) -> Path:
        create_demo(work / title, seed=0, pool_rows=arguments.pool_rows)
        return work / title

    runs = {
        f"this machine, {cores} threads": (cores, run(project("all"), cores, settings)),
        "this machine, 1 thread": (1, run(project("one"), 1, settings)),
    }
    for title, kill in (("three nodes", False), ("three nodes, of which one is killed", True)):
        with cluster(cores) as started:
            on_ray = ("scale.backend=ray", f"scale.address={started.address}")
            folder = project(title.replace(" ", "-").replace(",", ""))
            runs[title] = cores, run(folder, 1, (*settings, *on_ray), started if kill else None)
    [(_, fastest), (_, plain), *_] = runs.values()
    table = []
    for title, (used, ran) in runs.items():
        teach, pseudo = ran.seconds["teach"], ran.seconds["pseudo"]
        same = sum(ran.tasks.get(name) == content for name, content in plain.tasks.items())
        table.append(
            {
                "tasks run on": title,
                "cores": used,
                "teaching, s": f"{teach:.1f}",
                "scoring the pool, s": f"{pseudo:.1f}",
                "texts a second": round(ran.texts / pseudo),
                "scoring takes": f"{pseudo / fastest.seconds['pseudo']:.2f}",
                "both take": f"{(teach + pseudo) / (fastest.seconds['teach'] + fastest.seconds['pseudo']):.2f}",
                "tasks with the same bytes as with 1 thread here": f"{same} of {len(plain.tasks)}",
            }
        )
    note = (
        f"The demo corpus with {arguments.pool_rows:,} rows of pool in {BUCKETS} buckets; "
        f"{', '.join(settings)}. Seconds are those of whole steps: connecting, starting a process a core that imports "
        "torch, twice for teaching and once for the pool, and all that the driver does alone are in them. 'Takes' is "
        f"the time over that of this machine with {cores} threads. The nodes are processes of this one machine, so "
        f"nothing can be faster than it; the killed node dies after {KILLED_AFTER} buckets, and half the cores with it."
    )
    publish("cluster", table, note, None if arguments.no_publish else RESULTS)


if __name__ == "__main__":
    main()
