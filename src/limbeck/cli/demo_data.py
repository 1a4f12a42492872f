"""limbeck demo-data."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from limbeck.cli.options import AsJson, Quiet
from limbeck.cli.output import console, print_json
from limbeck.project import create_demo


def command(
    folder: Annotated[Path, typer.Argument(help="The folder to write to.")],
    seed: Annotated[int, typer.Option(help="Another seed gives another corpus.")] = 0,
    pool_rows: Annotated[int, typer.Option(min=0, help="How many unlabelled texts to write.")] = 20_000,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Write a synthetic corpus of traveller feedback, as a project that is ready to run."""
    summary = create_demo(folder, seed, pool_rows)
    if as_json:
        print_json(asdict(summary))
    elif not quiet:
        console().print(
            f"Wrote the demo corpus to {folder}. Now: limbeck inspect -p {folder}, then limbeck run -p {folder}"
        )
