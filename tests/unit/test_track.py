"""Tracking without a server: plain JSON always, MLflow's SQLite file on request."""

import json
import subprocess
import sys

import pytest

from limbeck.config import load_project
from limbeck.pipeline import Pipeline


def test_without_mlflow_the_figures_are_in_plain_json(project_folder):
    chain = Pipeline(load_project(project_folder))
    chain.run(until="data")
    outcome = json.loads((chain.folder("data") / "figures.json").read_text(encoding="utf-8"))
    assert outcome["figures"]["categories"] == 3 and outcome["seconds"] >= 0
    assert not (project_folder / ".limbeck" / "mlflow.sqlite3").exists()


def test_mlflow_is_not_even_imported_unless_it_is_asked_for(project_folder):
    code = (
        "import sys; from pathlib import Path; from limbeck.config import load_project; from limbeck.pipeline import Pipeline; "
        f"Pipeline(load_project(Path({str(project_folder)!r}))).run(until='data'); sys.exit('mlflow' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_sqlite_file_in_the_project_is_the_default_store(project_folder):
    mlflow = pytest.importorskip("mlflow", reason="the extra 'track' is not installed")
    Pipeline(load_project(project_folder, ["track.mlflow=true"])).run(until="data")
    file = project_folder / ".limbeck" / "mlflow.sqlite3"
    client = mlflow.MlflowClient(tracking_uri=f"sqlite:///{file}")
    experiment = client.get_experiment_by_name("limbeck")
    (run,) = client.search_runs([experiment.experiment_id])
    assert run.data.metrics["categories"] == 3 and run.data.params["task"] == "multilabel"
    assert list((project_folder / ".limbeck" / "mlflow-artefacts").rglob("figures.json"))


def test_a_kill_between_reporting_and_noting_it_reports_nothing_twice(project_folder):
    mlflow = pytest.importorskip("mlflow", reason="the extra 'track' is not installed")
    Pipeline(load_project(project_folder, ["track.mlflow=true"])).run(until="data")
    for mark in (project_folder / ".limbeck" / "tracked").iterdir():
        mark.unlink()
    Pipeline(load_project(project_folder, ["track.mlflow=true"])).run(until="data")
    client = mlflow.MlflowClient(tracking_uri=f"sqlite:///{project_folder / '.limbeck' / 'mlflow.sqlite3'}")
    assert len(client.search_runs([client.get_experiment_by_name("limbeck").experiment_id])) == 1
