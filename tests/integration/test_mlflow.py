"""Tracking with a real MLflow server on loopback, with its SQLite file, and with a server that is gone."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
from teaching_project import pipeline, teaching_project

from limbeck.config import load_project
from limbeck.pipeline import Pipeline

mlflow = pytest.importorskip("mlflow", reason="the extra 'track' is not installed")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder, port = tmp_path_factory.mktemp("mlflow"), free_port()
    log = (folder / "log").open("w", encoding="utf-8")
    command = [sys.executable, "-m", "mlflow", "server", "--host", "127.0.0.1", "--port", str(port), "--workers", "1"]
    command += [
        "--backend-store-uri",
        f"sqlite:///{folder}/m.sqlite3",
        "--artifacts-destination",
        str(folder / "artifacts"),
    ]
    process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
    url, deadline = f"http://127.0.0.1:{port}", time.monotonic() + 120
    while True:
        try:
            with urllib.request.urlopen(f"{url}/health", timeout=2):
                break
        except OSError:
            assert process.poll() is None and time.monotonic() < deadline, (folder / "log").read_text(encoding="utf-8")
            time.sleep(0.3)
    yield url
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def run(folder: Path, uri: str) -> None:
    settings = ["track.mlflow=true", f'track.uri="{uri}"', 'track.experiment="rails"']
    Pipeline(load_project(folder, settings)).run()


def runs(uri: str) -> dict:
    client = mlflow.MlflowClient(tracking_uri=uri)
    experiment = client.get_experiment_by_name("rails")
    found = client.search_runs([experiment.experiment_id]) if experiment else []
    return {run.data.tags["limbeck.step"]: (run, client) for run in found} | (
        {"count": len(found)} if found else {"count": 0}
    )


def test_parameters_figures_and_artefacts_arrive_at_a_server_once(project_folder, server):
    run(project_folder, server)
    run(project_folder, server)
    found = runs(server)
    assert found["count"] == 3
    measured, client = found["measure"]
    assert measured.info.status == "FINISHED"
    assert 0 < measured.data.metrics["tfidf-logreg.test.macro_f1"] <= 1
    assert measured.data.params["split.folds"] == "3" and measured.data.params["data.dev"] == "dev.jsonl"
    artefacts = {a.path for a in client.list_artifacts(measured.info.run_id, "tfidf-logreg")}
    assert "tfidf-logreg/figures.json" in artefacts
    assert found["data"][0].data.metrics["train_rows"] > 0


def test_every_evaluation_of_a_teacher_arrives_with_its_step(tmp_path, server):
    folder = teaching_project(tmp_path / "p")
    told = [
        "train.epochs=3",
        "teach.folds=1",
        "track.mlflow=true",
        f'track.uri="{server}"',
        'track.experiment="teaching"',
    ]
    chain = pipeline(folder, "partial", *told)
    chain.run(until="teach")
    client = mlflow.MlflowClient(tracking_uri=server)
    experiment = client.get_experiment_by_name("teaching")
    [found] = client.search_runs([experiment.experiment_id], "tags.`limbeck.step` = 'teach'")
    arrived = {m.step: m.value for m in client.get_metric_history(found.info.run_id, "all.fold0.seed0.f1_dev")}
    [series] = json.loads((chain.folder("teach") / "history.json").read_text(encoding="utf-8")).values()
    assert len(series) == 3 and arrived == {figures["step"]: figures["f1_dev"] for figures in series}


def test_a_server_that_is_gone_stops_nothing_and_is_told_later(project_folder, server, capfd):
    run(project_folder, f"http://127.0.0.1:{free_port()}")
    assert "the next run tries again" in capfd.readouterr().err
    before = runs(server)["count"]
    run(project_folder, server)
    assert runs(server)["count"] == before + 3
