"""limbeck cascade."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from limbeck.cli.options import AsJson, Overrides, ProjectFolder, Quiet
from limbeck.cli.output import console, print_json, print_table
from limbeck.config import load_project
from limbeck.errors import ProjectExists, RunError
from limbeck.pipeline import Pipeline


def command(
    small: Annotated[Path, typer.Argument(help="The bundle that answers first.")],
    larger: Annotated[Path, typer.Argument(help="The bundle that answers what the first is not sure of.")],
    out: Annotated[Path, typer.Argument(help="The folder to make.")],
    project: ProjectFolder = Path(),
    overrides: Overrides = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Join two bundles: the small one answers where it is sure, the larger one where it isn't."""
    from limbeck.compress.cascade import compared, join, write_cascade
    from limbeck.data.prepare import Prepared
    from limbeck.data.splits import TUNING
    from limbeck.runtime.bundle import read_bundle

    if out.exists():
        raise ProjectExists(f"{out} is already there.", "Name another folder, or move it away first.")
    pipeline = Pipeline(load_project(project, overrides or ()))
    folder = pipeline.folder("data")
    if folder is None:
        raise RunError("The project's files were not read yet.", "Do it with: limbeck run --until data")
    prepared = Prepared.load(folder)
    first, second = read_bundle(small), read_bundle(larger)
    joined = join(first, second, prepared.dev_half(TUNING))
    rows = compared({"small": first, "larger": second, "cascade": joined.bundle}, prepared)
    passed_on = joined.chosen.passed_on
    figures = {name: value for name, value in rows[-1].items() if isinstance(value, float)}
    write_cascade(out, joined.bundle, figures | {"passed on": passed_on})
    if as_json:
        print_json({"bundle": str(out), "passed_on": passed_on, "models": rows})
    elif not quiet:
        note = "Microseconds a text, one at a time, one thread. The worst case is the time of both models."
        print_table("Cascade", rows, note)
        told = f"{passed_on:.1%} of dev's tuning half were passed on. The bundle is in {out}"
        console().print(told, markup=False, soft_wrap=True)
