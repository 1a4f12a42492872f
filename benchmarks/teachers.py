"""How good teachers are with few, disjoint labels, against the tuned baselines, and what they cost.

python benchmarks/teachers.py kinds --data FOLDER [--only airline:probe …], where FOLDER/NAME/{train,dev,test}.jsonl
hold text and labels. Runs that are finished are not repeated, so a table can be made piece by piece.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from chains import SCARCE, Outcome, difference, project, run
from results import run_tables

from limbeck.data.splits import JUDGING
from limbeck.measure import evaluate

SETS = ("airline", "goemotions", "reuters")
KINDS = {
    "probe": ["teach.kind=probe"],
    "partial, 2 folds": ["teach.kind=partial", "teach.folds=2"],
    "partial and words, 2 folds": [
        "teach.kind=blend",
        'teach.blend=["partial", "tfidf-logreg", "xgboost"]',
        "teach.folds=2",
        "baselines.trials=8",
    ],
    "binary-ensemble, 3 folds": ["teach.kind=binary-ensemble", "teach.folds=3"],
}
# A blend finds this run's networks done; its seconds are added.
STANDS_ON = {"partial and words, 2 folds": "partial, 2 folds"}
EVERYWHERE = ("probe", "partial, 2 folds", "partial and words, 2 folds")
RUNS = [(name, kind) for kind in EVERYWHERE for name in SETS] + [("airline", "binary-ensemble, 3 folds")]


def baselines(data: Path, name: str) -> Outcome:
    """Train and measure the baselines."""
    return run(project(data, name, "baselines"), "teach.kind=none")


def teacher(data: Path, name: str, title: str, *settings: str) -> Outcome:
    """Teach and measure one teacher."""
    return run(project(data, name, title), "baselines.kinds=[]", "students.kinds=[]", *settings)


def figures_of(outcome: Outcome, best_baseline: Outcome | None = None) -> dict[str, object]:
    """Give the columns that all tables share."""
    measured = outcome.measured[outcome.best]
    figures, interval = measured["figures"], measured["macro_f1_intervals"]["test"]
    return {
        "dev macro-F1": figures["judging"]["macro_f1"],
        "test macro-F1": figures["test"]["macro_f1"],
        "95 % interval": f"{interval['low']:.3f} to {interval['high']:.3f}",
        "micro-F1": figures["test"]["micro_f1"],
        "average precision": figures["test"]["macro_average_precision"],
        "calibration error": figures["test"]["calibration_error"],
        "against the best baseline": difference(outcome, best_baseline) if best_baseline else None,
    }


def compare(data: Path, name: str, titles: Iterable[str], settings: list[str]) -> list[dict[str, object]]:
    """Compare kinds of teacher with the best baseline, and with the probe."""
    base = baselines(data, name)
    rows: list[dict[str, object]] = [{"data": name, "model": f"{base.best} (baseline)", **figures_of(base)}]
    probe: Outcome | None = None
    for title in titles:
        first = (
            teacher(data, name, STANDS_ON[title], *KINDS[STANDS_ON[title]], *settings) if title in STANDS_ON else None
        )
        outcome = teacher(data, name, STANDS_ON.get(title, title), *KINDS[title], *settings)
        against = {"against the probe": difference(outcome, probe) if probe else None}
        rows.append({"data": name, "model": title, **figures_of(outcome, base), **against})
        rows[-1]["teaching seconds"] = round(outcome.seconds + (first.seconds if first else 0))
        probe = outcome if title == "probe" else probe
        print(json.dumps(rows[-1]), flush=True)
    return rows


def kinds(data: Path, only: list[str], settings: list[str]) -> tuple[list[dict[str, object]], str]:
    """Compare kinds of teacher on every data set."""
    wanted = [tuple(item.split(":", 1)) for item in only] or RUNS
    names = dict.fromkeys(name for name, _ in wanted)
    rows = [row for name in names for row in compare(data, name, [k for n, k in wanted if n == name], settings)]
    note = (
        SCARCE
        + "Thresholds are tuned alike for all on one half of dev; 'dev' is the other half, the other columns are "
        "test. The baseline is the best of three on dev. Differences in macro-F1: paired bootstrap of 1,000 rounds. "
        "Seconds: teaching the folds that are used, from nothing, on 2 cores."
    )
    return rows, note


def layers(data: Path, only: list[str], settings: list[str]) -> tuple[list[dict[str, object]], str]:
    """Compare what a probe can read."""
    rows = []
    for name in only or SETS:
        for which in ("last", "last-four", "mix", "all"):
            outcome = teacher(data, name, "probe", "teach.kind=probe", f"probe.layers={which}", *settings)
            rows.append({"data": name, "layers": which, **figures_of(outcome, baselines(data, name))})
            print(json.dumps(rows[-1]), flush=True)
    return rows, SCARCE + "Which layers a linear probe reads: the last, the mean of the last four, a learnt mix, all."


def weights(data: Path, only: list[str], settings: list[str]) -> tuple[list[dict[str, object]], str]:
    """Show what the weight of a positive does to precision and recall."""
    rows = []
    for weight in (0.5, 1.0, 2.0, 5.0, 10.0):
        # Calibration and tuned thresholds undo most of what a weight does, so the middle columns do without both.
        told = ["teach.kind=probe", f"train.positive_weight={weight}", "calibrate.method=none", *settings]
        outcome = teacher(data, "airline", "probe", *told)
        judging = outcome.prepared.dev_half(JUDGING)
        with np.load(outcome.folder / outcome.best / "proba.npz") as proba:
            plain = evaluate(judging.labels, proba["judging"], np.full(len(judging.names), 0.5), judging.names)
        tuned = outcome.measured[outcome.best]["figures"]
        rows.append(
            {
                "positive weight": weight,
                "precision at 0.5 (dev)": plain.macro_precision,
                "recall at 0.5 (dev)": plain.macro_recall,
                "macro-F1 at 0.5 (dev)": plain.macro_f1,
                "macro-F1, tuned thresholds (dev)": tuned["judging"]["macro_f1"],
                "macro-F1, tuned thresholds (test)": tuned["test"]["macro_f1"],
            }
        )
    return rows, SCARCE + "Airline, probe, without calibration. Above 1, a missed positive costs more than a false one."


def large(data: Path, only: list[str], settings: list[str]) -> tuple[list[dict[str, object]], str]:
    """Compare the default encoder with a larger one, which `settings` must name (encoder.name=FOLDER)."""
    if not any(setting.startswith("encoder.name=") for setting in settings):
        raise SystemExit("Name the larger encoder: --set encoder.name=FOLDER.")
    rows = []
    one_fold = ["teach.kind=partial", "teach.folds=1"]
    for name, title, told in (
        ("airline", "probe", KINDS["probe"]),
        ("goemotions", "probe", KINDS["probe"]),
        ("airline", "partial, 1 fold", one_fold),
    ):
        if only and f"{name}:{title}" not in only:
            continue
        for encoder, more in (("all-MiniLM-L6-v2, 22.7 M", []), ("all-mpnet-base-v2, 109.5 M", settings)):
            outcome = teacher(data, name, title + (" large" if more else ""), *told, *more)
            found = figures_of(outcome, baselines(data, name))
            rows.append({"data": name, "model": title, "encoder": encoder, **found})
            rows[-1]["teaching seconds"] = round(outcome.seconds)
            print(json.dumps(rows[-1]), flush=True)
    return rows, SCARCE.replace("Encoder: all-MiniLM-L6-v2, texts", "Texts") + "How much a larger encoder gives."


def demo(data: Path, only: list[str], settings: list[str]) -> tuple[list[dict[str, object]], str]:
    """Compare teachers on the demo corpus."""
    return compare(data, "demo", EVERYWHERE, settings), "The demo corpus, seed 0."


TABLES = {"kinds": kinds, "layers": layers, "weights": weights, "large": large, "demo": demo}


if __name__ == "__main__":
    run_tables("teachers", TABLES, __doc__)
