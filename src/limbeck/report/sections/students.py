"""How students learnt, and where they stopped."""

from __future__ import annotations

from typing import Any

from limbeck.report.blocks import Block, Picture, Section, Table
from limbeck.report.charts import Line, Look, lines
from limbeck.report.run import Run
from limbeck.report.sections.teaching import best_of

# What the numbers of the table leave open.
KEPT_BACK = "One fold of the labelled rows is kept back, to stop by; a small pool is filled up by texts put together."


def section(run: Run) -> Section | None:
    """Make the section."""
    history: dict[str, list[dict[str, Any]]] = run.read("distill", "history.json") or {}
    looks = {model.name: model.look for model in run.models}
    drawn = [
        Line(kind, _running([(t["step"], t["f1"]) for t in told]), looks.get(kind, Look()), _stop(told))
        for kind, told in history.items()
        if len(told) > 1
    ]
    state = next((s for s in run.states if s.step.name == "distill" and s.done), None)
    if not drawn and state is None:
        return None
    legend = [(line.look, line.name) for line in drawn]
    blocks: list[Block] = []
    if drawn:
        svg = lines("F1 while they learnt", drawn, "step", "F1")
        caption = (
            "Mean of F1 on the fold that was kept back and on dev's tuning half; marks: the weights that were kept."
        )
        blocks.append(Picture("F1 while they learnt", svg, caption, legend))
        losses = [
            Line(k, _running([(t["step"], t["loss"]) for t in told]), looks.get(k, Look()))
            for k, told in history.items()
        ]
        svg = lines("Loss while they learnt", losses, "step", "loss")
        blocks.append(Picture("Loss while they learnt", svg, "On labels and pseudo labels.", legend))
    figures = dict(state.figures) if state is not None else {}
    kinds = [name.removesuffix(".parameters") for name in figures if name.endswith(".parameters")]
    rows = [
        (kind, *(f"{figures.get(f'{kind}.{name}', 0):,.0f}" for name in ("parameters", "rows", "labelled", "seconds")))
        for kind in kinds
    ]
    if rows:
        blocks.append(
            Table("Students", ["student", "parameters", "rows", "of them labelled", "seconds"], rows, KEPT_BACK)
        )
    lead = f"{', '.join(kinds) or 'No student'} learnt from labels and pseudo labels together."
    return Section("students", "Distilling", lead, blocks)


def _running(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Let the steps of a second round follow those of the first."""
    found: list[tuple[float, float]] = []
    before = last = 0.0
    for step, value in points:
        if step < last:
            before += last
        last = step
        found.append((before + step, value))
    return found


def _stop(told: list[dict[str, Any]]) -> tuple[float, float]:
    steps = _running([(t["step"], t["f1"]) for t in told])
    last = max(t.get("round", 0) for t in told)
    final = [at for at, t in enumerate(told) if t.get("round", 0) == last]
    best = best_of([told[at] for at in final])
    return next(steps[at] for at in final if (told[at]["step"], told[at]["f1"]) == best)
