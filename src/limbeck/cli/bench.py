"""limbeck bench."""

from __future__ import annotations

import os
from itertools import product
from pathlib import Path
from typing import Annotated, Any

import typer

from limbeck.cli.options import AsJson, Overrides, ProjectFolder, Quiet
from limbeck.cli.output import console, print_json, print_table
from limbeck.config import load_project
from limbeck.pipeline import Pipeline
from limbeck.progress import set_quiet

QUICK_SECONDS = 3.0
LENGTHS, BATCHES = [20, 40, 128, 250, 512], [1, 8, 32, 64, 128]


def command(
    project: ProjectFolder = Path(),
    overrides: Overrides = None,
    tokens: Annotated[list[int] | None, typer.Option(min=4, help="Tokens a text. [20 40 128 250 512]")] = None,
    batch: Annotated[list[int] | None, typer.Option(min=1, help="Texts a call. [1 8 32 64 128]")] = None,
    threads: Annotated[list[int] | None, typer.Option(min=1, help="Threads. [1, and all]")] = None,
    model: Annotated[list[str] | None, typer.Option(help="Time these models alone.")] = None,
    price: Annotated[float, typer.Option(min=0, help="What a core costs an hour.")] = 0.04,
    quick: Annotated[bool, typer.Option("--quick", help="40 tokens, one text a call, one thread.")] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Time all models side by side, from raw text to labels; give size, memory and cost."""
    from limbeck.bench.cases import Case
    from limbeck.bench.efficiency import SECONDS
    from limbeck.bench.run import bench, keep

    set_quiet(quiet or as_json)
    pipeline = Pipeline(load_project(project, overrides or ()))
    everything = sorted({1, os.cpu_count() or 1})
    cases = product(
        tokens or ([40] if quick else LENGTHS),
        batch or ([1] if quick else BATCHES),
        threads or ([1] if quick else everything),
    )
    seconds = QUICK_SECONDS if quick else SECONDS
    found = bench(pipeline, [Case(*case) for case in cases], price, model or (), seconds, quick)
    file = keep(pipeline, found)
    if as_json:
        print_json(found)
    elif not quiet:
        print_table(
            "Models by what they cost", [row for one in found["rows"] for row in _rows(one, found)], _note(found)
        )
        console().print(f"All figures are in {file}", markup=False, soft_wrap=True)


def _rows(one: dict[str, Any], found: dict[str, Any]) -> list[dict[str, object]]:
    """Give a row a timing; size, memory and the like stand in the first."""
    rows: list[dict[str, object]] = []
    slowest = found["rows"][0]["timings"]
    for timing in one["timings"]:
        same = [t for t in slowest if all(t[name] == timing[name] for name in ("tokens", "batch", "threads"))]
        first = not rows
        rows.append(
            {
                "model": one["model"] if first else "",
                "form": one["form"] if first else "",
                "F1": one["judging_macro_f1"] if first else None,
                "MB": one["bytes"] / 1e6 if first else None,
                "tokens": timing["tokens"],
                "batch": timing["batch"],
                "threads": timing["threads"],
                "p50 ms": f"{timing['p50']:.3f}",
                "p95 ms": f"{timing['p95']:.3f}",
                "p99 ms": f"{timing['p99']:.3f}",
                "texts/s": round(timing["texts_a_second"]),
                "times faster": f"{same[0]['p50'] / timing['p50']:.1f}" if same else "",
                "a million": f"{timing['cost_a_million']:.3f}",
            }
        )
    return rows


def _note(found: dict[str, Any]) -> str:
    alone = ", ".join(f"{told['p50'] * 1e3:.0f} µs at {told['tokens']} tokens" for told in found["tokeniser"])
    told = (
        f"{found['processor']}. From raw text to labels, after a warm-up. F1 (macro, of categories) on dev's judging "
        "half. 'Times faster' than the first row. 'A million': its price."
    )
    return f"{told} The tokeniser alone: {alone}." if alone else told
