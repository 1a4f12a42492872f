"""limbeck pseudo, as a person and as a script meet it."""

import json

import pytest
from teaching_project import QUICK
from typer.testing import CliRunner

from limbeck.cli import app
from limbeck.errors import BadSetting
from limbeck.progress import set_quiet


@pytest.fixture(autouse=True)
def _loud():
    yield
    set_quiet(False)


def limbeck(folder, *more, kind="probe"):
    told = [*QUICK, "encoder.name=encoder", f"teach.kind={kind}"]
    sets = [word for setting in told for word in ("--set", setting)]
    return CliRunner().invoke(app, ["pseudo", "-p", str(folder), *sets, *more])


def test_it_tells_what_was_read_and_what_is_certain(scored_project):
    done = limbeck(scored_project)
    assert done.exit_code == 0, done.output
    shown = done.stdout
    assert "select: up to date" in shown
    for title in ("The pool", "Kept at each confidence", "Guesses", "Categories that go together"):
        assert title in shown
    assert "Students learn from 41 of 41 unlabelled texts and from 155 labelled rows" in shown
    assert "100.0%" in shown and "heat" in shown


def test_as_json_it_is_one_document(scored_project):
    found = json.loads(limbeck(scored_project, "--json").stdout)
    assert found["pool"] == {
        "rows_read": 49,
        "texts": 43,
        "repeated": 2,
        "judges": 2,
        "labelled": 2,
        "empty": 2,
        "near": 0,
        "saved": 0.0,
    }
    assert found["sizes"]["kept"] == 41 and len(found["kept_at"]) == 8 and len(found["categories"]) == 3


def test_quiet_is_quiet_but_answers_what_was_asked(scored_project):
    assert limbeck(scored_project, "--quiet").stdout == ""
    assert limbeck(scored_project, "--quiet", "--why", "41").stdout == (
        "Left out: nothing is left of its text after cleaning.\n"
    )


def test_why_explains_a_row(scored_project):
    shown = limbeck(scored_project, "--why", "40").stdout
    assert "same text as row 3" in shown and "confidence" in shown and "Kept." in shown
    found = json.loads(limbeck(scored_project, "--why", "40", "--json").stdout)
    assert found["same_as"] == 3 and found["verdict"] == "kept" and len(found["answers"]) == 3
    assert "from 0 to 48" in limbeck(scored_project, "--why", "1000").stdout


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        (["teach.kind=none"], "no teacher.*teach.kind=probe"),
        (["data.pool=[]"], "no pool.*data.pool"),
        (["students.kinds=[]"], "no students.*students.kinds"),
    ],
)
def test_what_is_missing_is_said(scored_project, settings, says):
    done = limbeck(scored_project, *(word for setting in settings for word in ("--set", setting)))
    with pytest.raises(BadSetting, match=says):
        raise done.exception
