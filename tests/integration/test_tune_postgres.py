"""One study in a real PostgreSQL server: two projects, as on two machines, and no trial twice."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import postgres
import pytest
from small_project import write_project

from limbeck.errors import StudyUnreachable
from limbeck.tune import study, tune

POOR = "baselines.logreg_c=0.001"
HERE = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "src")}


@pytest.fixture(scope="module")
def server():
    with postgres.running() as server:
        yield server


@pytest.fixture(scope="module")
def machines(tmp_path_factory):
    folder = tmp_path_factory.mktemp("machines")
    one = write_project(folder / "one" / "p")
    return one, Path(shutil.copytree(one, folder / "two" / "p"))


def begin(folder, url, study, trials):
    command = [sys.executable, "-m", "limbeck", "tune", "-p", str(folder), "--target", "baselines", "--json"]
    more = ["--trials", str(trials), "--storage", url, "--study", study, "--set", POOR]
    return subprocess.Popen([*command, *more], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=HERE)


def ended(child):
    out, error = child.communicate(timeout=120)
    assert child.returncode == 0, error.decode()
    return json.loads(out)


def test_two_processes_share_a_study_and_do_no_trial_twice(server, machines):
    both = [ended(child) for child in [begin(folder, server.url, "shared", 6) for folder in machines]]
    trials = both[0]["trials"]
    tried = [json.dumps(trial["settings"], sort_keys=True) for trial in trials]
    assert len(trials) == 6 == len(set(tried)) and sum(trial["untuned"] for trial in trials) == 1
    assert both[0]["best"] == both[1]["best"] and both[0]["judged"] == both[1]["judged"]
    # Both took part, and each has the models of the best settings.
    assert all(list(folder.glob(".limbeck/results/baselines/*")) for folder in machines)


def test_a_killed_machine_s_trial_is_asked_again_when_it_was_silent(server, machines, monkeypatch):
    one, two = machines
    child = begin(two, server.url, "killed", 5)
    told = two / ".limbeck" / "tune" / "baselines.json"
    before = told.stat().st_mtime_ns if told.exists() else 0
    last = time.monotonic() + 60
    while not (told.exists() and told.stat().st_mtime_ns > before):
        assert child.poll() is None and time.monotonic() < last
        time.sleep(0.02)
    time.sleep(0.1)
    child.kill()
    child.wait()
    # Here the folder of the other machine isn't known: only its silence tells.
    monkeypatch.setattr(study, "SILENCE", 2)
    found = tune(one, "baselines", [POOR], trials=5, seconds=0, storage=server.url, study="killed")
    assert len(found.trials) == 5 and found.best.score > found.untuned.score
    whole = tune(one, "baselines", [POOR], trials=5, seconds=0, storage=server.url, study="undisturbed")
    settings = [json.dumps(trial.settings) for trial in whole.trials]
    assert len(set(settings)) == 5 and settings[0] == json.dumps(found.trials[0].settings)


def test_a_database_that_is_not_there_is_named_without_the_password(server, machines):
    url = f"postgresql+psycopg://postgres:geheim@/nowhere?host={server.folder}"
    with pytest.raises(StudyUnreachable, match="nowhere") as caught:
        tune(machines[0], "baselines", storage=url)
    assert "geheim" not in str(caught.value) and "--storage" in caught.value.fix
