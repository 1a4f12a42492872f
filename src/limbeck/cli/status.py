"""limbeck status."""

from __future__ import annotations

from pathlib import Path

from limbeck.cli.options import AsJson, Overrides, ProjectFolder
from limbeck.cli.output import print_json, print_table
from limbeck.config import load_project
from limbeck.pipeline import Pipeline


def command(project: ProjectFolder = Path(), overrides: Overrides = None, as_json: AsJson = False) -> None:
    """Show each step's state, and why it is out of date."""
    states = Pipeline(load_project(project, overrides or ())).status()
    if as_json:
        print_json(
            [{"step": s.step.name, "state": s.state, "why": s.why, "key": s.key, "seconds": s.seconds} for s in states]
        )
        return
    rows = [{"step": s.step.name, "state": s.state, "seconds": s.seconds, "why": "; ".join(s.why)} for s in states]
    print_table("Steps", rows)
