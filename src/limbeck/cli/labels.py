"""limbeck labels: what annotators said, in and out."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from limbeck.cli.options import AsJson, Overrides, ProjectFolder
from limbeck.cli.output import console, print_json, print_table
from limbeck.config import load_project

app = typer.Typer(help="What annotators said: export, import, agreement, review.", no_args_is_help=True)

Form = Annotated[
    str | None, typer.Option(help="limbeck, jsonl, conll, label-studio or prodigy. Import finds out by itself.")
]


@app.command("export")
def export(
    file: Annotated[Path, typer.Argument(help="The file to write.")],
    project: ProjectFolder = Path(),
    overrides: Overrides = None,
    form: Form = "limbeck",
) -> None:
    """Write all answers that hold to a file, whole or not at all."""
    from limbeck.annotate.exchange import write_labels
    from limbeck.annotate.store import open_store
    from limbeck.annotate.transfer import labels_of
    from limbeck.labelling.questions import question_of
    from limbeck.labelling.run import store_address

    found = load_project(project, overrides or ())
    task, categories = found.config.task, question_of(found).question.categories
    with open_store(store_address(found), create=False) as store:
        told = write_labels(file, form or "limbeck", labels_of(store, task), task=task, categories=categories)
    console().print(f"{told.rows:,} rows are in {file}.", markup=False)
    for reason, count in told.noted.items():
        console().print(f"{count:,}: {reason}", markup=False)


@app.command("import")
def import_(
    file: Annotated[Path, typer.Argument(help="The file to read.")],
    project: ProjectFolder = Path(),
    overrides: Overrides = None,
    form: Form = None,
) -> None:
    """Keep the labels of a file as answers; those that are there already are kept once."""
    from limbeck.annotate.exchange import read_labels
    from limbeck.annotate.store import open_store
    from limbeck.annotate.transfer import keep_labels
    from limbeck.labelling.questions import question_of
    from limbeck.labelling.run import store_address

    found = load_project(project, overrides or ())
    categories = question_of(found).question.categories
    # Read whole before anything is kept: a broken file changes nothing.
    labels = list(read_labels(file, form, categories=categories))
    with open_store(store_address(found)) as store:
        new, same = keep_labels(store, labels, found.config.task, categories)
    console().print(f"{new:,} answers are new, {same:,} were there already.", markup=False)


@app.command("agreement")
def agreement(project: ProjectFolder = Path(), overrides: Overrides = None, as_json: AsJson = False) -> None:
    """Say how far annotators agree about texts that several of them judged."""
    from limbeck.annotate.consent import consent
    from limbeck.annotate.store import open_store
    from limbeck.labelling.run import store_address

    found = load_project(project, overrides or ())
    with open_store(store_address(found), create=False) as store:
        rows = [asdict(one) for one in consent(store)]
    if as_json:
        print_json(rows)
        return
    titles = found.config.data.titles
    shown = [
        {
            "category": titles.get(row["category"], row["category"] or "entities"),
            "annotators": ", ".join(row["annotators"]),
            "texts": row["items"],
            "agree": row["observed"],
            "kappa": row["kappa"],
            "95 %": None if row["low"] is None else f"{row['low']:.2f} to {row['high']:.2f}",
            **({"F1": row["f1"]} if found.config.task == "ner" else {}),
        }
        for row in rows
    ]
    if shown:
        print_table("Agreement", shown, "Kappa is the share that chance leaves open: 0 is chance, 1 is always.")
    else:
        console().print("No two people judged the same texts. annotate.overlap asks two about some.", markup=False)


@app.command("review")
def review(
    project: ProjectFolder = Path(),
    overrides: Overrides = None,
    category: Annotated[str, typer.Option(help="Only labels of this category.")] = "",
    at_least: Annotated[
        float, typer.Option(min=0.5, max=1, help="How sure the teachers must be that a label is wrong.")
    ] = 0.9,
    limit: Annotated[int, typer.Option(min=1, help="How many labels, the most doubtful first.")] = 50,
    queue: Annotated[bool, typer.Option("--queue", help="Ask annotators about them; see limbeck annotate.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show labels that teachers contradict which didn't learn them: some of them are wrong."""
    from limbeck.annotate.store import open_store
    from limbeck.labelling.questions import question_of
    from limbeck.labelling.review import doubts, queue_doubts
    from limbeck.labelling.run import store_address
    from limbeck.pipeline import Pipeline

    found = load_project(project, overrides or ())
    every = [one for one in doubts(Pipeline(found), at_least) if category in ("", one.category)]
    some = every[:limit]
    if queue and some:
        with open_store(store_address(found)) as store:
            queue_doubts(store, found.config, some, question_of(found).question.categories)
    if as_json:
        print_json([asdict(one) for one in some])
        return
    titles = found.config.data.titles
    rows = [
        {
            "text": one.text if len(one.text) <= 80 else one.text[:79] + "…",
            **({"category": titles.get(one.category, one.category)} if one.category else {}),
            "label": one.label,
            "teachers": one.guess,
            "confidence": one.confidence,
            "place": one.place,
        }
        for one in some
    ]
    if rows:
        print_table("Labels that may be wrong", rows)
    console().print(f"{len(every):,} labels are contradicted with a confidence of {at_least}.", markup=False)
    if queue and some:
        console().print(
            f"{len(some):,} of them are in the queue; limbeck annotate asks about them first.", markup=False
        )
