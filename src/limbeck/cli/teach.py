"""limbeck teach."""

from __future__ import annotations

import json
from pathlib import Path

from limbeck.cli.options import AsJson, Overrides, ProjectFolder, Quiet
from limbeck.cli.output import console, print_table
from limbeck.cli.run import run_steps
from limbeck.config import load_project
from limbeck.errors import BadSetting
from limbeck.pipeline import Pipeline

_FIGURES = {"ece": "calibration error", "brier": "Brier score", "log_loss": "log loss"}


def command(
    project: ProjectFolder = Path(), overrides: Overrides = None, as_json: AsJson = False, quiet: Quiet = False
) -> None:
    """Teach a large encoder your labels, and calibrate it."""
    pipeline = Pipeline(load_project(project, overrides or ()))
    names = [step.name for step in pipeline.steps]
    if "teach" not in names:
        raise BadSetting("This project has no teacher: teach.kind is 'none'.", "Set it, e.g. --set teach.kind=probe.")
    run_steps(pipeline, "calibrate" if "calibrate" in names else "teach", False, quiet, as_json)
    if not (quiet or as_json):
        print_taught(pipeline)


def print_taught(pipeline: Pipeline) -> None:
    """Say what became of the teacher: how well each task ended, what was left out, how reliable it is."""
    folder, calibrated = pipeline.folder("teach"), pipeline.folder("calibrate")
    if folder is None:
        return
    tasks = json.loads((folder / "tasks.json").read_text(encoding="utf-8"))
    print_table("Tasks", [{"task": name, "score": _score(found)} for name, found in tasks.items()], _NOTE)
    if calibrated:
        told = json.loads((calibrated / "figures.json").read_text(encoding="utf-8"))["figures"]
        rows = [
            {"on dev's judging half": title, "before": told[f"{name}_before"], "after": told[f"{name}_after"]}
            for name, title in _FIGURES.items()
        ]
        print_table("Calibration", rows)
    for kind, names in json.loads((folder / "skipped.json").read_text(encoding="utf-8")).items():
        for name, reason in names.items():
            console().print(f"{kind} has no model of '{name}': {reason}.", markup=False)
    console().print(f"The teacher is in {folder}", markup=False)


_NOTE = "Networks: mean of macro-F1 on the fold's held-out rows and on dev's tuning half. Probes: average precision."


def _score(found: object) -> str:
    if isinstance(found, dict):
        return ", ".join(f"{name} {value:.1f}" for name, value in found.items())
    return ", ".join(f"{value:.3f}" for value in found) if isinstance(found, list) else f"{found:.3f}"
