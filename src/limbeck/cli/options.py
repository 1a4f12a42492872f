"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

ProjectFolder = Annotated[Path, typer.Option("--project", "-p", help="The project's folder, which holds limbeck.toml.")]
Overrides = Annotated[
    list[str] | None, typer.Option("--set", help="Override a setting: section.key=value. May be repeated.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of tables.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors and what was asked for.")]
