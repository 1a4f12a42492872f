"""The step that measures every model that the others made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from limbeck.config import Config
from limbeck.scorer import Floats, Scorer
from limbeck.steps.step import NETWORKS, WORD_COUNTERS, Figures, Step, StepRun, no_files
from limbeck.store import content_of, key_of

TASK_KIND = "tasks/measured"
# Texts of the pool that thresholds lean on.
DRAWN = 5000


def _run_measure(run: StepRun) -> Figures:
    from limbeck.baselines import BaselineScorer
    from limbeck.data.parents import check_parents
    from limbeck.data.prepare import Prepared
    from limbeck.measure.compare import measure_scorer
    from limbeck.measure.thresholds import Unlabelled

    config = run.project.config
    prepared = Prepared.load(run.inputs["data"])
    check_parents(run.project, prepared.dev.names)
    figures: Figures = {}
    drawn = drawn_texts(config, run.inputs)

    def measure(name: str, scorer: Scorer) -> None:
        unlabelled = None
        if drawn:
            texts, guesses = drawn
            # Of the teacher they are known already.
            scores = guesses if name.startswith("teacher-") else scorer.predict_proba(texts)
            unlabelled = Unlabelled(scores, guesses)
        measured = measure_scorer(scorer, prepared, config, unlabelled)
        measured.save(run.folder / name)
        for part, found in measured.figures.items():
            figures.update({f"{name}.{part}.{figure}": value for figure, value in found.flat().items()})

    for kind in config.baselines.kinds:
        measure(kind, BaselineScorer.load(run.inputs["baselines"] / kind))
    if "teach" in run.inputs:
        from limbeck.teach.calibrate import load_calibrated

        teacher = load_calibrated(run.inputs["teach"], run.inputs.get("calibrate"), run.project.root, run.store)
        measured = [content_of(run.inputs[name]) for name in ("teach", "calibrate") if name in run.inputs]
        measure(f"teacher-{config.teach.kind}", _Remembered(teacher, measured, run))
    if "distill" in run.inputs:
        from limbeck.distill.students import load_distilled

        for student in config.students.kinds:
            measure(f"student-{student}", load_distilled(run.inputs["distill"] / student))
    return figures


@dataclass(frozen=True)
class _Remembered:
    """A slow scorer whose answers are kept: students come and go, and it needn't read dev and test for each."""

    scorer: Scorer
    content: list[str]
    run: StepRun

    @property
    def labels(self) -> tuple[str, ...]:
        return self.scorer.labels

    def predict_proba(self, texts: Sequence[str]) -> Floats:
        import numpy as np

        about = {"scorer": self.content, "texts": key_of(list(texts)), "made_with": dict(self.run.made_with)}
        key, store = key_of(about), self.run.store
        if self.run.force or not store.intact(TASK_KIND, key):
            with store.write(TASK_KIND, key, about) as folder:
                np.save(folder / "proba.npy", self.scorer.predict_proba(texts))
        proba: Floats = np.load(store.folder(TASK_KIND, key) / "proba.npy", allow_pickle=False)
        return proba


def drawn_texts(config: Config, steps: Mapping[str, Path]) -> tuple[list[str], Floats] | None:
    """Draw texts of the pool with the teacher's guesses about them, if thresholds may lean on these."""
    guessed = "pseudo" in steps and config.task == "multilabel" and config.calibrate.method != "none"
    if not guessed or config.measure.thresholds != "pool":
        return None
    from limbeck.pseudo.guesses import PoolScores

    return PoolScores.load(steps["pool"], steps["pseudo"], steps["teach"], steps["calibrate"]).sample(
        DRAWN, config.seed
    )


MEASURE = Step(
    name="measure",
    summary="tune thresholds on one half of dev, judge on the other and on test",
    tasks=("multilabel", "multiclass"),
    settings=("task", "seed", "measure", "data.parents"),
    code=tuple(
        f"limbeck.{name}"
        for name in (
            "measure",
            "data.parents",
            "pseudo",
            "students",
            "teach",
            "baselines",
            "training",
            "runtime.batches",
            "text",
        )
    ),
    after=("data", "baselines", "teach", "calibrate", "pool", "pseudo", "distill"),
    files=no_files,
    run=_run_measure,
    libraries=(*NETWORKS, *WORD_COUNTERS),
)
