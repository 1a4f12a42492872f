"""The small project with a tiny encoder, and settings that teach it in seconds."""

import csv
import json
import shutil
from pathlib import Path

from small_project import make_texts, write_project
from tiny_encoders import tiny_encoder

from limbeck.config import load_project
from limbeck.pipeline import Pipeline

QUICK = [
    "train.epochs=10",
    "train.batch=16",
    "train.rate=0.003",
    "train.head_rate=0.01",
    "train.freeze_layers=0",  # random layers are not worth keeping
    "teach.folds=2",
    "baselines.kinds=[]",
    "distill.steps=0",
]


def teaching_project(folder: Path, width: int = 32, inner: int = 64) -> Path:
    """Write the small project and an encoder with random weights that knows its words."""
    write_project(folder)
    words = " ".join(text for text, _ in make_texts(300, 1)).replace(",", " ").split()
    tiny_encoder(folder / "encoder", [word for word in words if not word.isdigit()], width=width, inner=inner)
    return folder


def copy_of(project: Path, folder: Path) -> Path:
    """Copy a project without its results."""
    return Path(shutil.copytree(project, folder, ignore=shutil.ignore_patterns(".limbeck")))


def pipeline(folder: Path, kind: str, *more: str) -> Pipeline:
    """Give the chain of such a project with one kind of teacher."""
    return Pipeline(load_project(folder, [*QUICK, "encoder.name=encoder", f"teach.kind={kind}", *more]))


def multiclass_project(project: Path, folder: Path) -> Path:
    """Copy a teaching project, with the texts that have one label and that label as their class."""
    copy_of(project, folder)
    shutil.rmtree(folder / "labels")
    for name, seed, count in (("train", 1, 150), ("dev", 3, 60), ("test", 4, 60)):
        rows = [(text, on[0]) for text, on in make_texts(count * 3, seed) if len(on) == 1][:count]
        with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([("text", "label"), *rows])
    settings = 'task = "multiclass"\n[data]\nlabels = ["train.csv"]\ndev = "dev.csv"\ntest = "test.csv"\n'
    (folder / "limbeck.toml").write_text(settings + "[split]\nfolds = 3\n[measure]\nrounds = 100\n", encoding="utf-8")
    return folder


def add_category(folder: Path) -> None:
    """Add the category `kind`: texts that praise the staff. Old and new texts are labelled, and dev and test too."""

    def praises(text: str) -> bool:
        return "staff were kind" in text

    rows = [text for text, _ in make_texts(180, seed=1)[:30] + make_texts(60, seed=21)]
    with (folder / "labels" / "kind.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("text", "label"), *((text, int(praises(text))) for text in rows)])
    for name in ("dev", "test"):
        file = folder / f"{name}.jsonl"
        rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        for row in rows:
            row["labels"] += ["kind"] * praises(row["text"])
        file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
