"""limbeck run from files to bundle and report: one step alone, a bundle in its place, the two numbers that matter."""

import pytest
from teaching_project import QUICK, copy_of, pipeline
from typer.testing import CliRunner

from limbeck.cli import app
from limbeck.cli.run import put_bundle
from limbeck.cli.trials import chosen_bundle
from limbeck.errors import ProjectExists, RunError

STUDENTS = ["distill.enough=0", "distill.steps=60", "students.size=small", 'students.kinds=["bag"]', "teach.kind=probe"]
SETTINGS = [*QUICK, "encoder.name=encoder", *STUDENTS]


def run(project, *more):
    told = [part for setting in SETTINGS for part in ("--set", setting)]
    return CliRunner().invoke(app, ["run", "-p", str(project), *told, *more])


@pytest.fixture(scope="module")
def done(template, tmp_path_factory):
    project = copy_of(template, tmp_path_factory.mktemp("run") / "p")
    return project, run(project)


def test_one_command_goes_from_files_to_bundle_and_report(done):
    project, told = done
    assert told.exit_code == 0, told.output
    last = told.stdout.strip().splitlines()[-4:]
    assert [line.split()[0] for line in last] == ["F1", "speed-up", "bundle", "report"]
    assert "of the teacher's: macro-F1 0." in last[0] and "×" in last[1]
    assert (project / "bundle" / "bundle.json").is_file() and (project / "report.html").stat().st_size > 50_000
    again = run(project)
    assert "compress: up to date" in again.stdout and not list(project.glob(".bundle.*"))


def test_one_step_alone_needs_those_before_it(done, tmp_path):
    project, _ = done
    told = run(project, "--only", "select", "--force")
    assert told.exit_code == 0 and "select: done" in told.stdout and "teach" not in told.stdout
    fresh = pipeline(copy_of(project, tmp_path / "fresh"), "probe", *STUDENTS)
    with pytest.raises(RunError, match="which teach needs, is not up to date"):
        fresh.run(only="teach")
    assert [state.step.name for state in fresh.run(only="data")] == ["data"]
    assert run(project, "--only", "data", "--until", "teach").exit_code


def test_only_a_bundle_is_replaced(done, tmp_path):
    project, _ = done
    finished = chosen_bundle(pipeline(project, "probe", *STUDENTS))
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(ProjectExists):
        put_bundle(finished, tmp_path / "mine")
    assert (tmp_path / "mine" / "notes.txt").read_text() == "mine"
    target = put_bundle(finished, tmp_path / "theirs")
    (target / "model.onnx").write_bytes(b"old")
    put_bundle(finished, target)
    assert (target / "model.onnx").stat().st_size > 100 and [one.name for one in tmp_path.iterdir()].count(
        "theirs"
    ) == 1
