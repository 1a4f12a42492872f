"""limbeck drift."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from limbeck.cli.options import AsJson, Quiet
from limbeck.cli.output import console, print_json, print_table
from limbeck.cli.predict import texts_of_file as texts_in
from limbeck.progress import progress, set_quiet


def command(
    bundle: Annotated[Path, typer.Argument(help="The bundle's folder.")],
    source: Annotated[Path, typer.Option("--from", help="A csv, tsv, jsonl or parquet file of recent texts.")],
    column: Annotated[str, typer.Option(help="The file's column with the texts.")] = "text",
    alarm_rate: Annotated[
        float, typer.Option(min=0, max=1, help="How often texts that didn't change may be called changed.")
    ] = 0.01,
    least: Annotated[int, typer.Option(min=1, help="Fewer texts than this are not compared.")] = 100,
    threads: Annotated[int, typer.Option(min=1, help="Batches that run at a time.")] = 1,
    stop: Annotated[bool, typer.Option("--fail", help="End with exit code 1 if something moved.")] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Say whether texts are still like those that a bundle was made with."""
    from limbeck.runtime.load import load
    from limbeck.serve.drift import compare
    from limbeck.serve.window import snapshot_of

    set_quiet(quiet or as_json)
    model = load(bundle, threads)
    seen = snapshot_of(model, progress(texts_in(source, column), "texts"))
    report = compare(model.manifest.reference, seen, alarm_rate, least)
    if as_json:
        print_json(asdict(report))
    else:
        titles = {label.name: label.title for label in model.manifest.labels}
        rows = [
            {
                "": "moved" if one.moved else "",
                "what": titles.get(one.what, one.what) if one.kind == "category" else one.what,
                "was → is": one.sentence,
                "PSI": one.psi,
                "p": f"{one.p:.2g}",
                "adjusted p": f"{one.adjusted_p:.2g}",
            }
            for one in sorted(report.findings, key=lambda one: one.p)
        ]
        if rows:
            print_table(f"{report.texts:,} texts", rows, _NOTE)
        console().print(report.sentence, markup=False, soft_wrap=True)
    if stop and report.moved:
        raise typer.Exit(1)


_NOTE = (
    "Adjusted p values allow for how many comparisons there are: all of them stay above the alarm rate, but for that "
    "share of windows, if nothing changed. PSI: below 0.1 little, above 0.25 much."
)
