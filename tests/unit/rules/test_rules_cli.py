"""limbeck rules as a person and as a script meet it."""

import json
import subprocess
import sys

import pytest
from small_project import write_project
from typer.testing import CliRunner

from limbeck.cli import app
from limbeck.config import load_project
from limbeck.data.pool import sample_pool
from limbeck.errors import BadLabel, BadSetting, ConfigMissing, FileMissing, LimbeckError, ProjectExists
from limbeck.text import Cleaner

CONTENT = r"""
[late]
include = ['\blate\b', 'behind the timetable', 'delay(ed)?']
exclude = ['coffee']

[online]
title = "Going online"
include = ['wifi', '\bonline\b', 'late']
weight = 0.3
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = write_project(tmp_path_factory.mktemp("rules") / "p")
    (folder / "rules.toml").write_text(CONTENT, encoding="utf-8")
    return folder


def rules(*arguments):
    done = CliRunner().invoke(app, ["rules", *map(str, arguments)])
    if isinstance(done.exception, LimbeckError):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.output


def test_tables_show_rules_expressions_overlaps_conflicts_and_examples(project):
    shown = rules("-p", project)
    for title in ("Rules", "Expressions", "Texts that match two categories", "To look at", "Examples"):
        assert f"\n{title}\n" in shown
    assert "of 50 texts of the pool" in shown and "Going online" in shown and "«late»" in shown
    assert "- coffee" in shown and "exclude forbids" in shown
    assert "Kept out by exclude" not in shown


def test_one_category_is_shown_with_what_speaks_against_it(project):
    shown = rules("-p", project, "--category", "late", "--examples", "2")
    assert "Kept out by exclude" in shown and "Labelled yes, but no match" in shown and "missed my connection" in shown
    told = json.loads(rules("-p", project, "--category", "late", "--json"))
    assert [one["category"] for one in told["categories"]] == ["late"] and told["overlaps"][0]["other"] == "online"


def test_json_agrees_with_the_pool_and_the_labels(project):
    told = json.loads(rules("-p", project, "--json", "--examples", "1"))
    pool = sample_pool([project / "pool.jsonl"], load_project(project).config.data, Cleaner(), 1000, 0)
    late, online = told["categories"]
    words = ("late", "behind the timetable", "delayed")
    assert told["texts"] == len(pool) == 50
    assert late["found"] == sum(any(w in text for w in words) and "coffee" not in text for text in pool) > 0
    assert late["quality"]["precision"] == 1 and 0 < late["quality"]["recall"] < 1 and late["quality"]["known"] == 90
    assert online["quality"] is None and online["title"] == "Going online" and len(late["examples"]) == 1
    assert "NaN" not in rules("-p", project, "--json")


def test_another_file_of_rules_and_no_labels_at_all(project, tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text("[heat]\ninclude = ['cold']\n", encoding="utf-8")
    shown = rules(file, "-p", project, "--set", 'data.labels=["nowhere"]')
    assert "heat" in shown and "No labels are known" in shown and "precision" not in shown
    assert "heat" in rules("-p", project, "--set", f"annotate.rules={file}")


def test_broken_labels_are_an_error_and_not_passed_over(tmp_path):
    folder = write_project(tmp_path / "p")
    (folder / "rules.toml").write_text(CONTENT, encoding="utf-8")
    (folder / "labels" / "heat.csv").write_text("text,label\nx,7\n", encoding="utf-8")
    with pytest.raises(BadLabel):
        rules("-p", folder)


def test_weak_labels_are_written_only_where_asked_for_and_once(project, tmp_path):
    before = sorted(project.rglob("*"))
    file = tmp_path / "weak.jsonl"
    shown = rules("-p", project, "--weak", file)
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    told = json.loads(rules("-p", project, "--json"))
    assert len(rows) == sum(one["found"] for one in told["categories"]) and f"{len(rows)} weak labels" in shown
    assert {tuple(row) for row in rows} == {("text", "late", "weak"), ("text", "online", "weak")}
    assert {row["weak"] for row in rows if "online" in row} == {0.3}
    with pytest.raises(ProjectExists):
        rules("-p", project, "--weak", file)
    assert sorted(project.rglob("*")) == before and not list(tmp_path.glob("*.part"))


def test_init_writes_an_example_that_works_and_never_overwrites(tmp_path):
    folder = write_project(tmp_path / "p")
    assert "limbeck rules -p" in rules("--init", "-p", folder)
    assert "punctuality" in rules("-p", folder)
    with pytest.raises(ProjectExists):
        rules("--init", "-p", folder)


def test_quiet_is_quiet(project):
    assert rules("-p", project, "--quiet") == ""


def test_what_a_project_may_lack(project, tmp_path):
    with pytest.raises(ConfigMissing):
        rules("-p", tmp_path)
    with pytest.raises(FileMissing, match="no such file"):
        rules(tmp_path / "rules.toml", "-p", project)
    with pytest.raises(BadSetting, match="no pool"):
        rules("-p", project, "--set", "data.pool=[]")
    with pytest.raises(BadSetting, match="Did you mean 'late'|no rule for the category"):
        rules("-p", project, "--category", "lat")


def test_a_broken_rule_is_one_line_with_a_code_and_no_traceback(project, tmp_path):
    file = tmp_path / "rules.toml"
    file.write_text("[late]\ninclude = ['(?<!not )late']\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "limbeck", "rules", str(file), "-p", str(project)], capture_output=True, text=True
    )
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and "error L104" in done.stderr
    assert f"{file}:2" in done.stderr and "exclude" in done.stderr


def test_without_the_engine_the_extra_is_named():
    code = "import sys; sys.modules['re2'] = None; import limbeck.rules"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "pip install 'limbeck[train]'" in done.stderr
