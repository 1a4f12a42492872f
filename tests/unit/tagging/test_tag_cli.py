"""The same commands for entities: figures, the pool, answers."""

import json

import pytest
from tagging_project import ALL_STUDENTS, QUICK
from typer.testing import CliRunner

from limbeck.cli import app


@pytest.fixture
def limbeck(tagged):
    told = [part for setting in [*QUICK, *ALL_STUDENTS] for part in ("--set", setting)]

    def run(name, *arguments, in_project=True, **more):
        where = ["-p", str(tagged.project.root), *told] if in_project else []
        done = CliRunner().invoke(app, [name, *arguments, *where], **more)
        assert done.exit_code == 0, (done.output, done.exception)
        return done.output

    return run


def test_measure_shows_taggers_errors_and_types(limbeck):
    shown = limbeck("measure", "--by-category")
    assert "Entities" in shown and "Errors, test" in shown and "F1 by type, test" in shown and "LOC" in shown
    told = json.loads(limbeck("measure", "--json"))
    assert set(told["student-cnn"]["figures"]["test"]["errors"]) >= {
        "missed",
        "spurious",
        "wrong type",
        "wrong boundary",
    }


def test_pseudo_says_how_sure_the_teacher_is(limbeck):
    told = json.loads(limbeck("pseudo", "--json"))
    assert told["sentences"] == 150 and 0 <= told["kept_at_0.85"] <= told["kept_at_0.5"] == 1
    assert "as certain" in limbeck("pseudo")


def test_teach_and_distill_print_their_tables(limbeck):
    assert "partial.fold0" in limbeck("teach")
    assert "bilstm" in limbeck("distill")


def test_predict_gives_tables_and_lines(limbeck, tagged):
    bundle = str(tagged.folder("compress") / "cnn")
    shown = limbeck("predict", bundle, "Ida lives in Bonn 9012", "the wifi never worked 9013", in_project=False)
    assert "Ida" in shown and "PER" in shown and "none" in shown
    lines = limbeck("predict", bundle, in_project=False, input="Ida lives in Bonn 9012\n\n").splitlines()
    first, second = map(json.loads, lines[-2:])
    assert [(e["text"], e["type"]) for e in first["entities"]] == [("Ida", "PER"), ("Bonn", "LOC")]
    assert second == {"text": "", "entities": []}


def test_bench_times_taggers_by_their_words(limbeck):
    told = json.loads(limbeck("bench", "--quick", "--tokens", "10", "--model", "cnn", "--json"))
    forms = {(row["model"], row["form"] == "torch") for row in told["rows"]}
    assert forms == {("cnn", True), ("cnn", False)}
    for row in told["rows"]:
        (timing,) = row["timings"]
        assert timing["tokens"] == 10 and 0 < timing["p5"] <= timing["p50"] <= timing["p99"]
        assert 0 < row["judging_macro_f1"] <= 1
