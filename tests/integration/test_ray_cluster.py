"""A real Ray cluster: the same results as on one machine, whatever happens to its nodes, and clear words when it can't be."""

import importlib
import json
import logging
import os
import signal
import socket
import sys
import threading
import time
import warnings
from pathlib import Path

import psutil
import pytest
import ray
import torch
from bundles import write_bundle
from small_cluster import SlowScorer, die_once, refuse, square, three_nodes, wait_here
from small_pool import MADE_WITH, gathered
from small_project import make_texts
from teaching_project import pipeline, teaching_project
from typer.testing import CliRunner

from limbeck.cli import app
from limbeck.compress import scoring
from limbeck.errors import ClusterMissing, ClusterUnfit, ExtraMissing, RunError
from limbeck.pseudo import gather as gathering
from limbeck.pseudo.buckets import Gathered
from limbeck.pseudo.scores import TASK_FILE, TASK_KIND, score_pool
from limbeck.scale import RayCluster, ThisMachine, answers
from limbeck.store import Store, content_of, hash_file

# Nodes take long to start where little is free.
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def nodes():
    with three_nodes() as started:
        yield started


@pytest.fixture(scope="module")
def kept(nodes):
    """Stay connected: processes that have loaded everything once serve the next test, too."""
    ray.init(nodes.address, logging_level=logging.ERROR, log_to_driver=False)
    yield
    ray.shutdown()


@pytest.fixture
def alone():
    """Begin without a connection."""
    ray.shutdown()


@pytest.fixture
def one_thread():
    """Local runs have as many threads as a task of the cluster."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def tasks_of(folder):
    """Give what every finished task's files hold, by its kind and key."""
    root = folder / ".limbeck" / "tasks"
    return {file.parent.relative_to(root).as_posix(): content_of(file.parent) for file in root.rglob("manifest.json")}


def pool_of(folder, monkeypatch, texts=600):
    monkeypatch.setattr(gathering, "BUCKET_BYTES", 2_000)
    return gathered(folder, [text for text, _ in make_texts(texts, seed=5)])[0]


def scores_of(folder, pool, scorer, executor):
    """Score a pool into a store of its own; give each finished task's bytes by key."""
    out, store = folder / "out", Store(folder / "store")
    out.mkdir(parents=True)
    score_pool(pool, out, scorer, dict.fromkeys(scorer.labels, "it"), store, MADE_WITH, executor=executor)
    return {key: hash_file(store.folder(TASK_KIND, key) / TASK_FILE) for key, _ in store.newest_first(TASK_KIND)}


