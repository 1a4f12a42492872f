"""limbeck run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from limbeck.cli.measure import print_figures
from limbeck.cli.options import AsJson, Overrides, ProjectFolder, Quiet
from limbeck.cli.output import console, print_json
from limbeck.cli.trials import print_trials
from limbeck.config import load_project
from limbeck.pipeline import Pipeline, StepState
from limbeck.progress import set_quiet


def command(
    project: ProjectFolder = Path(),
    overrides: Overrides = None,
    until: Annotated[str | None, typer.Option(help="Do this step and those that it needs, no more.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Do every step again, finished or not.")] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Do every step that is out of date. Killed at any moment, the same command goes on from there."""
    pipeline = Pipeline(load_project(project, overrides or ()))
    states = run_steps(pipeline, until, force, quiet, as_json)
    done = [state.step.name for state in states]
    if "measure" in done and not (quiet or as_json):
        print_figures(pipeline)
    if "compress" in done and not (quiet or as_json):
        print_trials(pipeline)


def run_steps(pipeline: Pipeline, until: str | None, force: bool, quiet: bool, as_json: bool) -> list[StepState]:
    """Run a pipeline and tell about each step; with `as_json`, print the figures of all of them."""
    set_quiet(quiet or as_json)

    def tell(state: StepState, event: str) -> None:
        if quiet or as_json:
            return
        if event == "start":
            console().print(f"[bold]{state.step.name}[/]: {state.step.summary} …")
        elif event == "done":
            console().print(f"[bold]{state.step.name}[/]: done in {state.seconds:.1f} s")
        else:
            console().print(f"[bold]{state.step.name}[/]: up to date")

    states = pipeline.run(until, force, tell)
    if as_json:
        print_json({s.step.name: {"key": s.key, "seconds": s.seconds, "figures": s.figures} for s in states})
    return states
