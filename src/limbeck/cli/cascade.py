"""limbeck cascade."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from limbeck.cli.options import AsJson, Overrides, ProjectFolder, Quiet
from limbeck.cli.output import console, print_json, print_table
from limbeck.config import load_project
from limbeck.errors import ProjectExists, RunError
from limbeck.pipeline import Pipeline

if TYPE_CHECKING:
    from limbeck.compress.cascade import Joined
    from limbeck.runtime.bundle import Bundle


def command(
    small: Annotated[Path, typer.Argument(help="The bundle that answers first.")],
    larger: Annotated[Path, typer.Argument(help="The bundle that answers what the first is not sure of.")],
    out: Annotated[Path, typer.Argument(help="The folder to make.")],
    project: ProjectFolder = Path(),
    overrides: Overrides = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Join two bundles: the small one answers where it is sure, the larger one where it isn't."""
    from limbeck.compress.cascade import write_cascade
    from limbeck.runtime.bundle import read_bundle

    if out.exists():
        raise ProjectExists(f"{out} is already there.", "Name another folder, or move it away first.")
    pipeline = Pipeline(load_project(project, overrides or ()))
    folder = pipeline.folder("data")
    if folder is None:
        raise RunError("The project's files were not read yet.", "Do it with: limbeck run --until data")
    first, second = read_bundle(small), read_bundle(larger)
    joined, rows = _made(first, second, folder, pipeline.project.config.task == "ner")
    passed_on = joined.chosen.passed_on
    figures = {name: value for name, value in rows[-1].items() if isinstance(value, float)}
    write_cascade(out, joined.bundle, figures | {"passed on": passed_on})
    if as_json:
        print_json({"bundle": str(out), "passed_on": passed_on, "models": rows})
    elif not quiet:
        note = "Microseconds a text, one at a time, one thread. The worst case is the time of both models."
        print_table("Cascade", rows, note)
        told = f"{passed_on:.1%} of dev's tuning half were passed on. The bundle is in {out}"
        console().print(told, markup=False, soft_wrap=True)


def _made(small: Bundle, larger: Bundle, data: Path, ner: bool) -> tuple[Joined, list[dict[str, object]]]:
    """Fit the limit on dev's tuning half, and compare the three."""
    from limbeck.data.splits import TUNING

    if ner:
        from limbeck.compress.tagger_cascade import compared_taggers, join_taggers
        from limbeck.data.tagged import PreparedSentences

        sentences = PreparedSentences.load(data)
        joined = join_taggers(small, larger, sentences.dev_half(TUNING))
        return joined, compared_taggers({"small": small, "larger": larger, "cascade": joined.bundle}, sentences)
    from limbeck.compress.cascade import compared, join
    from limbeck.data.prepare import Prepared

    prepared = Prepared.load(data)
    joined = join(small, larger, prepared.dev_half(TUNING))
    return joined, compared({"small": small, "larger": larger, "cascade": joined.bundle}, prepared)
