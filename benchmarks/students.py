"""How good distilled students are, against their teacher and against the same networks with labels alone.

python benchmarks/students.py recipes --data FOLDER [--only airline …], where FOLDER/NAME/{train,dev,test}.jsonl hold
text and labels. Runs that are finished are not repeated, so a table can be made piece by piece.
"""

from __future__ import annotations

import csv
import json
import random
from pathlib import Path

import numpy as np
from chains import SCARCE, Outcome, difference, project, run
from results import WORK, run_tables
from scarce import read_jsonl, slug, write_jsonl

from limbeck.config import DistillSettings, load_project
from limbeck.pipeline import Pipeline

SETS = ("airline", "goemotions", "demo")
# The trials are of XGBoost's search, which as a student has the whole pool to learn.
TEACHER = ("teach.kind=partial", "baselines.kinds=[]", "teach.folds=2", "baselines.trials=8")
# The demo's own is shorter, so that a first look takes minutes.
STEPS = f"distill.steps={DistillSettings().steps}"
# Its search over 28 categories with 40,000 texts each would take hours; there it is one trial.
HOURS_OF_XGBOOST = ("goemotions",)
# Where a student with all of the teacher's layers is trained, too.
DEEP = ("goemotions",)
# As many steps as distilling would be dozens of passes over the few labelled rows; these are judged after each one.
LABELS_ONLY = ["distill.soft=0", "distill.steps=0", "distill.epochs=12"]
RECIPES = {
    "labels only": LABELS_ONLY,
    "hard pseudo labels and labels": ["distill.soft=0", "distill.hard=1"],
    "soft pseudo labels and labels": [],
    "soft pseudo labels alone": ["distill.task=0"],
    "soft, filtered at 0.85": ["pseudo.confidence=0.85"],
    "soft, uncertain below 0.85 unknown": ["pseudo.confidence=0.85", "pseudo.uncertain=unknown"],
    "soft, 3,000 pool rows": ["pseudo.rows=3000"],
    "soft, 5,000 pool rows": ["pseudo.rows=5000"],
    "soft, 10,000 pool rows": ["pseudo.rows=10000"],
}
NOTE = SCARCE + (
    "The teacher is a partial one of 2 folds; 'of the teacher' is the share of its test macro-F1. Thresholds are tuned "
    "alike for all, on one half of dev and on the pool as the teacher sees it; 'dev' is the other half. Differences: "
    "paired bootstrap of 1,000 rounds. Seconds: on one core, another job on the other; the first student of a set also "
    "reads the pool for token vectors. "
)


def distilled(data: Path, name: str, kinds: list[str], *settings: str) -> Outcome:
    """Train and measure students of a data set's teacher, which is taught once."""
    folder = project(data, name, "students", work="students")
    return run(folder, *TEACHER, STEPS, f"students.kinds={json.dumps(kinds)}", *settings)


def figures_of(outcome: Outcome, model: str) -> dict[str, object]:
    """Give the columns that all tables share."""
    measured = outcome.measured[model]
    figures, interval = measured["figures"], measured["macro_f1_intervals"]["test"]
    teacher = "teacher-partial"
    row = {
        "dev macro-F1": figures["judging"]["macro_f1"],
        "test macro-F1": figures["test"]["macro_f1"],
        "95 % interval": f"{interval['low']:.3f} to {interval['high']:.3f}",
        "test micro-F1": figures["test"]["micro_f1"],
    }
    if model == teacher:
        return row
    of_teacher = outcome.measured[teacher]["figures"]["test"]["macro_f1"]
    kind = model.removeprefix("student-")
    return row | {
        "of the teacher": figures["test"]["macro_f1"] / of_teacher,
        "against the teacher": difference(outcome, outcome, model, teacher),
        "parameters": int(outcome.figures.get(f"{kind}.parameters", 0)) or None,
        "training seconds": round(outcome.figures.get(f"{kind}.seconds", 0)) or None,
    }


def teacher_first(outcome: Outcome) -> list[str]:
    """Give the names of all measured models."""
    return sorted(outcome.measured, key=lambda model: model.startswith("student"))


def recipes(data: Path, only: list[str], settings: list[str]) -> tuple[list[dict[str, object]], str]:
    """Compare what a student can learn from."""
    rows: list[dict[str, object]] = []
    for name in only or SETS:
        for title, told in RECIPES.items():
            outcome = distilled(data, name, ["cnn", "bilstm"], *told, *settings)
            if not any(row["data"] == name for row in rows):
                rows.append({"data": name, "model": "teacher", **figures_of(outcome, "teacher-partial")})
            for kind in ("cnn", "bilstm"):
                rows.append(
                    {"data": name, "model": kind, "learns from": title, **figures_of(outcome, f"student-{kind}")}
                )
                print(json.dumps(rows[-1]), flush=True)
    return rows, NOTE


