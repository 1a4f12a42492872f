"""limbeck teach."""

from __future__ import annotations

from pathlib import Path

from limbeck.cli.options import AsJson, Overrides, ProjectFolder, Quiet
from limbeck.cli.run import run_steps
from limbeck.config import load_project
from limbeck.pipeline import Pipeline


def command(
    project: ProjectFolder = Path(), overrides: Overrides = None, as_json: AsJson = False, quiet: Quiet = False
) -> None:
    """Teach a large encoder your labels."""
    run_steps(Pipeline(load_project(project, overrides or ())), "teach", False, quiet, as_json)
