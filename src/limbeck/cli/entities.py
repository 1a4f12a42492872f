"""How commands show figures of taggers."""

from __future__ import annotations

from typing import Any

from limbeck.cli.output import console, print_table, show
from limbeck.errors import RunError
from limbeck.measure.entities import Outcome
from limbeck.measure.taggers import load_measured_taggers
from limbeck.pipeline import Pipeline

Measured = dict[str, dict[str, Any]]

_NOTE = (
    "F1, precision and recall by exact match, as CoNLL counts; in brackets the bootstrap interval. MUC asks for type "
    "and text apart, 'partial' gives half a point for overlapping text, 'type' asks for the type of overlapping text, "
    "ACE is what was found of all entities' worth. 'Calibration': the error of confidence before and after."
)


def measured_taggers(pipeline: Pipeline) -> Measured:
    """Give the figures of the last run."""
    folder = pipeline.folder("measure")
    if folder is None:
        raise RunError("There are no figures for these files and settings yet.", "Make them with: limbeck run")
    return load_measured_taggers(folder)


def print_taggers(pipeline: Pipeline, by_type: bool = False) -> None:
    """Print the taggers side by side, what went wrong, and if asked for, each type."""
    measured = measured_taggers(pipeline)
    print_table("Entities", [row for name, m in measured.items() for row in _headline(name, m)], _NOTE)
    parts = list(dict.fromkeys(part for m in measured.values() for part in m["figures"]))
    for part in parts:
        print_table(f"Errors, {part}", [_errors(name, m["figures"][part]) for name, m in measured.items()])
        if by_type:
            print_table(f"F1 by type, {part}", _by_type(measured, part, pipeline.project.config.data.titles))
    console().print(f"Results are in {pipeline.folder('measure')}", markup=False)


def _headline(name: str, measured: dict[str, Any]) -> list[dict[str, object]]:
    rows = []
    for part, figures in measured["figures"].items():
        interval, errors = measured["f1_intervals"][part], measured["calibration_error"][part]
        rows.append(
            {
                "model": name,
                "on": part,
                "F1": f"{show(figures['exact']['f1'])} [{show(interval['low'])}, {show(interval['high'])}]",
                "precision": figures["exact"]["precision"],
                "recall": figures["exact"]["recall"],
                "accuracy": measured["accuracy"][part],
                "MUC": figures["muc"]["f1"],
                "partial": figures["partial"]["f1"],
                "type": figures["type"]["f1"],
                "ACE": figures["ace"],
                "calibration": " → ".join(show(error) for error in errors),
            }
        )
    return rows


def _errors(name: str, figures: dict[str, Any]) -> dict[str, object]:
    return {"model": name} | {str(outcome): figures["errors"][str(outcome)] for outcome in Outcome}


def _by_type(measured: Measured, part: str, titles: dict[str, str]) -> list[dict[str, object]]:
    rows: dict[str, dict[str, object]] = {}
    for model, found in measured.items():
        for told in found["figures"][part]["types"]:
            row = rows.setdefault(told["type"], {"type": titles.get(told["type"], told["type"])})
            row["entities"] = told["entities"]
            row[model] = told["exact"]["f1"]
    return list(rows.values())
