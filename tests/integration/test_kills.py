"""Runs that are really killed, with SIGKILL, and go on as if nothing had happened."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from small_project import write_project

KILL_AT = Path(__file__).parent / "kill_at.py"


@pytest.fixture(scope="module")
def template(tmp_path_factory) -> Path:
    folder = write_project(tmp_path_factory.mktemp("kills") / "template", rows=60)
    text = (folder / "limbeck.toml").read_text(encoding="utf-8")
    text = text.replace('kinds = ["tfidf-logreg"]', 'kinds = ["tfidf-logreg", "xgboost"]\ntrials = 3\nseconds = 1000.0')
    (folder / "limbeck.toml").write_text(text, encoding="utf-8")
    return folder


def start(folder: Path) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-m", "limbeck", "run", "-p", str(folder), "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def figures(output: str) -> dict:
    return {name: step["figures"] for name, step in json.loads(output).items()}


def finish(folder: Path) -> dict:
    process = start(folder)
    output, errors = process.communicate(timeout=280)
    assert process.returncode == 0, errors
    return figures(output)


def kill_and_resume(template: Path, folder: Path, rng: random.Random, kills: int, longest: float) -> dict:
    shutil.copytree(template, folder)
    for _ in range(kills):
        process = start(folder)
        time.sleep(rng.uniform(0.3, longest))
        process.send_signal(signal.SIGKILL)
        process.communicate()
    return finish(folder)


@pytest.fixture(scope="module")
def undisturbed(template, tmp_path_factory) -> tuple[dict, float]:
    folder = tmp_path_factory.mktemp("undisturbed") / "p"
    shutil.copytree(template, folder)
    started = time.monotonic()
    return finish(folder), time.monotonic() - started


def test_a_run_killed_at_random_moments_ends_with_the_same_figures(template, undisturbed, tmp_path):
    expected, seconds = undisturbed
    assert kill_and_resume(template, tmp_path / "p", random.Random(0), kills=3, longest=seconds) == expected


@pytest.mark.slow
def test_fifty_runs_killed_at_random_moments_end_with_the_same_figures(template, undisturbed, tmp_path):
    expected, seconds = undisturbed
    rng = random.Random(1)
    for number in range(50):
        kills = rng.choice([1, 1, 2, 3])
        assert kill_and_resume(template, tmp_path / str(number), rng, kills, seconds) == expected, f"run {number}"


def kill_at_file_events(template: Path, tmp_path: Path, every: int) -> None:
    """Kill a run at each n-th moment at which it touches a file of its project; see kill_at.py."""
    done = subprocess.run(
        [sys.executable, str(KILL_AT), str(template), str(tmp_path), str(every)],
        capture_output=True,
        text=True,
        timeout=3000,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["killed"] >= 10 and told["different"] == [], told


def test_a_run_killed_between_any_two_file_operations_ends_with_the_same_figures(project_folder, tmp_path):
    kill_at_file_events(project_folder, tmp_path, every=20)


@pytest.mark.slow
def test_a_run_killed_between_every_two_file_operations_ends_with_the_same_figures(project_folder, tmp_path):
    kill_at_file_events(project_folder, tmp_path, every=1)


def test_a_second_run_is_refused_while_the_first_goes_on(template, tmp_path):
    folder = tmp_path / "p"
    shutil.copytree(template, folder)
    first = start(folder)
    deadline = time.monotonic() + 60
    while not (folder / ".limbeck" / "lock").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    time.sleep(0.1)
    os.kill(first.pid, signal.SIGSTOP)
    second = start(folder)
    output, errors = second.communicate(timeout=120)
    os.kill(first.pid, signal.SIGKILL)
    first.communicate()
    assert second.returncode == 5 and "L401" in errors
    assert json.loads(output)["error"]["message"].startswith(f"Another run holds this project: process {first.pid}")
    finish(folder)
