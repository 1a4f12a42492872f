"""limbeck distill."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from limbeck.cli.options import AsJson, Overrides, ProjectFolder, Quiet
from limbeck.cli.output import console, print_table
from limbeck.cli.run import run_steps
from limbeck.config import load_project
from limbeck.errors import BadSetting
from limbeck.pipeline import Pipeline


def command(
    project: ProjectFolder = Path(), overrides: Overrides = None, as_json: AsJson = False, quiet: Quiet = False
) -> None:
    """Let small students learn from the teacher."""
    pipeline = Pipeline(load_project(project, overrides or ()))
    if "distill" not in [step.name for step in pipeline.steps]:
        raise BadSetting(
            "This project distils nothing: it needs a teacher, a pool and students.",
            "Set teach.kind, data.pool and students.kinds.",
        )
    states = run_steps(pipeline, "distill", False, quiet, as_json)
    if not (quiet or as_json):
        figures = states[-1].figures
        kinds = dict.fromkeys(name.partition(".")[0] for name in figures)
        print_table("Students", [_row(kind, figures) for kind in kinds], _NOTE)
        console().print(f"The students are in {pipeline.folder('distill')}", markup=False)


_NOTE = "F1: mean of macro-F1 on the labelled rows that it didn't learn and on dev's tuning half, at its best."


def _row(kind: str, figures: Mapping[str, float]) -> dict[str, object]:
    return {
        "student": kind,
        "parameters": f"{figures[f'{kind}.parameters']:,.0f}",
        "texts": f"{figures[f'{kind}.rows']:,.0f}",
        "of them labelled": f"{figures[f'{kind}.labelled']:,.0f}",
        "F1": figures[f"{kind}.score"],
        "seconds": round(figures[f"{kind}.seconds"]),
    }
