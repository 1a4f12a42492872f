"""limbeck init."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from limbeck.cli.options import Quiet
from limbeck.cli.output import console
from limbeck.data.divide import PARTS, ROUGH, Division
from limbeck.errors import BadSetting
from limbeck.project import create_divided, create_project


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
    labelled: Annotated[
        Path | None,
        typer.Option(help="One file of labelled texts, to be divided into train, dev and test, each category evenly."),
    ] = None,
    unlabelled: Annotated[
        list[Path] | None, typer.Option(help="A file of texts without labels; it stays where it is. May be repeated.")
    ] = None,
    text_column: Annotated[str, typer.Option(help="The column of the texts. If not given, it is recognised.")] = "",
    labels_column: Annotated[
        str, typer.Option(help="The column of the labels, joined by '|'. If not given, it is recognised.")
    ] = "",
    dev: Annotated[float, typer.Option(help="The share of the labelled texts that tunes and judges.")] = 0.25,
    test: Annotated[float, typer.Option(help="The share for the final figures.")] = 0.25,
    quick: Annotated[
        bool, typer.Option("--quick", help="Settings for a first look: one baseline, students that learn briefly.")
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Make a project folder with a limbeck.toml that explains every setting, empty or of your own files."""
    if labelled is None:
        if unlabelled or text_column or labels_column:
            raise BadSetting("There is nothing to divide.", "Give --labelled a file, too, or leave the others out.")
        file = create_project(folder, task.value, quick)
        if not quiet:
            console().print(f"Wrote {file}. Put your files beside it, then: limbeck inspect -p {folder}")
        return
    division = create_divided(
        folder,
        task.value,
        labelled,
        unlabelled or (),
        text_column=text_column,
        labels_column=labels_column,
        shares=(dev, test),
        quick=quick,
    )
    if not quiet:
        _tell(division, folder, bool(unlabelled))


def _tell(division: Division, folder: Path, pool: bool) -> None:
    out = console()
    out.print(f"Wrote {folder / 'limbeck.toml'} and the labelled texts in three parts:")
    for name, use in zip(PARTS, ("to learn from", "to tune and judge", "for the final figures"), strict=True):
        out.print(f"  {name:5} {division.rows[name]:8,}  {use}", highlight=False)
    columns = {key: value for key, value in division.settings.items() if key.endswith("_column")}
    if columns:
        out.print("Read as: " + ", ".join(f"{key.replace('_', ' ')} '{name}'" for key, name in columns.items()) + ".")
    out.print(f"{len(division.positives)} categories: {', '.join(division.positives)}.", soft_wrap=True)
    rough = [f"{name} ({count})" for name, count in division.positives.items() if count < ROUGH]
    if rough:
        out.print(f"Few texts in dev, so their figures will be rough: {', '.join(rough)}.", soft_wrap=True)
    if not pool:
        out.print("Without --unlabelled no student is taught: add texts later by data.pool in limbeck.toml.")
    out.print(f"Next: limbeck inspect -p {folder}, then limbeck run -p {folder}")
