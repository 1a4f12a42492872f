"""How the teacher learnt: curves over folds, where it stopped, what each fold ended with, what weights did."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from limbeck.report.blocks import Block, Picture, Section
from limbeck.report.charts import Dot, Line, Look, dots, lines
from limbeck.report.run import Run
from limbeck.report.sections.quality import MOST

TEACHER = Look("teacher", "diamond")
# Lines that can be told apart.
FOLDS = 10


def section(run: Run) -> Section | None:
    """Make the section."""
    history: dict[str, list[dict[str, Any]]] = run.read("teach", "history.json") or {}
    tasks = run.read("teach", "tasks.json") or {}
    curves = {name: told for name, told in history.items() if len(told) > 1}
    blocks: list[Block] = [*_curves(curves), *_folds(run, tasks), *_sweep(run)]
    if not blocks:
        return None
    kind = run.config.teach.kind
    lead = (
        f"{len(curves)} networks were trained ({kind}); each stopped where the mean of its F1 on its own fold and on "
        "dev's tuning half was best."
        if curves
        else f"A {kind} on a frozen encoder: nothing but its heads was trained. What each fold's rows say of the rest."
    )
    return Section("teaching", "Teaching", lead, blocks)


def _curves(history: dict[str, list[dict[str, Any]]]) -> list[Block]:
    """Draw F1 and loss by step; the mark is where the best weights are."""
    if not history:
        return []
    some = dict(list(history.items())[:FOLDS])
    scores = [
        Line(name, [(told["step"], told["f1"]) for told in series], TEACHER, best_of(series), faint=len(some) > 3)
        for name, series in some.items()
    ]
    more = f" The first {FOLDS} of {len(history)}." if len(history) > FOLDS else ""
    found: list[Block] = [
        Picture(
            "F1 while it learnt",
            lines("F1 while it learnt", scores, "step", "F1"),
            f"A line a fold (or task); the mark is the early stopping point.{more}",
        )
    ]
    losses = [
        Line(name, [(t["step"], t["loss"]) for t in series if t.get("loss") is not None], TEACHER, faint=len(some) > 3)
        for name, series in some.items()
    ]
    if any(len(line.points) > 1 for line in losses):
        svg = lines("Loss while it learnt", losses, "step", "loss")
        found.append(Picture("Loss while it learnt", svg, "On what it was learning from."))
    return found


def best_of(series: Sequence[dict[str, Any]]) -> tuple[float, float]:
    """Give the step and the F1 of the weights that were kept."""
    best = [told for told in series if told.get("best")] or [max(series, key=lambda told: told["f1"])]
    return best[-1]["step"], best[-1]["f1"]


def _folds(run: Run, tasks: dict[str, Any]) -> list[Block]:
    titles = dict(zip(run.labels, run.titles, strict=True))
    found = [(titles.get(name, name), list(np.ravel(told))) for name, told in tasks.items()]
    found = [(name, [float(v) for v in values]) for name, values in found if values]
    if not found:
        return []
    found.sort(key=lambda one: -float(np.mean(one[1])))
    rows = [
        (name, [Dot(float(np.mean(values)), TEACHER, f"mean {np.mean(values):.3f}", min(values), max(values))])
        for name, values in found[:MOST]
    ]
    many = max(len(values) for _, values in found)
    caption = f"Mean over {many} folds, from the lowest to the highest." if many > 1 else ""
    return [Picture("What each task ended with", dots("What each task ended with", rows, "F1"), caption)]


def _sweep(run: Run) -> list[Block]:
    if len(run.sweep) < 2:
        return []
    best = max(run.sweep, key=lambda one: one[1])
    line = Line("positive weight", run.sweep, TEACHER, best, dots=True)
    svg = lines("Effect of positive weight", [line], "positive weight", "teacher's macro-F1")
    caption = "Runs of this project that differ in train.positive_weight alone; on dev's judging half."
    return [Picture("Effect of positive weight", svg, caption)]
