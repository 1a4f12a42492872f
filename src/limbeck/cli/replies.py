"""limbeck replies."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from limbeck.cli.options import AsJson
from limbeck.cli.output import console, print_json, print_table
from limbeck.errors import BundleError, Place

app = typer.Typer(help="Replies that limbeck serve gives to what a bundle finds.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    """Keep `check` a command of its own as long as it is the only one."""


@app.command("check")
def check(
    replies: Annotated[Path, typer.Argument(help="The file of replies, a replies.toml.")],
    bundle: Annotated[Path, typer.Argument(help="The folder of the bundle that they are for.")],
    as_json: AsJson = False,
) -> None:
    """Say which categories lack a reply, and which replies can't be shown; exit code 1 if there are errors."""
    from limbeck.runtime.bundle import read_bundle
    from limbeck.serve.replies_check import check_replies
    from limbeck.serve.replies_file import read_replies

    told = read_replies(replies)
    manifest = read_bundle(bundle).manifest
    if manifest.task == "ner":
        raise BundleError(
            "This bundle finds entities; there are replies to categories alone.",
            "Name a bundle that gives texts categories.",
            Place(bundle),
        )
    titles = {label.name: label.title for label in manifest.labels}
    findings = check_replies(told, list(titles), titles, one_class=manifest.task == "multiclass")
    errors = sum(finding.level == "error" for finding in findings)
    if as_json:
        rows = [asdict(finding) for finding in findings]
        print_json({"errors": errors, "warnings": len(findings) - errors, "findings": rows})
    elif findings:
        print_table(f"{errors} errors, {len(findings) - errors} warnings", [asdict(finding) for finding in findings])
    else:
        console().print(f"All {len(titles)} categories have a reply, and nothing is wrong.", markup=False)
    if errors:
        raise typer.Exit(1)
