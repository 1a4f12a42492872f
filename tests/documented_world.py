"""What the documents speak of, small enough for seconds: feedback and news, projects that have run, their bundles."""

import csv
import json
import shutil
from contextlib import chdir
from pathlib import Path

from small_project import make_texts
from tagging_project import CITIES, FRAMES, PEOPLE, tagging_project
from tiny_encoders import tiny_encoder
from typer.testing import CliRunner

from limbeck.cli import app

CATEGORIES = {"heat": "temperature", "wifi": "wlan", "late": "punctuality"}
SOURCES = ("app", "web")
REPLIES = "".join(
    f'[category.{name}]\ntitle.en = "{name.title()}"\ntext.en = "You wrote about {{topics}}."\n\n'
    for name in CATEGORIES.values()
)
# They change how long a command takes and how good its models are, not what it does.
QUICK = {
    "multilabel": """
        split.folds=3 teach.folds=2 train.epochs=2 train.steps=20 students.kinds=["bag"] students.size=small
        distill.steps=40 distill.enough=0 baselines.kinds=["tfidf-logreg"] baselines.trials=2 measure.rounds=100
        compress.recipes=["tables"] compress.baselines=false tune.trials=2""".split(),
    "ner": """
        split.folds=3 teach.folds=2 train.steps=60 train.rate=0.003 train.head_rate=0.01 students.kinds=["cnn"]
        distill.steps=80 distill.head_rate=0.01 measure.rounds=100 compress.recipes=["tables"]""".split(),
}


def quick_settings(task: str, encoder: Path) -> list[str]:
    """Give the settings that let a task's commands end in seconds, on a tiny encoder."""
    return [*QUICK.get(task, QUICK["multilabel"]), f"encoder.name={encoder}"]


def make_world(folder: Path) -> Path:
    """Write `feedback` and `news`, projects that have run, their bundles `model` and `tagger`, and files to ask about."""
    write_feedback(folder / "feedback")
    tagging_project(folder / "news")
    shutil.rmtree(folder / "news" / "encoder")
    said = " ".join(text for text, _ in make_texts(300, 1)).replace(",", " ").split()
    words = [word for word in said if not word.isdigit()] + " ".join([*CITIES, *PEOPLE, *FRAMES]).lower().split()
    encoder = tiny_encoder(folder / "encoder", words)
    with chdir(folder):
        _limbeck("init", "feedback")
        for project, task, bundle in (("feedback", "multilabel", "model"), ("news", "ner", "tagger")):
            sets = [word for told in quick_settings(task, encoder) for word in ("--set", told)]
            _limbeck("run", "-p", project, "-q", "--no-report", *sets)
            _limbeck("compress", "-p", project, "-q", "--out", bundle, *sets)
    return folder


def write_feedback(folder: Path) -> None:
    """Write a file a category, a pool, dev and test, replies, and beside them mail that nobody has read yet."""
    (folder / "labels").mkdir(parents=True)
    labelled = _feedback(180, seed=1)
    for at, name in enumerate(CATEGORIES.values()):
        rows = labelled[at * 45 : at * 45 + 90]
        _write_csv(folder / "labels" / f"{name}.csv", ["text", "label"], [(t, int(name in on)) for t, on in rows])
    for name, seed in (("dev", 3), ("test", 4)):
        rows = [{"text": t, "labels": on, "source": SOURCES[len(t) % 2]} for t, on in _feedback(120, seed)]
        _write_lines(folder / f"{name}.jsonl", [json.dumps(row) for row in rows])
    _write_lines(folder / "pool.jsonl", [json.dumps({"text": text}) for text, _ in _feedback(150, seed=5)])
    (folder.parent / "replies.toml").write_text('languages = ["en"]\n\n' + REPLIES, encoding="utf-8")
    mail = [text for text, _ in _feedback(150, seed=6)]
    _write_csv(folder.parent / "mail.csv", ["id", "body"], list(enumerate(mail)))
    _write_lines(folder.parent / "lines.txt", mail[:20])
    _write_lines(folder / "mail.jsonl", [json.dumps({"text": text}) for text in mail])


def write_own_files(folder: Path) -> None:
    """Write what a reader brings: one file of labelled texts, one of texts alone, replies."""
    folder.mkdir(parents=True)
    known = [(text, "|".join(on)) for text, on in _feedback(400, seed=1)]
    _write_csv(folder / "labelled.csv", ["comment", "topics"], known)
    _write_csv(folder / "unlabelled.csv", ["comment"], [(text,) for text, _ in _feedback(150, seed=5)])


def _feedback(count: int, seed: int) -> list[tuple[str, list[str]]]:
    return [(text, [CATEGORIES[name] for name in on]) for text, on in make_texts(count, seed)]


def _write_csv(file: Path, head: list[str], rows: list[tuple]) -> None:
    with file.open("w", encoding="utf-8", newline="") as out:
        csv.writer(out).writerows([head, *rows])


def _write_lines(file: Path, lines: list[str]) -> None:
    file.write_text("".join(line + "\n" for line in lines), encoding="utf-8")


def _limbeck(*words: str) -> None:
    done = CliRunner().invoke(app, words)
    if done.exit_code:
        raise AssertionError(f"limbeck {' '.join(words)}: {done.output}") from done.exception
