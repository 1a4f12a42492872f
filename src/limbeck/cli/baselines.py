"""limbeck baselines."""

from __future__ import annotations

from pathlib import Path

from limbeck.cli.options import AsJson, Overrides, ProjectFolder, Quiet
from limbeck.cli.run import run_steps
from limbeck.config import load_project
from limbeck.pipeline import Pipeline


def command(
    project: ProjectFolder = Path(), overrides: Overrides = None, as_json: AsJson = False, quiet: Quiet = False
) -> None:
    """Train the simple models that others must beat."""
    run_steps(Pipeline(load_project(project, overrides or ())), "baselines", False, quiet, as_json)
