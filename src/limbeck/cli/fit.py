"""limbeck fit."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from limbeck.cli.options import AsJson, Overrides, ProjectFolder, Quiet
from limbeck.cli.output import console, print_json, print_table
from limbeck.cli.run import BUNDLE, put_bundle
from limbeck.errors import BadSetting
from limbeck.progress import set_quiet

if TYPE_CHECKING:
    from limbeck.budget import Found

PICTURE = "fit.svg"


def command(
    project: ProjectFolder = Path(),
    max_latency: Annotated[
        str, typer.Option(help="The most that an answer to one text may take (median, one thread), e.g. 1ms or 200us.")
    ] = "",
    max_size: Annotated[str, typer.Option(help="The most that the bundle may weigh, e.g. 5MB.")] = "",
    min_f1: Annotated[
        float | None, typer.Option(help="The least F1 on dev's judging half; the fastest that has it is taken.")
    ] = None,
    student: Annotated[
        list[str] | None, typer.Option(help="Look at this student: bag, cnn, bilstm, transformer. May be repeated.")
    ] = None,
    size: Annotated[
        list[str] | None, typer.Option(help="Look at this size: small, medium, large. May be repeated.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Put the bundle there. [bundle in the project]")] = None,
    overrides: Overrides = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Find the best model inside a latency, a size or both: student, size and recipe."""
    from limbeck.budget import Budget, parse_bytes, parse_seconds, search
    from limbeck.budget.search import SIZES

    if not (max_latency or max_size or min_f1 is not None):
        raise BadSetting("There is no budget.", "Give --max-latency, --max-size or --min-f1.")
    if min_f1 is not None and not 0 < min_f1 <= 1:
        raise BadSetting(f"An F1 of {min_f1:g} can't be asked for.", "Give a number above 0 and up to 1.")
    unknown = [one for one in size or () if one not in SIZES]
    if unknown:
        raise BadSetting(f"There is no size '{unknown[0]}'.", f"Known are: {', '.join(SIZES)}.")
    budget = Budget(
        parse_seconds(max_latency) if max_latency else None, parse_bytes(max_size) if max_size else None, min_f1
    )
    told = not (quiet or as_json)
    set_quiet(not told)

    def tell(sentence: str) -> None:
        if told:
            console().print(sentence, markup=False, soft_wrap=True)

    found = search(project, budget, overrides or (), student or (), size or SIZES, tell)
    target = put_bundle(found.bundle, out or project / BUNDLE)
    picture = project / PICTURE
    _draw(found, picture)
    if as_json:
        print_json(found.as_dict() | {"bundle": str(target), "picture": str(picture)})
    elif told:
        _show(found, target, picture)


def _show(found: Found, target: Path, picture: Path) -> None:
    from limbeck.budget.limits import shown_time

    rows = [
        {
            "student": one.kind,
            "size": one.size,
            "recipe": one.recipe,
            "F1": one.f1,
            "µs a text": one.p50_us,
            "MB": one.bytes / 1e6,
            "": "taken" if one == found.chosen else "",
        }
        for one in sorted({*found.frontier(), found.chosen}, key=lambda one: one.p50_us)
    ]
    note = f"Of {len(found.candidates)} models those that no other beats in F1, time and size, on dev's judging half."
    print_table("Frontier", rows, note)
    out = console()
    out.print(
        f"{found.chosen.name}: {shown_time(found.checked_us)} a text (p99 {shown_time(found.checked_p99_us)}), "
        f"{found.checked_bytes / 1e6:.2f} MB, measured again on the bundle; asked were {found.budget}.",
        markup=False,
        soft_wrap=True,
    )
    settings = " ".join(f"--set '{setting}'" for setting in found.chosen.settings())
    out.print(f"The bundle is in {target}, the picture in {picture}. To make it again:", markup=False, soft_wrap=True)
    out.print(f"  limbeck run {settings}", markup=False, soft_wrap=True, highlight=False)


def _draw(found: Found, file: Path) -> None:
    from limbeck.report.fitted import picture
    from limbeck.store import write_atomically

    write_atomically(file, picture(found.as_dict()))
