"""The command, and what --apply does to a file that somebody wrote."""

import json
import tomllib

import pytest
from small_project import write_project
from typer.testing import CliRunner

from limbeck.cli import app
from limbeck.cli.tune import parse_time
from limbeck.config import with_settings
from limbeck.errors import BadSetting, ConfigSyntax, NothingToTune

WRITTEN = """# ours
task = "multilabel"

[baselines]  # quick ones
kinds = [
    "svm",  # slow
    "xgboost",
]
svm_c = 3  # by hand
name = "a # b"

# The end.
[distill]
soft = 1.0
"""


def test_a_setting_is_changed_where_it_stands_and_comments_stay():
    text = with_settings(WRITTEN, {"baselines.svm_c": 0.25, "distill.soft": 2.0})
    assert text == WRITTEN.replace("svm_c = 3  # by hand", "svm_c = 0.25  # by hand").replace(
        "soft = 1.0", "soft = 2.0"
    )


def test_a_setting_that_is_missing_is_added_to_its_section():
    text = with_settings(WRITTEN, {"baselines.logreg_c": 1.5, "probe.head": "mlp"})
    assert 'name = "a # b"\nlogreg_c = 1.5\n\n# The end.' in text
    assert text.endswith('soft = 1.0\n\n[probe]\nhead = "mlp"\n')
    assert tomllib.loads(text)["baselines"]["svm_c"] == 3


def test_a_value_over_several_lines_is_replaced_whole():
    text = with_settings(WRITTEN, {"baselines.kinds": ["svm"]})
    assert '[baselines]  # quick ones\nkinds = ["svm"]\nsvm_c' in text


@pytest.mark.parametrize("text", ["", "[distill]", "[distill]\r\nsoft = 1\r\n", 'seed = 1\n["distill"]\nsoft = 1 #x'])
def test_small_files_and_other_line_ends_are_kept(text):
    changed = with_settings(text, {"distill.soft": 0.5})
    assert tomllib.loads(changed)["distill"] == {"soft": 0.5}
    assert ("\r\n" in text) == ("\r\n" in changed)


def test_what_can_t_be_changed_line_by_line_is_told_with_the_line():
    with pytest.raises(ConfigSyntax, match="can't be changed") as error:
        with_settings("distill = { soft = 1.0 }\n", {"distill.soft": 0.5})
    assert "soft = 0.5" in error.value.fix


def test_times_are_read_as_people_write_them():
    assert [parse_time(told) for told in ("90s", "30m", "2h", "0", "1.5 h")] == [90, 1800, 7200, 0, 5400]
    with pytest.raises(BadSetting, match="no time"):
        parse_time("soon")


def run(folder, *more):
    return CliRunner().invoke(app, ["tune", "-p", str(folder), "--target", "baselines", *more])


def test_the_command_shows_what_tuning_gave_and_applies_it(tmp_path):
    folder = write_project(tmp_path / "p")
    file = folder / "limbeck.toml"
    file.write_text(file.read_text().replace("[baselines]\n", "# weak\n[baselines]\nlogreg_c = 0.001  # too little\n"))
    before = file.read_text()
    shown = run(folder, "--trials", "4", "--time", "5m")
    assert shown.exit_code == 0, shown.output
    assert "present settings" in shown.output and "What it gave" in shown.output and "logreg_c = " in shown.output
    assert "limbeck run --set" in shown.output and file.read_text() == before
    told = json.loads(run(folder, "--trials", "4", "--json").stdout)
    applied = run(folder, "--trials", "4", "--apply")
    assert "Written into" in applied.output
    after = file.read_text()
    assert "# weak\n[baselines]\n" in after and "  # too little\n" in after
    assert tomllib.loads(after)["baselines"]["logreg_c"] == told["settings"]["baselines.logreg_c"] != 0.001


def test_an_unknown_target_is_an_error_of_the_user(tmp_path):
    done = CliRunner().invoke(app, ["tune", "-p", str(write_project(tmp_path / "p")), "--target", "students"])
    assert isinstance(done.exception, NothingToTune)
