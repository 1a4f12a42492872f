"""limbeck compress."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Annotated

import typer

from limbeck.cli.options import AsJson, Overrides, ProjectFolder, Quiet
from limbeck.cli.output import console, print_json
from limbeck.cli.run import run_steps
from limbeck.cli.trials import chosen_bundle, print_trials
from limbeck.config import load_project
from limbeck.errors import BadSetting, ProjectExists
from limbeck.pipeline import Pipeline
from limbeck.steps.compressing import TABLE


def command(
    project: ProjectFolder = Path(),
    overrides: Overrides = None,
    out: Annotated[Path | None, typer.Option(help="Copy the chosen bundle there.")] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Turn students and baselines into small, fast bundles; what loses too much is refused."""
    pipeline = Pipeline(load_project(project, overrides or ()))
    if "compress" not in [step.name for step in pipeline.steps]:
        raise BadSetting(
            "This project has nothing to compress: it needs a teacher, a pool and a student, or a baseline.",
            "Set teach.kind, data.pool and students.kinds, or baselines.kinds.",
        )
    if out is not None and out.exists():
        raise ProjectExists(f"{out} is already there.", "Name another folder, or move it away first.")
    run_steps(pipeline, "compress", False, quiet or as_json, False)
    bundle = chosen_bundle(pipeline)
    if out is not None:
        shutil.copytree(bundle, out)
    if as_json:
        told = json.loads((bundle.parent / TABLE).read_text(encoding="utf-8"))
        print_json({"bundle": str(out or bundle), "models": told})
    elif not quiet:
        print_trials(pipeline)
        console().print(f'Try it: limbeck predict {out or bundle} "a text"', markup=False, soft_wrap=True)
        if out is not None:
            console().print(f"It was copied to {out}", markup=False, soft_wrap=True)