def test_a_cluster_teaches_and_scores_what_one_machine_does_bit_for_bit(tmp_path, nodes, kept, monkeypatch, one_thread):
    monkeypatch.setattr(gathering, "BUCKET_BYTES", 4_000)
    monkeypatch.setattr(scoring, "MANY", 20)
    folder = teaching_project(tmp_path / "p")
    lines = [json.dumps({"text": text}) for text, _ in make_texts(200, seed=5)]
    (folder / "pool.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    quick = ("train.epochs=1", "train.freeze_layers=1")
    states = pipeline(folder, "partial", *quick).run(until="pseudo")
    here, tasks = {state.step.name: state for state in states}, tasks_of(folder)
    assert {name.split("/")[0] for name in tasks} == {"networks", "probe", "scores"} and len(tasks) > 8

    (folder / ".limbeck").rename(folder / "kept")
    on_ray = ("scale.backend=ray", f"scale.address={nodes.address}")
    pipeline(folder, "partial", *quick, *on_ray).run(until="pseudo")
    assert tasks_of(folder) == tasks
    # What a cluster did is done for this machine, too.
    there = {state.step.name: state for state in pipeline(folder, "partial", *quick).status()}
    for name in ("teach", "pseudo"):
        assert there[name].done and there[name].key == here[name].key and there[name].content == here[name].content


def test_an_error_in_a_task_is_told_as_if_it_had_happened_here(tmp_path, nodes, kept, monkeypatch):
    pool = pool_of(tmp_path, monkeypatch, texts=60)
    broken = SlowScorer(0, broken="wifi")
    told = []
    for executor in (ThisMachine(), RayCluster(nodes.address)):
        with pytest.raises(RunError, match="gives nan as the probability of 'heat'") as caught:
            scores_of(tmp_path / type(executor).__name__, pool, broken, executor)
        assert caught.type is RunError and "\n" not in str(caught.value)
        told.append(caught.value.fix)
    assert told[0] == told[1]
    with pytest.raises(RunError, match=r"\[L400\] The task 3 can't be done. Leave it."):
        RayCluster(nodes.address).run(refuse, [3], "refusing")


def test_a_node_that_lacks_a_package_is_told_of_in_a_sentence(tmp_path, nodes, kept, monkeypatch):
    (tmp_path / "only_here.py").write_text("def work(task):\n    return task\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ClusterUnfit, match="can't unpack a task: No module named 'only_here'. Install Limbeck there"):
        RayCluster(nodes.address).run(importlib.import_module("only_here").work, [1], "working")


def test_results_come_in_the_order_of_the_tasks_and_none_too_early(nodes, kept):
    asked = []

    def numbers():
        for number in range(30):
            asked.append(number)
            yield number

    found = RayCluster(nodes.address).stream(square, numbers(), "squares")
    assert next(found) == 0 and len(asked) < 10
    assert list(found) == [number * number for number in range(1, 30)]


def test_a_file_is_answered_on_a_cluster_as_it_is_here(tmp_path, nodes, kept, monkeypatch):
    monkeypatch.setattr(answers, "GROUPS", 1)
    bundle = write_bundle(tmp_path / "bundle")
    lines = [json.dumps({"text": text}) for text, _ in make_texts(2500, seed=6)]
    (tmp_path / "texts.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for name, more in (("here", []), ("there", ["--backend", "ray", "--address", nodes.address])):
        command = ["predict", bundle, "--from", tmp_path / "texts.jsonl", "--to", tmp_path / name, *more]
        done = CliRunner().invoke(app, list(map(str, command)))
        assert done.exit_code == 0 and done.output == "", done.output
    assert (tmp_path / "there").read_bytes() == (tmp_path / "here").read_bytes()
    assert not list(tmp_path.glob(".*"))


def test_a_process_that_dies_is_replaced_and_its_task_done_again(tmp_path, nodes, kept):
    with pytest.warns(UserWarning, match="A task is done again: its process on 127.0.0"):
        assert RayCluster(nodes.address).run(die_once, [tmp_path / "mark"], "dying") == [2]
    with pytest.raises(ClusterUnfit, match="A task was lost 1 times, at last because its process"):
        RayCluster(nodes.address, retries=0).run(die_once, [tmp_path / "other"], "dying")


def test_an_interrupt_ends_what_runs_on_the_nodes(tmp_path, nodes, kept):
    mark = tmp_path / "mark"

    def interrupt():
        while not mark.exists() or not mark.read_text(encoding="utf-8"):
            time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        RayCluster(nodes.address).run(wait_here, [mark], "waiting")
    process = int(mark.read_text(encoding="utf-8"))
    last = time.monotonic() + 5
    while psutil.pid_exists(process) and psutil.Process(process).status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < last
        time.sleep(0.05)


def test_a_cluster_that_is_too_small_says_what_it_has(nodes, alone):
    with pytest.raises(ClusterUnfit, match=r"No node had 64 cores for a task within 0.3 s; the largest has 1."):
        RayCluster(nodes.address, cpus=64, wait_seconds=0.3).run(square, [1], "squares")


def test_a_cluster_that_can_t_be_reached_is_told_of_within_seconds(alone, monkeypatch):
    started = time.monotonic()
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        closed = f"127.0.0.1:{nobody.getsockname()[1]}"
    with pytest.raises(ClusterMissing, match=f"No Ray cluster answers at {closed}.*ray start --head"):
        RayCluster(closed).run(square, [1], "squares")
    monkeypatch.setattr("limbeck.scale.ray_cluster.ANSWER_SECONDS", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as mute:
        address = f"127.0.0.1:{mute.getsockname()[1]}"
        with pytest.raises(ClusterMissing, match="timed out"):
            RayCluster(address).run(square, [1], "squares")
    assert time.monotonic() - started < 8


def test_without_the_extra_one_sentence_says_how_to_install_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ExtraMissing, match=r"needs the extra 'ray'. Install it with: pip install 'limbeck\[ray\]'"):
        RayCluster().run(square, [1], "squares")


def test_a_node_that_is_killed_loses_nothing(tmp_path, nodes, alone, monkeypatch):
    pool = pool_of(tmp_path, monkeypatch)
    expected = scores_of(tmp_path / "local", pool, SlowScorer(0), ThisMachine())
    killed = []

    def kill():
        finished = Path(tmp_path / "many" / "store" / TASK_KIND)
        while len(list(finished.glob("*/manifest.json"))) < 5:
            time.sleep(0.05)
        killed.append(nodes.kill_one())

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = scores_of(tmp_path / "many", pool, SlowScorer(0.3), RayCluster(nodes.address))
    killer.join()
    assert any(
        "A task is done again" in str(warning.message) and killed[0] in str(warning.message) for warning in caught
    )
    assert found == expected and len(found) == len(Gathered.load(pool).buckets) > 12
