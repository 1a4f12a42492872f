"""Where benchmarks leave their figures: a JSON file each, and a table in docs/RESULTS.md."""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shlex
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "docs" / "RESULTS.md"
WORK = ROOT / "build" / "benchmarks"


def publish(name: str, rows: Sequence[Mapping[str, object]], note: str, publish_to: Path | None = RESULTS) -> None:
    """Write `rows` to build/benchmarks/NAME.json, print them, and replace the table NAME in the results document."""
    WORK.mkdir(parents=True, exist_ok=True)
    about: dict[str, Any] = {
        "command": command(),
        "machine": machine(),
        "date": time.strftime("%Y-%m-%d"),
        "rows": rows,
    }
    (WORK / f"{name}.json").write_text(json.dumps(about, indent=1, ensure_ascii=False), encoding="utf-8")
    table = markdown(rows)
    print(table)
    if publish_to is None:
        return
    block = f"{note}\n\n```\n{command()}\n```\n\n{table}\n\n{machine()}; {time.strftime('%Y-%m-%d')}."
    text = publish_to.read_text(encoding="utf-8")
    marks = re.compile(rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)", re.DOTALL)
    if not marks.search(text):
        sys.exit(f"{publish_to} has no place for the table '{name}': add <!-- {name} --> and <!-- /{name} --> to it.")
    publish_to.write_text(marks.sub(lambda found: f"{found[1]}{block}\n{found[2]}", text), encoding="utf-8")


def published(name: str) -> list[dict[str, str]]:
    """Read a table back from the results document; nothing if it was never made."""
    block = re.search(rf"<!-- {name} -->\n(.*?)<!-- /{name} -->", RESULTS.read_text(encoding="utf-8"), re.DOTALL)
    lines = [line for line in (block[1] if block else "").splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [dict(zip(cells[0], row, strict=True)) for row in cells[1:]] if cells else []


Table = Callable[[Path, list[str], list[str]], tuple[list[dict[str, object]], str]]


def run_tables(
    prefix: str, tables: Mapping[str, Table], about: str | None, options: Sequence[argparse.ArgumentParser] = ()
) -> None:
    """Parse the command line of a benchmark with several tables, make one of them, and publish it.

    `options` are parsers of what a benchmark takes besides, which it reads itself.
    """
    shape = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=about, formatter_class=shape, parents=list(options))
    parser.add_argument("table", choices=tables)
    parser.add_argument("--data", type=Path, default=Path("data"), help="the folder of data sets")
    parser.add_argument("--only", nargs="+", default=[], help="a part of the table, e.g. airline or airline:probe")
    parser.add_argument("--set", dest="settings", action="append", default=[], help="section.key=value")
    parser.add_argument("--no-publish", action="store_true", help="leave docs/RESULTS.md alone")
    told = parser.parse_args()
    rows, note = tables[told.table](told.data, told.only, told.settings)
    for name, part in _parts(f"{prefix}-{told.table}", rows).items():
        publish(name, part, note, None if told.no_publish else RESULTS)


def _parts(name: str, rows: list[dict[str, object]]) -> dict[str, list[dict[str, object]]]:
    """Give a table of its own to each data set that has a place for it, so that long studies can be run one by one."""
    places = RESULTS.read_text(encoding="utf-8")
    parts: dict[str, list[dict[str, object]]] = {}
    for row in rows:
        own = f"{name}-{row.get('data')}"
        parts.setdefault(own if f"<!-- {own} -->" in places else name, []).append(row)
    return parts


def markdown(rows: Sequence[Mapping[str, object]]) -> str:
    """Write rows as a Markdown table."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    numeric = {c for c in columns if all(isinstance(row.get(c), (int, float)) for row in rows)}
    lines = [
        "| " + " | ".join(columns) + " |",
        "|" + "|".join("---:" if c in numeric else "---" for c in columns) + "|",
    ]
    lines += ["| " + " | ".join(_cell(row.get(c)) for c in columns) + " |" for row in rows]
    return "\n".join(lines)


def command() -> str:
    """Give the command that is running, as one would type it at the project's root."""
    script = Path(sys.argv[0]).resolve()
    name = script.relative_to(ROOT).as_posix() if script.is_relative_to(ROOT) else script.name
    told = list(sys.argv[1:])
    if "--data" in told:
        told[told.index("--data") + 1] = "DATA"
    return shlex.join(["python", name, *told])


def machine() -> str:
    """Describe this machine in a few words."""
    try:
        cpu = re.search(r"model name\s*:\s*(.*)", Path("/proc/cpuinfo").read_text(encoding="utf-8"))
    except OSError:
        cpu = None
    return f"{cpu[1] if cpu else platform.processor()}, {os.cpu_count()} cores, Python {platform.python_version()}"


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.3f}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return "" if value is None else str(value)
