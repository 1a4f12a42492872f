"""limbeck report."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from limbeck.cli.options import AsJson, Overrides, ProjectFolder, Quiet
from limbeck.cli.output import console, print_json
from limbeck.config import load_project
from limbeck.errors import LimbeckError
from limbeck.pipeline import Pipeline
from limbeck.progress import set_quiet

if TYPE_CHECKING:
    from limbeck.report import Run


def command(
    project: ProjectFolder = Path(),
    overrides: Overrides = None,
    out: Annotated[Path | None, typer.Option(help="Write the page there. [report.html in the project]")] = None,
    texts: Annotated[bool, typer.Option("--texts/--no-texts", help="Show texts that were answered wrongly.")] = True,
    bench: Annotated[bool, typer.Option("--bench/--no-bench", help="Time the models if that wasn't done yet.")] = True,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Write all that a run tells into one HTML page that opens anywhere."""
    set_quiet(quiet or as_json)
    pipeline = Pipeline(load_project(project, overrides or ()))
    file, size, _ = make_report(pipeline, out, texts, bench)
    if as_json:
        print_json({"report": str(file), "bytes": size})
    elif not quiet:
        console().print(f"The report is in {file} ({size / 1e3:.0f} kB)", markup=False, soft_wrap=True)


def make_report(
    pipeline: Pipeline, out: Path | None = None, texts: bool = True, bench: bool = True
) -> tuple[Path, int, Run]:
    """Time what wasn't timed yet, and write the page; give where it is, its bytes and what it tells of."""
    from limbeck.bench.run import bench_for_report, kept
    from limbeck.report import FILE_NAME, gather, write_report

    timings = kept(pipeline)
    if timings is None and bench:
        try:
            timings = bench_for_report(pipeline)
        except LimbeckError as error:
            print(f"The report has no times: {error.message}", file=sys.stderr)
    gathered = gather(pipeline, timings, texts)
    file = out or pipeline.project.root / FILE_NAME
    return file, write_report(gathered, file), gathered
