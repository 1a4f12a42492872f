"""limbeck measure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from limbeck.cli.entities import measured_taggers, print_taggers
from limbeck.cli.options import AsJson, Overrides, ProjectFolder
from limbeck.cli.output import console, print_json, print_table, show
from limbeck.config import load_project
from limbeck.data.parents import parent_names
from limbeck.errors import RunError
from limbeck.measure.compare import load_measured
from limbeck.pipeline import Pipeline

Measured = dict[str, dict[str, Any]]


def command(
    project: ProjectFolder = Path(),
    overrides: Overrides = None,
    by_category: Annotated[
        bool, typer.Option("--by-category", help="Show F1 for every category, or type of entity.")
    ] = False,
    by_source: Annotated[bool, typer.Option("--by-source", help="Show macro-F1 for every source.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show the figures that the last run measured."""
    pipeline = Pipeline(load_project(project, overrides or ()))
    if as_json:
        print_json(measured_taggers(pipeline) if pipeline.project.config.task == "ner" else _measured(pipeline))
    else:
        print_figures(pipeline, by_category, by_source)


def print_figures(pipeline: Pipeline, by_category: bool = False, by_source: bool = False) -> None:
    """Print the models side by side."""
    if pipeline.project.config.task == "ner":
        print_taggers(pipeline, by_category)
        return
    measured = _measured(pipeline)
    titles, parents = pipeline.project.config.data.titles, pipeline.project.config.data.parents
    print_table("Figures", [row for name, m in measured.items() for row in _headline(name, m)], _NOTE)
    if by_category:
        for part in _parts(measured):
            print_table(f"F1 by category, {part}", _by_family(_by_category(measured, part, titles), parents))
            if parents:
                print_table(f"F1 by parent, {part}", _by_parent(measured, part, titles), _PARENTS)
        title, rows = _rates(measured, titles)
        print_table(title, _by_family(rows, parents))
    if by_source:
        for part in _parts(measured):
            print_table(f"Macro-F1 by source, {part}", _by_source(measured, part))
    for remark in _remarks(pipeline):
        console().print(remark, markup=False)
    console().print(f"Results are in {pipeline.folder('measure')}", markup=False)


_NOTE = (
    "Thresholds come from dev's tuning half, those of rare categories also from a scored pool; 'judging' is the other "
    "half. Precision and recall are means over the categories. In brackets: the bootstrap interval."
)


_PARENTS = "The mean over a parent's categories; in brackets that of 'any of them'."


def _measured(pipeline: Pipeline) -> Measured:
    folder = pipeline.folder("measure")
    if folder is None:
        raise RunError("There are no figures for these files and settings yet.", "Make them with: limbeck run")
    return load_measured(folder)


def _remarks(pipeline: Pipeline) -> list[str]:
    """Say what a reader of the figures should know: categories without a model, rows left out, contradictions."""
    data = pipeline.folder("data")
    if data is None:
        return []
    told = json.loads((data / "figures.json").read_text(encoding="utf-8"))["figures"]
    remarks = [
        f"{told[f'dropped_from_{part}']} rows of {part} were left out because their texts also stand in {others}."
        for part, others in (("train", "dev or test"), ("dev", "test"))
        if told[f"dropped_from_{part}"]
    ]
    if told["contradictions"]:
        remarks.append(f"{told['contradictions']} contradictions: `limbeck inspect` lists them.")
    for folder in filter(None, (pipeline.folder("baselines"), pipeline.folder("teach"))):
        for model, names in json.loads((folder / "skipped.json").read_text(encoding="utf-8")).items():
            remarks += [f"{model} has no model of '{name}': {reason}." for name, reason in names.items()]
    return remarks


def _parts(measured: Measured) -> list[str]:
    return list(dict.fromkeys(part for m in measured.values() for part in m["figures"]))


def _headline(name: str, measured: dict[str, Any]) -> list[dict[str, object]]:
    rows = []
    for part, figures in measured["figures"].items():
        interval = measured["macro_f1_intervals"][part]
        rows.append(
            {
                "model": name,
                "on": part,
                "macro-F1": f"{show(figures['macro_f1'])} [{show(interval['low'])}, {show(interval['high'])}]",
                "micro-F1": figures["micro_f1"],
                "precision": figures["macro_precision"],
                "recall": figures["macro_recall"],
                "average precision": figures["macro_average_precision"],
                "Hamming loss": figures["hamming_loss"],
                "0/1 loss": figures["subset_loss"],
                "calibration error": figures["calibration_error"],
            }
        )
    return rows


def _by_category(measured: Measured, part: str, titles: Mapping[str, str]) -> dict[str, dict[str, object]]:
    rows: dict[str, dict[str, object]] = {}
    for model, found in measured.items():
        for label in found["figures"][part]["labels"]:
            title = titles.get(label["name"], label["name"])
            row = rows.setdefault(label["name"], {"category": title, "positives": label["support"]})
            row[model] = label["f1"]
    return rows


def _by_family(rows: dict[str, dict[str, object]], parents: Mapping[str, str]) -> list[dict[str, object]]:
    """Put categories with the same parents together, and say what these are; without any, leave all as it is."""
    if not parents:
        return list(rows.values())
    named = parent_names(parents, list(rows))
    order = {name: number for number, name in enumerate(dict.fromkeys(named.values()))}
    found = sorted(rows, key=lambda category: order.get(named.get(category, ""), len(order)))
    return [{"parent": named.get(category, ""), **rows[category]} for category in found]


def _by_parent(measured: Measured, part: str, titles: Mapping[str, str]) -> list[dict[str, object]]:
    rows: dict[str, dict[str, object]] = {}
    for model, found in measured.items():
        for name, figures in found["by_parent"].get(part, {}).items():
            about = {"parent": titles.get(name, name), "categories": figures["categories"], "texts": figures["support"]}
            row = rows.setdefault(name, about)
            row[model] = f"{show(figures['macro_f1'])} [{show(figures['any_f1'])}]"
    return list(rows.values())


def _rates(measured: Measured, titles: Mapping[str, str]) -> tuple[str, dict[str, dict[str, object]]]:
    """Give the table of precision and recall of the model that is best on dev's judging half."""
    best = max(measured, key=lambda name: measured[name]["figures"]["judging"]["macro_f1"] or 0)
    part = _parts(measured)[-1]
    limits = dict(zip(measured[best]["labels"], measured[best]["thresholds"], strict=True))
    rows: dict[str, dict[str, object]] = {
        label["name"]: {
            "category": titles.get(label["name"], label["name"]),
            "positives": label["support"],
            "threshold": limits[label["name"]],
            "precision": label["precision"],
            "recall": label["recall"],
            "F1": label["f1"],
        }
        for label in measured[best]["figures"][part]["labels"]
    }
    return f"Precision and recall of {best}, {part}", rows


def _by_source(measured: Measured, part: str) -> list[dict[str, object]]:
    rows: dict[str, dict[str, object]] = {}
    for model, found in measured.items():
        for source, figures in found["by_source"].get(part, {}).items():
            rows.setdefault(source, {"source": source or "(none)", "rows": figures["rows"]})[model] = figures[
                "macro_f1"
            ]
    return list(rows.values())
