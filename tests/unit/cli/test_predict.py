"""limbeck predict: texts from the command line, standard input and files; answers as a table or one JSON a line."""

import csv
import json
import subprocess
import sys

import pytest
from bundles import write_bundle
from typer.testing import CliRunner

from limbeck.cli import app
from limbeck.errors import BrokenEncoding, BrokenRow, BundleMissing, ColumnMissing, FileMissing, ProjectExists

TEXTS = ["the train was late", "hot, hot!", "the wifi was late"]
LABELS = [["late"], ["hot"], ["late", "wifi"]]


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    return str(write_bundle(tmp_path_factory.mktemp("predict") / "b"))


def predict(*arguments, given=None):
    return CliRunner().invoke(app, ["predict", *map(str, arguments)], input=given)


def answers(text):
    return [json.loads(line) for line in text.splitlines()]


def test_a_text_on_the_command_line_gets_a_table(bundle):
    shown = predict(bundle, "the train was late").output
    assert "Late" in shown and "0.982" in shown and "yes" in shown


def test_lines_of_standard_input_get_a_json_each(bundle):
    told = answers(predict(bundle, given="\n".join(TEXTS) + "\n").output)
    assert [one["labels"] for one in told] == LABELS
    assert told[0]["text"] == TEXTS[0] and told[0]["probabilities"]["late"] == pytest.approx(0.982, abs=1e-3)


def test_probabilities_can_be_left_out(bundle):
    [told] = answers(predict(bundle, "--no-probabilities", given="hot\n").output)
    assert told == {"text": "hot", "labels": ["hot"]}


def write(file, column="text"):
    rows = [{"id": n, column: text} for n, text in enumerate(TEXTS)]
    if file.suffix == ".csv":
        with file.open("w", newline="", encoding="utf-8") as out:
            writer = csv.DictWriter(out, ["id", column])
            writer.writeheader()
            writer.writerows(rows)
    elif file.suffix == ".jsonl":
        file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    else:
        import pyarrow as pa
        import pyarrow.parquet as pq

        pq.write_table(pa.Table.from_pylist(rows), file)
    return file


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_files_of_every_kind(bundle, tmp_path, ending):
    file = write(tmp_path / f"texts.{ending}")
    assert [one["labels"] for one in answers(predict(bundle, "--from", file).output)] == LABELS


def test_answers_go_to_a_file(bundle, tmp_path):
    target = tmp_path / "answers.jsonl"
    predict(bundle, "--from", write(tmp_path / "texts.csv", "Comment"), "--column", "Comment", "--to", target)
    assert [one["labels"] for one in answers(target.read_text())] == LABELS
    assert isinstance(predict(bundle, "hot", "--to", target).exception, ProjectExists)


def test_a_broken_row_leaves_no_half_file(bundle, tmp_path):
    file = write(tmp_path / "texts.jsonl")
    file.write_text(file.read_text() + "{oops\n")
    outcome = predict(bundle, "--from", file, "--to", tmp_path / "answers.jsonl")
    assert isinstance(outcome.exception, BrokenRow) and not (tmp_path / "answers.jsonl").exists()


def test_mistakes_are_told(bundle, tmp_path):
    assert isinstance(predict(tmp_path, "hot").exception, BundleMissing)
    assert isinstance(predict(bundle, "--from", tmp_path / "no.csv").exception, FileMissing)
    wrong = predict(bundle, "--from", write(tmp_path / "texts.csv"), "--column", "txt").exception
    assert isinstance(wrong, ColumnMissing) and "text" in wrong.fix
    assert isinstance(predict(bundle, given=b"ok\n\xff\xfe\n").exception, BrokenEncoding)


def test_the_command_answers_without_what_training_needs(bundle):
    code = (
        "import sys\nfrom limbeck.cli import main\n"
        f"sys.argv = ['limbeck', 'predict', {bundle!r}, 'hot', '--json']\n"
        "try:\n    main()\nexcept SystemExit as stop:\n    assert not stop.code, stop.code\n"
        "heavy = {'torch', 'transformers', 'sklearn', 'pandas', 'scipy'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["labels"] == ["hot"]
