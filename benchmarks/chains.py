"""Projects that benchmarks run as a user would, and what came out of them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from results import WORK
from scarce import make_scarce

from limbeck.config import load_project
from limbeck.data.prepare import Prepared
from limbeck.measure import decide, paired_bootstrap
from limbeck.measure.compare import load_measured
from limbeck.measure.counts import decide_classes
from limbeck.pipeline import Pipeline
from limbeck.project import create_demo

SCARCE = (
    "Disjoint labels: for each category 300 training rows, at most a third positive, with only that category's label "
    "known (seed 0; benchmarks/scarce.py). Encoder: all-MiniLM-L6-v2, texts cut at 128 tokens. "
)


@dataclass(frozen=True)
class Outcome:
    """A finished chain: its figures and probabilities by model, how long teaching took, and what distilling told."""

    prepared: Prepared
    measured: dict[str, dict]
    folder: Path
    seconds: float
    figures: dict[str, float]
    one_class: bool

    def decisions(self, model: str, part: str = "test") -> np.ndarray:
        """Give what a model decides at its tuned thresholds."""
        with np.load(self.folder / model / "proba.npz") as proba:
            if self.one_class:
                return decide_classes(proba[part])
            return decide(proba[part], np.array(self.measured[model]["thresholds"]))

    @property
    def best(self) -> str:
        """The model that the judging half of dev likes best; of a teacher's project, the teacher."""
        return max(self.measured, key=lambda name: self.measured[name]["figures"]["judging"]["macro_f1"])


def run(folder: Path, *settings: str) -> Outcome:
    """Run the chain of a project as a user would, up to the figures."""
    pipeline = Pipeline(load_project(folder, settings))
    states = {state.step.name: state for state in pipeline.run(until="measure")}
    measured, data = pipeline.folder("measure"), pipeline.folder("data")
    assert measured is not None and data is not None
    seconds = states["teach"].seconds if "teach" in states else 0.0
    one_class = pipeline.project.config.task == "multiclass"
    told = dict(states["distill"].figures) if "distill" in states else {}
    return Outcome(Prepared.load(data), load_measured(measured), measured, seconds or 0.0, told, one_class)


def project(data: Path, name: str, title: str, work: str = "teachers") -> Path:
    """Give the scarce project of a data set, one for each timed run so that none finds another's work done."""
    folder = WORK / work / name / title.replace(" ", "").replace(",", "-")
    if not (folder / "limbeck.toml").exists():
        if name == "demo":
            create_demo(folder, seed=0, pool_rows=20_000)
        else:
            make_scarce(data / name, folder)
    return folder


def difference(one: Outcome, other: Outcome, mine: str = "", theirs: str = "") -> str:
    """Compare two models, the best of each chain if none is named, by macro-F1 on test with the paired bootstrap."""
    assert one.prepared.test is not None
    decisions = one.decisions(mine or one.best), other.decisions(theirs or other.best)
    found = paired_bootstrap(one.prepared.test.labels, *decisions)
    return f"{found.estimate:+.3f} [{found.low:+.3f}, {found.high:+.3f}], p = {found.p_value:.3f}"
