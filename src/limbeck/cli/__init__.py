"""The command line: one thin file a command; each parses, calls one public function and prints."""

from __future__ import annotations

import sys
from pathlib import Path

import typer

from limbeck.cli import (
    annotate,
    baselines,
    bench,
    cascade,
    compare,
    compress,
    demo_data,
    distill,
    doctor,
    drift,
    fit,
    init,
    inspect,
    labels,
    measure,
    predict,
    pseudo,
    replies,
    report,
    rules,
    run,
    serve,
    status,
    teach,
    tune,
)
from limbeck.cli.output import fail
from limbeck.errors import LimbeckError, Place, SystemRefused

app = typer.Typer(
    name="limbeck",
    help="Distil slow, accurate text models into small ones that answer in about a millisecond on a CPU.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)

INTERRUPTED = 130
USE = "Use a bundle"
START, CHAIN, ALL = "Start", "Steps, in the order of the chain", "The whole chain"

app.command("init", rich_help_panel=START)(init.command)
app.command("demo-data", rich_help_panel=START)(demo_data.command)
app.command("doctor", rich_help_panel=START)(doctor.command)
app.command("rules", rich_help_panel=START)(rules.command)
app.command("annotate", rich_help_panel=CHAIN)(annotate.command)
app.add_typer(labels.app, name="labels", rich_help_panel=CHAIN)
app.command("inspect", rich_help_panel=CHAIN)(inspect.command)
app.command("baselines", rich_help_panel=CHAIN)(baselines.command)
app.command("teach", rich_help_panel=CHAIN)(teach.command)
app.command("pseudo", rich_help_panel=CHAIN)(pseudo.command)
app.command("distill", rich_help_panel=CHAIN)(distill.command)
app.command("measure", rich_help_panel=CHAIN)(measure.command)
app.command("compress", rich_help_panel=CHAIN)(compress.command)
app.command("run", rich_help_panel=ALL)(run.command)
app.command("fit", rich_help_panel=ALL)(fit.command)
app.command("tune", rich_help_panel=ALL)(tune.command)
app.command("cascade", rich_help_panel=ALL)(cascade.command)
app.command("report", rich_help_panel=ALL)(report.command)
app.command("status", rich_help_panel=ALL)(status.command)
app.command("bench", rich_help_panel=USE)(bench.command)
app.command("compare", rich_help_panel=USE)(compare.command)
app.command("predict", rich_help_panel=USE)(predict.command)
app.command("serve", rich_help_panel=USE)(serve.command)
app.command("key", rich_help_panel=USE)(serve.key)
app.command("drift", rich_help_panel=USE)(drift.command)
app.add_typer(replies.app, name="replies", rich_help_panel=USE)


@app.callback(invoke_without_command=True)
def _version(version: bool = typer.Option(False, "--version", help="Print the version and stop.")) -> None:
    if version:
        from limbeck import __version__

        typer.echo(__version__)
        raise typer.Exit


def main() -> None:
    """Run the command line; an error that the user can mend is one sentence and a stable exit code."""
    try:
        app()
    except LimbeckError as error:
        sys.exit(fail(error, as_json="--json" in sys.argv))
    except OSError as error:
        place = Place(Path(error.filename)) if error.filename else None
        refusal = SystemRefused(
            f"The system refused: {error.strerror or error}.", "Check the path and its rights.", place
        )
        sys.exit(fail(refusal, as_json="--json" in sys.argv))
    except SystemExit as stop:
        if stop.code == INTERRUPTED:
            print("Stopped. What was finished is kept; the same command goes on from there.", file=sys.stderr)
        raise
