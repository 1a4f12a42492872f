"""How good simple models are with few, disjoint labels: the figures that every later model must beat.

python benchmarks/baselines.py --data FOLDER, where FOLDER/NAME/{train,dev,test}.jsonl hold text and labels.
"""

from __future__ import annotations

import argparse
import shutil
import time
from pathlib import Path

from results import WORK, publish
from scarce import make_scarce

from limbeck.baselines import train_baseline
from limbeck.config import load_project
from limbeck.data.prepare import Prepared, prepare, read_corpus
from limbeck.measure import decide, paired_bootstrap
from limbeck.measure.compare import Measured, measure_scorer
from limbeck.progress import progress
from limbeck.store import Store


def measure_all(folder: Path, settings: list[str]) -> list[dict[str, object]]:
    """Train and measure every baseline on one project; the best is compared with each other one."""
    project = load_project(folder, settings)
    prepared = prepare(read_corpus(project), project.config).prepared
    found: dict[str, tuple[Measured, float]] = {}
    for kind in progress(project.config.baselines.kinds, folder.name, len(project.config.baselines.kinds)):
        started = time.monotonic()
        trained = train_baseline(kind, prepared.train, project.config, Store(project.workdir))
        seconds = time.monotonic() - started
        found[kind] = measure_scorer(trained.scorer, prepared, project.config), seconds
    best = max(found, key=lambda kind: found[kind][0].figures["judging"].macro_f1)
    return [_row(folder.name, kind, *found[kind], _behind(best, kind, found, prepared)) for kind in found]


def _row(name: str, kind: str, measured: Measured, seconds: float, behind: str) -> dict[str, object]:
    test, interval = measured.figures["test"], measured.intervals["test"]
    return {
        "data": name,
        "model": kind,
        "dev macro-F1": measured.figures["judging"].macro_f1,
        "test macro-F1": test.macro_f1,
        "95 % interval": f"{interval.low:.3f} to {interval.high:.3f}",
        "test micro-F1": test.micro_f1,
        "macro average precision": test.macro_average_precision,
        "less than the best (test, p)": behind,
        "training seconds": round(seconds),
    }


def _behind(best: str, kind: str, found: dict[str, tuple[Measured, float]], prepared: Prepared) -> str:
    if kind == best or prepared.test is None:
        return "best on dev"
    ours, theirs = (decide(found[k][0].proba["test"], found[k][0].thresholds) for k in (best, kind))
    difference = paired_bootstrap(prepared.test.labels, ours, theirs)
    return f"{difference.estimate:.3f} (p = {difference.p_value:.3f})"


def main() -> None:
    """Parse, run, publish."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="the folder of data sets")
    parser.add_argument("--sets", nargs="+", default=["airline", "goemotions", "mobasa"], help="folders inside it")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--set", dest="settings", action="append", default=[], help="section.key=value")
    parser.add_argument("--no-publish", action="store_true", help="leave docs/RESULTS.md alone")
    arguments = parser.parse_args()
    rows: list[dict[str, object]] = []
    for name in arguments.sets:
        folder = WORK / "scarce" / f"{name}-{arguments.seed}" / name
        shutil.rmtree(folder, ignore_errors=True)
        make_scarce(arguments.data / name, folder, seed=arguments.seed)
        rows += measure_all(folder, arguments.settings)
        print(f"{name}: done", flush=True)
    note = (
        "Disjoint labels: for each category 300 training rows, at most a third positive, with only that category's "
        f"label known (seed {arguments.seed}; benchmarks/scarce.py). One binary model a category; thresholds are tuned "
        "on one half of dev, 'dev' is the other half. The last column but one compares with the model that is best on "
        "dev, by a paired bootstrap of 1,000 rounds."
    )
    if arguments.no_publish:
        publish("baselines", rows, note, publish_to=None)
    else:
        publish("baselines", rows, note)


if __name__ == "__main__":
    main()
