"""What `limbeck tune` gives within a time: tuned against untuned settings, on test.

python benchmarks/tuning.py TABLE --data FOLDER [--minutes 30] [--only airline:distill]. Tables: scarce (FOLDER/NAME
with {train,dev,test}.jsonl of text and labels, as few, disjoint labels). Every search begins with no more than
what the untuned settings make, which is measured before the clock starts.
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

from chains import SCARCE, Outcome, difference, project, run
from results import WORK, run_tables

from limbeck.tune import Tuned, tune

SETS = ("airline", "goemotions")
TARGETS = ("baselines", "teach", "distill")
# The students' teacher is a quick one, made before the clock starts; one student, so that trials are many.
BASE = ("teach.kind=probe", 'students.kinds=["cnn"]', 'tune.keep=["students.size"]')
OF_TARGET = {
    "baselines": ("teach.kind=none", 'baselines.kinds=["tfidf-logreg", "svm"]'),
    "teach": ("teach.kind=partial", "teach.folds=2", "students.kinds=[]", "baselines.kinds=[]"),
    "distill": (*BASE, "baselines.kinds=[]"),
}
MINUTES = 30.0


def scarce(data: Path, only: list[str], settings: list[str]) -> tuple[list[dict[str, object]], str]:
    """Tune each target of each set, and measure before and after."""
    rows = []
    for name in SETS:
        for target in TARGETS:
            if not only or {name, f"{name}:{target}"} & set(only):
                rows += _tuned(data, name, target, [*OF_TARGET[target], *settings])
    return rows, (
        f"{SCARCE}`limbeck tune --target TARGET --time {MINUTES:g}m`, as many trials as there is time for, on 2 cores: "
        "baselines are svm and tfidf-logreg, the teacher is a partial one of 2 folds, the student a cnn of a probe, "
        "its size kept. 'tuning' is the half of dev that trials are scored by, the mean over the models; 'judging' is "
        "the other half. Differences in test macro-F1: tuned less untuned, paired bootstrap of 1,000 rounds."
    )


def _tuned(data: Path, name: str, target: str, settings: list[str]) -> list[dict[str, object]]:
    shutil.rmtree(WORK / "tuning" / name / target, ignore_errors=True)
    folder = project(data, name, target, "tuning")
    before = run(folder, *settings)
    found = tune(folder, target, settings, trials=10_000, seconds=60 * MINUTES, tell=print)
    after = run(folder, *settings, *found.overrides)
    return [_row(name, target, gain, before, after, found) for gain in _models(target, before)]


def _models(target: str, before: Outcome) -> list[str]:
    """Give what a target makes, as the step `measure` calls it."""
    prefix = {"teach": "teacher-", "distill": "student-"}.get(target, "")
    return [name for name in before.measured if name.startswith(prefix)]


def _row(name: str, target: str, model: str, before: Outcome, after: Outcome, found: Tuned) -> dict[str, object]:
    def f1(outcome: Outcome, part: str) -> float:
        return float(outcome.measured[model]["figures"][part]["macro_f1"])

    ended = sum(trial.score is None for trial in found.trials)
    return {
        "data": name,
        "target": target,
        "model": model,
        "trials": len(found.trials),
        "ended early": ended,
        "tuning, untuned": found.untuned.score,
        "tuning, tuned": found.best.score,
        "judging, untuned": f1(before, "judging"),
        "judging, tuned": f1(after, "judging"),
        "test, untuned": f1(before, "test"),
        "test, tuned": f1(after, "test"),
        "difference on test": difference(after, before, model, model) if found.settings else "the same settings",
        "matters most": next(iter(found.importance), ""),
    }


if __name__ == "__main__":
    options = argparse.ArgumentParser(add_help=False)
    options.add_argument("--minutes", type=float, default=MINUTES, help="how long each search may take")
    MINUTES = options.parse_known_args()[0].minutes
    run_tables("tuning", {"scarce": scarce}, __doc__, [options])
