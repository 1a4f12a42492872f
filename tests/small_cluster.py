"""A Ray cluster of three nodes on this machine, each with an address of its own on the loopback, and work for it."""

import contextlib
import os
import signal
import time
from pathlib import Path

import numpy as np
import psutil
import pytest

import limbeck
from limbeck.errors import RunError

STORE_BYTES = 80_000_000
# A dead node is noticed in a second or two; usually that takes up to a quarter of a minute.
SOON = {"health_check_initial_delay_ms": 0, "health_check_period_ms": 500, "health_check_failure_threshold": 3}


class Nodes:
    """The nodes, of which the first is the head."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.address = cluster.address

    def add(self, number):
        self.cluster.add_node(
            wait=False, node_ip_address=f"127.0.0.{number}", num_cpus=1, object_store_memory=STORE_BYTES
        )

    def kill_one(self):
        """End a node that is not the head as a power cut would."""
        node = next(iter(self.cluster.worker_nodes))
        raylet = node.all_processes["raylet"][0].process.pid
        for process in [psutil.Process(raylet), *psutil.Process(raylet).children(recursive=True)]:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.send_signal(signal.SIGKILL)
        return node.node_ip_address


@contextlib.contextmanager
def three_nodes():
    """Start a cluster of three nodes with a core each."""
    with pytest.MonkeyPatch.context() as patch:
        here = Path(__file__).parent
        patch.setenv("PYTHONPATH", os.pathsep.join([str(Path(limbeck.__file__).parents[1]), str(here)]))
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        from ray.cluster_utils import Cluster

        head = {"node_ip_address": "127.0.0.2", "num_cpus": 1, "object_store_memory": STORE_BYTES}
        cluster = Cluster(
            initialize_head=True, head_node_args={**head, "include_dashboard": False, "_system_config": SOON}
        )
        nodes = Nodes(cluster)
        try:
            for number in (3, 4):
                nodes.add(number)
            cluster.wait_for_nodes()
            yield nodes
        finally:
            cluster.shutdown()


class SlowScorer:
    """Takes its time; its probabilities come from the texts alone."""

    labels = ("heat", "wifi")

    def __init__(self, seconds=0.2, broken=""):
        self.seconds, self.broken = seconds, broken

    def predict_proba(self, texts):
        time.sleep(self.seconds)
        proba = np.array([[len(text) % 97 / 97, sum(map(ord, text)) % 89 / 89] for text in texts], dtype=np.float32)
        return np.where([[bool(self.broken) and self.broken in text] for text in texts], np.nan, proba)


def square(number):
    return number * number


def refuse(number):
    raise RunError(f"The task {number} can't be done.", "Leave it.")


def die_once(mark):
    """End this process as the system would, the first time that a task is done; say how often it was tried."""
    with Path(mark).open("a", encoding="utf-8") as file:
        file.write("x")
    if len(Path(mark).read_text(encoding="utf-8")) == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return len(Path(mark).read_text(encoding="utf-8"))


def wait_here(mark):
    """Write this process's number, and wait."""
    Path(mark).write_text(str(os.getpid()), encoding="utf-8")
    time.sleep(60)