def kinds(data: Path, only: list[str], settings: list[str]) -> tuple[list[dict[str, object]], str]:
    """Compare the students, each with labels alone and distilled."""
    rows: list[dict[str, object]] = []
    networks = ["bag", "cnn", "bilstm", "transformer"]
    for name in only or SETS:
        for title, learners, told in (
            ("labels only", networks, []),
            ("soft pseudo labels and labels", networks, []),
            ("soft pseudo labels and labels", ["transformer"] if name in DEEP else [], ["students.layers=6"]),
            # With labels only it is in the baselines' table.
            ("hard pseudo labels and labels", ["xgboost"], ["baselines.trials=1"] if name in HOURS_OF_XGBOOST else []),
        ):
            if not learners:
                continue
            outcome = distilled(data, name, learners, *RECIPES[title], *told, *settings)
            if not any(row["data"] == name for row in rows):
                rows.append({"data": name, "model": "teacher", **figures_of(outcome, "teacher-partial")})
            for kind in learners:
                found = figures_of(outcome, f"student-{kind}")
                model = f"{kind}, all 6 layers" if "students.layers=6" in told else kind
                rows.append({"data": name, "model": model, "learns from": title, **found})
                print(json.dumps(rows[-1]), flush=True)
    return rows, NOTE


def specialists(data: Path, only: list[str], settings: list[str]) -> tuple[list[dict[str, object]], str]:
    """Compare a teacher of one airline's tweets, a teacher of all, their blend, and a student of each."""
    folders = {name: _with_sources(project(data, "airline", name, work="specialists")) for name in ("all", "one")}
    for file in (folders["one"] / "labels").glob("*.csv"):
        with file.open(encoding="utf-8", newline="") as lines:
            header, *labelled = csv.reader(lines)
        with file.open("w", encoding="utf-8", newline="") as lines:
            csv.writer(lines).writerows([header, *(row for row in labelled if _named(row[0]))])
    told = [*TEACHER, 'students.kinds=["cnn"]', *settings]
    found = {"specialist": run(folders["one"], *told)}
    special = Pipeline(load_project(folders["one"], told)).folder("teach")
    found["generalist"] = run(folders["all"], *told)
    blend = ["teach.kind=blend", 'teach.blend=["partial", "folder"]', f"teach.folder={special}"]
    found["both, blended"] = run(folders["all"], *told, *blend)
    rows: list[dict[str, object]] = []
    for title, outcome in found.items():
        for model in teacher_first(outcome):
            measured = outcome.measured[model]
            by_source = measured["by_source"]["test"]
            row: dict[str, object] = {"teacher": title, "model": model.partition("-")[0]}
            row |= {f"macro-F1, {source}": by_source[source]["macro_f1"] for source in ("united", "other")}
            interval = measured["macro_f1_intervals"]["test"]
            row |= {"macro-F1, all": measured["figures"]["test"]["macro_f1"]}
            rows.append(row | {"95 % interval": f"{interval['low']:.3f} to {interval['high']:.3f}"})
    note = SCARCE + (
        "Airline. The specialist learnt only those labelled tweets that name @united (a quarter of them), the "
        "generalist all; the blend's weights come from dev. Each teacher's student is a cnn that learnt the whole pool."
    )
    return rows, note


def _named(text: str) -> bool:
    return "@united" in text.lower()


def _with_sources(folder: Path) -> Path:
    """Say of every row that judges whether it names the one airline."""
    for part in ("dev", "test"):
        rows = read_jsonl(folder / f"{part}.jsonl")
        write_jsonl(
            folder / f"{part}.jsonl", [{**row, "source": "united" if _named(row["text"]) else "other"} for row in rows]
        )
    return folder


def multiclass(data: Path, only: list[str], settings: list[str]) -> tuple[list[dict[str, object]], str]:
    """Distil a teacher of classes of which one is right: tweets with exactly one reason."""
    folder = WORK / "multiclass" / "airline"
    if not (folder / "limbeck.toml").exists():
        _one_reason(data / "airline", folder)
    told = [*TEACHER, 'students.kinds=["bag", "cnn"]', *settings]
    rows: list[dict[str, object]] = []
    for title, recipe in (("labels only", LABELS_ONLY), ("soft pseudo labels and labels", [])):
        outcome = run(folder, *told, *recipe)
        for model in teacher_first(outcome):
            if model.startswith("student") or not rows:
                learns = title if model.startswith("student") else "labels"
                rows.append({"model": model, "learns from": learns, **figures_of(outcome, model)})
    note = (
        "Airline, the tweets with exactly one reason as a multi-class task: 100 labelled rows a class, the rest is the "
        "pool. Encoder: all-MiniLM-L6-v2; the teacher is a partial one of 2 folds."
    )
    return rows, note


