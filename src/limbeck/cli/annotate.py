"""limbeck annotate."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from limbeck.cli.options import AsJson, Overrides, ProjectFolder
from limbeck.cli.output import print_json, print_table
from limbeck.config import load_project

KEY = "LIMBECK_ANNOTATE_KEY"


def command(
    project: ProjectFolder = Path(),
    overrides: Overrides = None,
    category: Annotated[
        str, typer.Option(help="Ask about this category alone, yes or no. Without it, about all of them at once.")
    ] = "",
    new: Annotated[bool, typer.Option("--new", help="Let the category be one that no file knows yet.")] = False,
    host: Annotated[
        str, typer.Option(help="The address to listen on; others than this machine need a key.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 for any that is free.")] = 8001,
    strategies: Annotated[bool, typer.Option("--strategies", help="List the query strategies, and stop.")] = False,
    as_json: AsJson = False,
) -> None:
    """Label texts on a page: those first from which the model learns most, while it learns in the background.

    Others may join over the network if the environment has a key for them in LIMBECK_ANNOTATE_KEY.
    """
    found = load_project(project, overrides or ()) if not strategies else None
    if found is None:
        list_strategies(as_json)
        return
    from limbeck.labelling.questions import question_of
    from limbeck.labelling.run import serve

    asked = question_of(found, category, new)
    serve(found, asked, host, port, os.environ.get(KEY, ""), overrides or ())


def list_strategies(as_json: bool) -> None:
    """Print all strategies, and which are used by default."""
    from limbeck.annotate.strategies import DEFAULT, DEFAULT_NER, NER_STRATEGIES, STRATEGIES

    rows = []
    for what, kinds, default in (("texts", STRATEGIES, DEFAULT), ("entities", NER_STRATEGIES, DEFAULT_NER)):
        for name, kind in kinds.items():
            rows.append({"for": what, "strategy": name, "share by default": default.get(name), "asks for": kind.about})
    if as_json:
        print_json(rows)
    else:
        print_table("Query strategies", rows, 'Mix them with annotate.strategy, e.g. "confidence:0.7, random:0.3".')
