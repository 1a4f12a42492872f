"""limbeck compare."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Literal

import typer

from limbeck.cli.options import AsJson, Overrides, ProjectFolder, Quiet
from limbeck.cli.output import console, print_json, print_table
from limbeck.config import load_project
from limbeck.pipeline import Pipeline
from limbeck.progress import set_quiet

FILE_NAME = "compare.json"


def command(
    models: Annotated[
        list[str] | None,
        typer.Argument(help="Folders of models, spacy:PACKAGE, or names of the project's; without any, all of those."),
    ] = None,
    project: ProjectFolder = Path(),
    overrides: Overrides = None,
    on: Annotated[Literal["test", "dev", "judging"], typer.Option(help="The texts that all answer.")] = "test",
    limit: Annotated[int, typer.Option(min=0, help="The first so many of them. 0: all.")] = 0,
    batch: Annotated[int, typer.Option(min=1, help="Texts a call, for the time of all.")] = 1,
    threads: Annotated[int, typer.Option(min=1, help="Threads.")] = 1,
    chart: Annotated[Path | None, typer.Option(help="Draw three charts into this file (svg or png).")] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Let any models answer the same texts: how good, how fast, how large."""
    from limbeck.bench.compare import compare_models, draw

    set_quiet(quiet or as_json)
    pipeline = Pipeline(load_project(project, overrides or ()))
    rows = compare_models(pipeline, models or [], on, limit, batch, threads)
    file = pipeline.project.workdir / FILE_NAME
    file.write_text(json.dumps(rows, indent=1), encoding="utf-8")
    if chart is not None:
        draw(rows, chart)
    if as_json:
        print_json({"rows": rows})
    elif not quiet:
        shown = [{name: _shown(name, value) for name, value in row.items()} for row in rows]
        print_table(f"Models on {on}", shown, _NOTE)
        console().print(f"All figures are in {chart or file}", markup=False, soft_wrap=True)


_NOTE = (
    "From raw text to labels or entities. Entities: exact match, accuracy of words; categories: means over them, "
    "accuracy of whole texts. Latency: one text at a time, the median."
)


def _shown(name: str, value: object) -> object:
    if name in ("latency ms", "p99 ms") and isinstance(value, float):
        return f"{value:.3f}"
    if name == "samples a second" and isinstance(value, float):
        return round(value)
    return value
