"""limbeck tune."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from limbeck.cli.options import AsJson, Overrides, ProjectFolder, Quiet
from limbeck.cli.output import console, print_json, print_table
from limbeck.config import FILE_NAME, toml_value, with_settings
from limbeck.errors import BadSetting
from limbeck.progress import set_quiet
from limbeck.store import write_atomically

if TYPE_CHECKING:
    from limbeck.tune import Tuned

_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}


def command(
    target: Annotated[str, typer.Option(help="What is tuned: baselines, teach or distill.")],
    project: ProjectFolder = Path(),
    trials: Annotated[
        int | None, typer.Option(help="Trials of the study in all. [tune.trials, 30]", show_default=False)
    ] = None,
    time: Annotated[
        str, typer.Option(help="How long this call may search, e.g. 90s, 30m or 2h; 0: no limit. [tune.seconds, 30m]")
    ] = "",
    storage: Annotated[
        str | None,
        typer.Option(help="The studies' database, a URL that several machines can share. [a file in the project]"),
    ] = None,
    study: Annotated[str | None, typer.Option(help="The study's name. [that of the folder, and the target]")] = None,
    overrides: Overrides = None,
    apply: Annotated[bool, typer.Option("--apply", help="Write the best settings into limbeck.toml.")] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Forget what the study has tried.")] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Search for better settings of baselines, teacher or students. The same command goes on where it was killed."""
    from limbeck.tune import tune

    told = not (quiet or as_json)
    set_quiet(not told)

    def tell(sentence: str) -> None:
        if told and sys.stdout.isatty():
            console().print(sentence, markup=False, soft_wrap=True)

    found = tune(
        project,
        target,
        overrides or (),
        trials=trials,
        seconds=parse_time(time) if time else None,
        storage=storage,
        study=study,
        fresh=fresh,
        tell=tell,
    )
    file = project / FILE_NAME
    if apply and found.settings:
        text = file.read_bytes().decode("utf-8-sig")
        write_atomically(file, with_settings(text, found.settings))
    if as_json:
        print_json(found.as_dict())
    elif told:
        _show(found, file if apply else None)


def parse_time(written: str) -> float:
    """Read a time like 30m; give seconds."""
    parts = re.fullmatch(r"\s*([0-9]*\.?[0-9]+)\s*([a-z]*)\s*", written)
    if parts is None or parts[2] not in _UNITS:
        raise BadSetting(f"'{written}' is no time.", "Write it like 90s, 30m or 2h.")
    return float(parts[1]) * _UNITS[parts[2]]


def _show(found: Tuned, applied: Path | None) -> None:
    out = console()
    ended = sum(trial.score is None for trial in found.trials)
    note = f"{len(found.trials)} trials, {ended} of them ended early; {found.measure} on dev's tuning half."
    ranked = sorted((t for t in found.trials if t.score is not None), key=lambda t: -(t.score or 0.0))
    shown = [*ranked[:5], *([] if found.untuned in ranked[:5] else [found.untuned])]
    rows: list[dict[str, object]] = [
        {
            "trial": trial.number,
            found.measure: trial.score,
            "": "present settings" if trial.untuned else ", ".join(f"{n}={v}" for n, v in trial.settings.items()),
        }
        for trial in shown
    ]
    print_table(f"Tuning {found.target}", rows, note)
    if found.stopped_by_time:
        out.print("The time was over before all trials were done; the same command goes on.", markup=False)
    if not found.settings:
        out.print("Nothing was better than the present settings.", markup=False)
        return
    judged: list[dict[str, object]] = [
        {
            "model": gain.model,
            "untuned": gain.untuned,
            "tuned": gain.tuned,
            "difference": f"{gain.difference.estimate:+.3f} [{gain.difference.low:+.3f}, {gain.difference.high:+.3f}]",
        }
        for gain in found.judged
    ]
    print_table("What it gave", judged, f"{found.measure} on dev's judging half, which no trial has seen.")
    if applied is not None:
        out.print(f"Written into {applied}:", markup=False, soft_wrap=True)
    else:
        told = " ".join(f"--set '{setting}'" for setting in found.overrides)
        out.print(f"To use it, add --apply, or: limbeck run {told}", markup=False, soft_wrap=True)
        out.print(f"In {FILE_NAME}:", markup=False)
    for section in dict.fromkeys(name.partition(".")[0] for name in found.settings):
        out.print(f"  [{section}]", markup=False)
        for name, value in found.settings.items():
            if name.startswith(f"{section}."):
                out.print(f"  {name.partition('.')[2]} = {toml_value(value)}", markup=False, soft_wrap=True)
