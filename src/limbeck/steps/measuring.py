"""The step that measures every model that the others made."""

from __future__ import annotations

from limbeck.scorer import Scorer
from limbeck.steps.step import Figures, Step, StepRun, no_files


def _run_measure(run: StepRun) -> Figures:
    from limbeck.baselines import BaselineScorer
    from limbeck.data.prepare import Prepared
    from limbeck.measure.compare import measure_scorer

    config = run.project.config
    prepared = Prepared.load(run.inputs["data"])
    figures: Figures = {}

    def measure(name: str, scorer: Scorer) -> None:
        measured = measure_scorer(scorer, prepared, config)
        measured.save(run.folder / name)
        for part, found in measured.figures.items():
            figures.update({f"{name}.{part}.{figure}": value for figure, value in found.flat().items()})

    for kind in config.baselines.kinds:
        measure(kind, BaselineScorer.load(run.inputs["baselines"] / kind))
    if "teach" in run.inputs:
        from limbeck.teach.calibrate import load_calibrated

        teacher = load_calibrated(run.inputs["teach"], run.inputs.get("calibrate"), run.project.root, run.store)
        measure(f"teacher-{config.teach.kind}", teacher)
    if "distill" in run.inputs:
        from limbeck.distill.students import load_distilled

        for student in config.students.kinds:
            measure(f"student-{student}", load_distilled(run.inputs["distill"] / student))
    return figures


MEASURE = Step(
    name="measure",
    summary="tune thresholds on one half of dev, judge on the other and on test",
    tasks=("multilabel", "multiclass"),
    settings=("task", "seed", "measure"),
    code=("limbeck.measure",),
    after=("data", "baselines", "teach", "calibrate", "distill"),
    files=no_files,
    run=_run_measure,
)
