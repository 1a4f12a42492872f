"""limbeck drift: a file of texts beside a bundle's reference, as a table, as JSON and as an exit code."""

import csv
import json

import numpy as np
import pytest
import typer
from bundles import write_bundle
from typer.testing import CliRunner

from limbeck.cli.drift import command
from limbeck.compress.reference import reference_of
from limbeck.errors import BundleMissing, ColumnMissing, FileMissing
from limbeck.runtime.bundle import read_bundle

app = typer.Typer()
app.command()(command)


def texts(number, late=0.2, words=4, seed=0):
    rng = np.random.default_rng(seed)
    said = rng.choice(["the", "train", "was", "odd", "hot"], (number, words), p=[0.4, 0.3, 0.2, 0.05, 0.05])
    return [" ".join([*row, "late"] if rng.random() < late else row) for row in said]


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    folder = tmp_path_factory.mktemp("drift")
    bare = read_bundle(write_bundle(folder / "bare"))
    return write_bundle(folder / "b", reference=reference_of(bare, texts(1500)))


def drift(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)))


def write(file, rows, column="text"):
    if file.suffix == ".csv":
        with file.open("w", newline="", encoding="utf-8") as out:
            csv.writer(out).writerows([[column], *([row] for row in rows)])
    else:
        file.write_text("".join(json.dumps({column: row}) + "\n" for row in rows), encoding="utf-8")
    return file


def test_texts_like_before_move_nothing(bundle, tmp_path):
    shown = drift(bundle, "--from", write(tmp_path / "same.csv", texts(600, seed=1)), "--fail")
    assert shown.exit_code == 0 and "Nothing moved: 600 texts" in shown.output and "mean embedding" in shown.output


def test_the_very_texts_of_the_reference_are_the_same(bundle, tmp_path):
    told = drift(bundle, "--from", write(tmp_path / "own.jsonl", texts(1500)), "--json").output
    assert {one["what"] for one in json.loads(told)["findings"] if one["p"] < 0.4} == set()
    assert [one["live"] for one in json.loads(told)["findings"][:3]] == pytest.approx(
        list(read_bundle(bundle).manifest.reference.label_rates.values())
    )


def test_what_moved_is_told(bundle, tmp_path):
    file = write(tmp_path / "later.jsonl", texts(600, late=0.5, seed=1), "comment")
    shown = drift(bundle, "--from", file, "--column", "comment")
    assert shown.exit_code == 0 and "late is given to" in shown.output and "Label" in shown.output
    assert drift(bundle, "--from", file, "--column", "comment", "--fail").exit_code == 1
    told = json.loads(drift(bundle, "--from", file, "--column", "comment", "--json").output)
    assert told["moved"] and told["texts"] == 600 and told["suggested_labels"]["late"] >= 20


def test_the_alarm_rate_and_the_least_number_can_be_set(bundle, tmp_path):
    file = write(tmp_path / "few.csv", texts(60, late=1, seed=1))
    assert "too few" in drift(bundle, "--from", file, "--fail").output
    assert drift(bundle, "--from", file, "--least", 50, "--fail").exit_code == 1
    assert drift(bundle, "--from", file, "--least", 50, "--fail", "--alarm-rate", 0).exit_code == 0


def test_mistakes_are_told(bundle, tmp_path):
    file = write(tmp_path / "t.csv", texts(3))
    assert isinstance(drift(tmp_path, "--from", file).exception, BundleMissing)
    assert isinstance(drift(bundle, "--from", tmp_path / "no.csv").exception, FileMissing)
    assert isinstance(drift(bundle, "--from", file, "--column", "body").exception, ColumnMissing)


def test_a_bundle_without_a_reference_says_so(tmp_path):
    bare = write_bundle(tmp_path / "bare")
    assert "no reference" in drift(bare, "--from", write(tmp_path / "t.csv", texts(200))).output
