"""limbeck init."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from limbeck.cli.options import Quiet
from limbeck.cli.output import console
from limbeck.project import create_project


class TaskName(StrEnum):
    """The tasks, as choices on the command line."""

    multilabel = "multilabel"
    multiclass = "multiclass"
    ner = "ner"


def command(
    folder: Annotated[Path, typer.Argument(help="The folder to make or to complete.")],
    task: Annotated[
        TaskName, typer.Option(help="Several categories a text, exactly one, or entities.")
    ] = TaskName.multilabel,
    quiet: Quiet = False,
) -> None:
    """Make a project folder with a limbeck.toml that explains every setting."""
    file = create_project(folder, task.value)
    if not quiet:
        console().print(f"Wrote {file}. Put your files beside it, then: limbeck inspect -p {folder}")
