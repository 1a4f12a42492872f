"""limbeck inspect."""

from __future__ import annotations

from pathlib import Path

from limbeck.cli.options import AsJson, Overrides, ProjectFolder, Quiet
from limbeck.cli.output import print_json, print_table
from limbeck.config import load_project
from limbeck.inspection import inspect_project
from limbeck.progress import set_quiet


def command(
    project: ProjectFolder = Path(), overrides: Overrides = None, as_json: AsJson = False, quiet: Quiet = False
) -> None:
    """Show what is in your files: rates, lengths, overlaps, contradictions, odd rows."""
    set_quiet(quiet or as_json)
    tables = inspect_project(load_project(project, overrides or ()))
    if as_json:
        print_json([table.as_dict() for table in tables])
        return
    for table in tables:
        print_table(table.title, table.rows, table.note)
