"""How commands show which recipes were tried."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from limbeck.cli.output import console, print_table
from limbeck.errors import RunError
from limbeck.pipeline import Pipeline
from limbeck.steps.compressing import CHOSEN, TABLE, chosen_in

_NOTE = (
    "Macro-F1 on dev's judging half. 'Lost' is a share of float's macro-F1, in brackets its bootstrap interval. "
    "Microseconds: the median from raw text to labels, one text at a time."
)


def chosen_bundle(pipeline: Pipeline) -> Path:
    """Give the bundle that the last run chose."""
    folder = pipeline.folder("compress")
    if folder is None:
        raise RunError("There is no bundle for these files and settings yet.", "Make one with: limbeck compress")
    return chosen_in(folder)


def chosen_why(folder: Path) -> str:
    """Say why this model's bundle was chosen."""
    told: dict[str, str] = json.loads((folder / CHOSEN).read_text(encoding="utf-8"))
    return f"The bundle of {told['model']} was chosen: {told['why']}"


def print_trials(pipeline: Pipeline) -> None:
    """Print every recipe of every model, why one was taken, and where the chosen bundle is."""
    bundle = chosen_bundle(pipeline)
    folder = bundle.parent
    told: dict[str, Any] = json.loads((folder / TABLE).read_text(encoding="utf-8"))
    rows = [_row(kind, trial) for kind, found in told.items() for trial in found["trials"]]
    print_table("Recipes", rows, _NOTE)
    for kind, found in told.items():
        failed = [trial for trial in found["trials"] if trial["why_not"]]
        notes = "".join(f" {trial['recipe']} can't be run: {trial['why_not']}" for trial in failed)
        console().print(f"{kind}: {found['why']}{notes}", markup=False)
    console().print(chosen_why(folder), markup=False, soft_wrap=True)


def _row(kind: str, trial: dict[str, Any]) -> dict[str, object]:
    lost = "–" if trial["why_not"] else f"{trial['lost']:+.2%} [{trial['lost_low']:+.2%}, {trial['lost_high']:+.2%}]"
    return {
        "model": kind,
        "recipe": trial["recipe"],
        "macro-F1": trial["macro_f1"],
        "lost": lost,
        "MB": trial["bytes"] / 1e6,
        "µs a text": trial["p50_us"],
        "": "taken"
        if trial["taken"]
        else ""
        if trial["within_budget"]
        else "loses too much"
        if lost != "–"
        else "fails",
    }
