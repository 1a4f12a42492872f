"""limbeck run."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from limbeck.cli.measure import print_figures
from limbeck.cli.options import AsJson, Overrides, ProjectFolder, Quiet
from limbeck.cli.output import console, print_json
from limbeck.cli.report import make_report
from limbeck.cli.trials import chosen_bundle, print_trials
from limbeck.config import load_project
from limbeck.errors import BadSetting, ProjectExists
from limbeck.pipeline import Pipeline, StepState
from limbeck.progress import set_quiet
from limbeck.runtime.bundle import FACTS

if TYPE_CHECKING:
    from limbeck.report import Run

BUNDLE = "bundle"


def command(
    project: ProjectFolder = Path(),
    overrides: Overrides = None,
    until: Annotated[str | None, typer.Option(help="Do this step and those that it needs, no more.")] = None,
    only: Annotated[str | None, typer.Option(help="Do this step alone.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Do every step again, finished or not.")] = False,
    report: Annotated[bool, typer.Option("--report/--no-report", help="Time the models and write report.html.")] = True,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Go from a folder of files to a bundle and a report. Killed at any moment, the same command goes on from there."""
    if until and only:
        raise BadSetting("--until and --only exclude each other.", "Give one of them.")
    pipeline = Pipeline(load_project(project, overrides or ()))
    states = run_steps(pipeline, until, force, quiet, as_json, only)
    done = [state.step.name for state in states]
    told = not (quiet or as_json)
    if "measure" in done and told:
        print_figures(pipeline)
    if "compress" in done and told:
        print_trials(pipeline)
    if "compress" in done and not (until or only):
        bundle = put_bundle(chosen_bundle(pipeline), pipeline.project.root / BUNDLE)
        if report and told:
            console().print("[bold]report[/]: time the models and write the page …")
        page, _, found = make_report(pipeline) if report else (None, 0, None)
        if told:
            _sum_up(pipeline, bundle, page, found)


def put_bundle(chosen: Path, target: Path) -> Path:
    """Copy a bundle there in one step; only a bundle is replaced."""
    if target.exists() and not (target / FACTS).is_file():
        raise ProjectExists(f"{target} is there and is no bundle.", "Move it away: the run's bundle goes there.")
    draft, old = target.with_name(f".{target.name}.new"), target.with_name(f".{target.name}.old")
    for left in (draft, old):
        shutil.rmtree(left, ignore_errors=True)
    shutil.copytree(chosen, draft)
    if target.exists():
        target.rename(old)
    draft.rename(target)
    shutil.rmtree(old, ignore_errors=True)
    return target


def _sum_up(pipeline: Pipeline, bundle: Path, page: Path | None, run: Run | None) -> None:
    """Print the two numbers that matter, and where things are."""
    from limbeck.bench.run import kept
    from limbeck.report import gather, headline

    found = headline(run or gather(pipeline, kept(pipeline)))
    lines = [("F1 kept", found.quality), ("speed-up", found.speed), ("weak", found.weak)]
    lines += [("bundle", f"{bundle}    limbeck serve {bundle}"), ("report", str(page) if page else "")]
    console().print()
    for name, line in lines:
        if line:
            console().print(f"[bold]{name:>9}[/]  ", end="")
            console().print(line, markup=False, soft_wrap=True)


def run_steps(
    pipeline: Pipeline, until: str | None, force: bool, quiet: bool, as_json: bool, only: str | None = None
) -> list[StepState]:
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

    states = pipeline.run(until, force, tell, only)
    if as_json:
        print_json({s.step.name: {"key": s.key, "seconds": s.seconds, "figures": s.figures} for s in states})
    return states
