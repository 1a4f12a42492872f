"""F1 of all models, over all and by category."""

from __future__ import annotations

import math

from limbeck.report.blocks import Block, Picture, Section, Table, between
from limbeck.report.charts import Dot, dots
from limbeck.report.run import Model, Run

# More rows than these make no picture that anybody reads.
MOST = 40


def section(run: Run) -> Section:
    """Make the section."""
    legend = [(model.look, model.name) for model in run.shown]
    overall = [(model.name, [_whole(model)]) for model in run.models if math.isfinite(model.f1.estimate)]
    order = sorted(range(len(run.labels)), key=lambda at: -_f1(run.chosen, at))
    drawn = [at for at in order if math.isfinite(run.chosen.rates[at].f1)]
    picked = drawn if len(drawn) <= MOST else [*drawn[: MOST // 2], *drawn[-MOST // 2 :]]
    some = "" if len(picked) == len(drawn) else f" The {MOST // 2} best and the {MOST // 2} worst of {len(drawn)}."
    rows = [(run.titles[at], [dot for model in run.shown for dot in _dot(model, at)]) for at in picked]
    sure = f"Lines: {run.chosen.f1.level:.0%} bootstrap intervals over {run.chosen.f1.rounds:,} rounds."
    blocks: list[Block] = [
        Picture(f"F1 by {run.thing}", dots(f"F1 by {run.thing}", rows, f"F1 on {run.on}"), sure + some, legend),
        Picture("All models", dots("All models", overall, f"{run.measure} on {run.on}"), sure),
        Table(
            "All models",
            ["model", f"{run.measure}, {run.on}", "interval", f"{run.measure}, dev's judging half"],
            [(m.name, _f(m.f1.estimate), between(m.f1.low, m.f1.high), _f(m.judging)) for m in run.models],
        ),
        Table(
            f"F1 by {run.thing}",
            [run.thing, "positives", *(model.name for model in run.models), "precision", "recall", "interval"],
            [_row(run, at) for at in order],
            f"Precision, recall and interval are those of {run.chosen.name}.",
            folded=True,
        ),
    ]
    best, worst = (run.titles[at] for at in (drawn[0], drawn[-1])) if drawn else ("–", "–")
    tuned = "Confidence was calibrated" if run.ner else "Thresholds were tuned"
    lead = (
        f"{run.chosen.name} has {run.measure} {run.chosen.f1.estimate:.3f} on {run.on}; best at {best}, worst at "
        f"{worst}. {tuned} on dev."
    )
    return Section("quality", "How good it is", lead, blocks)


def _f1(model: Model, at: int) -> float:
    value = model.rates[at].f1
    return value if math.isfinite(value) else -1.0


def _whole(model: Model) -> Dot:
    f1 = model.f1
    tells = f"{model.name} {f1.estimate:.3f} {between(f1.low, f1.high)}"
    return Dot(f1.estimate, model.look, tells, f1.low, f1.high)


def _dot(model: Model, at: int) -> list[Dot]:
    value = model.rates[at].f1
    if not math.isfinite(value):
        return []
    sure = model.intervals[at] if model.intervals and model.look.colour == "bundle" else None
    if sure is None or not math.isfinite(sure.low):
        return [Dot(value, model.look, f"{model.name} {value:.3f}")]
    return [Dot(value, model.look, f"{model.name} {value:.3f} {between(sure.low, sure.high)}", sure.low, sure.high)]


def _f(value: float) -> str:
    return f"{value:.3f}" if math.isfinite(value) else "–"


def _row(run: Run, at: int) -> list[object]:
    chosen = run.chosen
    sure = chosen.intervals[at] if chosen.intervals else None
    mine = chosen.rates[at]
    return [
        run.titles[at],
        mine.support,
        *(_f(model.rates[at].f1) for model in run.models),
        _f(mine.precision),
        _f(mine.recall),
        between(sure.low, sure.high) if sure and math.isfinite(sure.low) else "–",
    ]
