"""Where tasks run: what a node checks before it begins, and files that are answered a chunk at a time."""

import socket

import pytest
from bundles import write_bundle
from small_project import make_texts

from limbeck.config import Project, parse_config
from limbeck.errors import BadSetting, ClusterMissing, ClusterUnfit, ExtraMissing
from limbeck.runtime.bundle import read_bundle
from limbeck.scale import RayCluster, ThisMachine, answers, executor_of
from limbeck.scale.answers import Answering, answer_file
from limbeck.scale.ray_cluster import reach
from limbeck.scale.worker import Terms, do, versions


def refusal(tmp_path, seen="", **others):
    mine = versions(("numpy",))
    outcome = do([None], 1, Terms("run", 1, str(tmp_path), seen, {**mine, **others}))
    assert isinstance(outcome.error, ClusterUnfit) and socket.gethostname() in str(outcome.error)
    return str(outcome.error)


def test_a_node_refuses_work_whose_project_it_can_t_see(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "doesn't see the project's folder" in refusal(tmp_path, str(tmp_path / "nowhere"))


def test_a_node_refuses_work_that_was_made_with_other_versions(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "has numpy" in refusal(tmp_path, numpy="0.1") and "and this machine 0.1" in refusal(tmp_path, numpy="0.1")
    assert "has Limbeck" in refusal(tmp_path, Limbeck="another")


def test_errors_travel_whole():
    import pickle

    error = pickle.loads(pickle.dumps(ExtraMissing("ray", "A cluster")))
    assert type(error) is ExtraMissing and str(error) == str(ExtraMissing("ray", "A cluster"))


def test_a_project_runs_here_unless_its_settings_say_otherwise(tmp_path):
    assert isinstance(executor_of(Project(tmp_path, parse_config({}))), ThisMachine)
    scale = {"backend": "ray", "address": "head:6379", "cpus": 2, "tasks_per_node": 3, "retries": 1}
    found = executor_of(Project(tmp_path, parse_config({"scale": scale})))
    assert found == RayCluster("head:6379", 2, 3, 1, 60.0, tmp_path / ".limbeck")


@pytest.mark.parametrize("address", ["head", "head:", "head:six"])
def test_what_is_no_address_is_said_to_be_none(address):
    with pytest.raises(BadSetting, match="is no address of a cluster"):
        reach(address)


def test_an_answered_chunk_is_not_answered_again(tmp_path, monkeypatch):
    monkeypatch.setattr(answers, "AT_ONCE", 10)
    monkeypatch.setattr(answers, "GROUPS", 2)
    texts = [text for text, _ in make_texts(70, seed=8)]
    answering = Answering(read_bundle(write_bundle(tmp_path / "bundle")))
    answer_file(answering, texts, tmp_path / "whole", ThisMachine())

    def until_the_disk_fails():
        yield from texts[:50]
        raise OSError("the disk failed")

    with pytest.raises(OSError, match="the disk failed"):
        answer_file(answering, until_the_disk_fails(), tmp_path / "parts", ThisMachine())
    [folder] = tmp_path.glob(".*.parts")
    before = {file.name: file.stat().st_mtime_ns for file in folder.iterdir()}
    assert len(before) == 2 and not (tmp_path / "parts").exists()

    class Watched(ThisMachine):
        def stream(self, work, tasks, what):
            for chunk in tasks:
                assert chunk[0] not in before
                yield work(chunk)

    answer_file(answering, texts, tmp_path / "parts", Watched())
    assert (tmp_path / "parts").read_bytes() == (tmp_path / "whole").read_bytes()
    assert len((tmp_path / "whole").read_text(encoding="utf-8").splitlines()) == 70 and not folder.exists()


def test_a_cluster_that_is_nowhere_costs_no_time(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        address = f"127.0.0.1:{nobody.getsockname()[1]}"
    with pytest.raises(ClusterMissing, match="Start one with: ray start --head"):
        reach(address)
