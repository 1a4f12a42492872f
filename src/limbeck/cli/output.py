"""How commands print: tables for people, JSON for programs, errors to the error stream."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from limbeck.errors import LimbeckError


def console() -> Console:
    """Give a console on standard output; without a terminal it is wide enough not to cut tables."""
    return Console(width=None if sys.stdout.isatty() else 160, highlight=False)


def print_json(value: object) -> None:
    """Print plain values as one JSON document."""
    print(json.dumps(value, indent=1, ensure_ascii=False, default=str))


def print_table(title: str, rows: Sequence[Mapping[str, object]], note: str = "") -> None:
    """Print rows as a table; the first row's keys are the columns, numbers stand to the right."""
    if not rows:
        console().print(f"{title}: nothing to show.", markup=False)
        return
    columns = list(dict.fromkeys(name for row in rows for name in row))
    digits = {name: _digits([row.get(name) for row in rows]) for name in columns}
    table = Table()
    for name in columns:
        numeric = all(_is_number(row.get(name)) for row in rows)
        table.add_column(name, justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(show(row.get(name), digits[name])) for name in columns))
    out = console()
    out.print(Text(f"\n{title}", style="bold"))
    out.print(table)
    if note:
        out.print(Text(note, style="dim"))


def _is_number(value: object) -> bool:
    return value is None or (isinstance(value, (int, float)) and not isinstance(value, bool))


def _digits(values: Sequence[object]) -> int:
    """Give a column three decimals, or one where its numbers are large."""
    numbers = [abs(value) for value in values if isinstance(value, float)]
    return 1 if numbers and max(numbers) >= 10 else 3


def show(value: object, digits: int = 3) -> str:
    """Write a value for a table cell."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.{digits}f}"
    return str(value)


def fail(error: LimbeckError, as_json: bool) -> int:
    """Print an error and give the exit code."""
    if as_json:
        print_json({"error": error.as_dict()})
    where = f"{error.place}: " if error.place else ""
    stderr = Console(stderr=True, highlight=False, soft_wrap=True)
    stderr.print(Text.assemble((f"error {error.code}", "bold red"), f" {where}{error.message} {error.fix}".rstrip()))
    return error.exit_code
