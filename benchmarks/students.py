"""How good distilled students are, against their teacher and against the same networks with labels alone.

python benchmarks/students.py recipes --data FOLDER [--only airline …], where FOLDER/NAME/{train,dev,test}.jsonl hold
text and labels. Runs that are finished are not repeated, so a table can be made piece by piece.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from chains import SCARCE, Outcome, difference, project, run
from results import publish

SETS = ("airline", "goemotions", "demo")
TEACHER = ("teach.kind=partial", "teach.folds=2", "baselines.kinds=[]")
LABELS_ONLY = ["distill.soft=0"]
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
    "alike for all on one half of dev; 'dev' is the other half. Differences: paired bootstrap of 1,000 rounds. "
)


def distilled(data: Path, name: str, kinds: list[str], *settings: str) -> Outcome:
    """Train and measure students of a data set's teacher, which is taught once."""
    folder = project(data, name, "students", work="students")
    return run(folder, *TEACHER, f"students.kinds={json.dumps(kinds)}", *settings)


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
    every = ["bag", "cnn", "bilstm", "transformer", "xgboost"]
    for name in only or SETS:
        for kind in every:
            for title in ("labels only", "soft pseudo labels and labels"):
                if kind == "xgboost" and title == "labels only":
                    continue  # the baselines' table has it
                outcome = distilled(data, name, [kind], *RECIPES[title], *settings)
                if not any(row["data"] == name for row in rows):
                    rows.append({"data": name, "model": "teacher", **figures_of(outcome, "teacher-partial")})
                found = figures_of(outcome, f"student-{kind}")
                rows.append({"data": name, "model": kind, "learns from": title, **found})
                print(json.dumps(rows[-1]), flush=True)
    return rows, NOTE


TABLES = {"recipes": recipes, "kinds": kinds}


def main() -> None:
    """Parse, run, publish."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", choices=TABLES)
    parser.add_argument("--data", type=Path, default=Path("data"), help="the folder of data sets")
    parser.add_argument("--only", nargs="+", default=[], help="some of the data sets")
    parser.add_argument("--set", dest="settings", action="append", default=[], help="section.key=value")
    parser.add_argument("--no-publish", action="store_true", help="leave docs/RESULTS.md alone")
    arguments = parser.parse_args()
    rows, note = TABLES[arguments.table](arguments.data, arguments.only, arguments.settings)
    if arguments.no_publish:
        publish(f"students-{arguments.table}", rows, note, publish_to=None)
    else:
        publish(f"students-{arguments.table}", rows, note)


if __name__ == "__main__":
    main()