def _one_reason(data: Path, folder: Path) -> None:
    folder.mkdir(parents=True)
    train = [row for row in read_jsonl(data / "train.jsonl") if len(row["labels"]) == 1]
    random.Random(0).shuffle(train)
    taken: dict[str, list[str]] = {}
    for row in train:
        taken.setdefault(slug(row["labels"][0]), []).append(row["text"])
    labelled = {text for texts in taken.values() for text in texts[:100]}
    parts = {"labels": [(t, name) for name, texts in taken.items() for t in texts[:100]]}
    for part in ("dev", "test"):
        found = [row for row in read_jsonl(data / f"{part}.jsonl") if len(row["labels"]) == 1]
        parts[part] = [(row["text"], slug(row["labels"][0])) for row in found]
    for part, rows in parts.items():
        with (folder / f"{part}.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([("text", "label"), *rows])
    pool = read_jsonl(data / "train.jsonl") + read_jsonl(data / "unlabelled.jsonl")
    write_jsonl(folder / "pool.jsonl", [{"text": row["text"]} for row in pool if row["text"] not in labelled])
    settings = 'task = "multiclass"\n[data]\nlabels = ["labels.csv"]\ndev = "dev.csv"\ntest = "test.csv"\n'
    (folder / "limbeck.toml").write_text(settings, encoding="utf-8")


def german(data: Path, only: list[str], settings: list[str]) -> tuple[list[dict[str, object]], str]:
    """Distil with another vocabulary and word vectors from files, which `settings` must name."""
    if not any(setting.startswith("students.vector_files=") for setting in settings):
        raise SystemExit('Name the word vectors: --set students.vector_files=["NUMBERS.npy + WORDS.txt"].')
    folder = project(data, "mobasa", "german", work="students")
    rows: list[dict[str, object]] = []
    vectors = ["students.vectors=files", "students.tokens=pool", *settings]
    for title, recipe in (
        ("the encoder's word pieces, the teacher's vectors", []),
        ("word pieces of the pool, chance", ["students.tokens=pool", "students.vectors=random"]),
        ("word pieces of the pool, the pool's vectors", ["students.tokens=pool", "students.vectors=pool"]),
        ("word pieces of the pool, multilingual word vectors", vectors),
    ):
        outcome = run(folder, *TEACHER, 'students.kinds=["bag", "cnn"]', *recipe)
        for model in teacher_first(outcome):
            if model.startswith("student") or not rows:
                tokens = title if model.startswith("student") else "the encoder's"
                rows.append({"model": model, "tokens and vectors": tokens, **figures_of(outcome, model)})
                print(json.dumps(rows[-1]), flush=True)
    note = (
        SCARCE.replace("Encoder", "Mobasa, German. The teacher's encoder is English") + "Soft pseudo labels and labels."
    )
    return rows, note


def correlations(data: Path, only: list[str], settings: list[str]) -> tuple[list[dict[str, object]], str]:
    """Ask whether one student of all categories gains where categories go together."""
    from scipy.stats import spearmanr

    rows: list[dict[str, object]] = []
    for name in only or ("goemotions", "demo"):
        outcome = distilled(data, name, ["cnn", "bilstm"], *settings)
        assert outcome.prepared.test is not None
        linked = np.abs(np.corrcoef(outcome.prepared.test.labels.T) - np.eye(len(outcome.prepared.test.names))).max(
            axis=0
        )
        teacher = _f1(outcome, "teacher-partial")
        for kind in ("cnn", "bilstm"):
            gain = _f1(outcome, f"student-{kind}") - teacher
            found = spearmanr(gain, linked)
            rows.append(
                {
                    "data": name,
                    "student": kind,
                    "categories": len(gain),
                    "mean gain in F1": float(gain.mean()),
                    "gain, half with the stronger correlations": float(gain[linked >= np.median(linked)].mean()),
                    "gain, other half": float(gain[linked < np.median(linked)].mean()),
                    "Spearman's rho": float(found.statistic),
                    "p": float(found.pvalue),
                }
            )
    note = NOTE + (
        "The gain of the student over its teacher by category (F1 on test), against the category's strongest "
        "correlation with another one (phi of the true labels on test)."
    )
    return rows, note


def _f1(outcome: Outcome, model: str) -> np.ndarray:
    return np.array([label["f1"] for label in outcome.measured[model]["figures"]["test"]["labels"]])


TABLES = {
    "recipes": recipes,
    "kinds": kinds,
    "specialists": specialists,
    "multiclass": multiclass,
    "german": german,
    "correlations": correlations,
}


if __name__ == "__main__":
    run_tables("students", TABLES, __doc__)
