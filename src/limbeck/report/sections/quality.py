"""F1 of all models, over all and by category."""

from __future__ import annotations

import math

from limbeck.data.parents import families, parent_names
from limbeck.measure.parents import by_parent
from limbeck.report.blocks import Block, Picture, Section, Table, between
from limbeck.report.charts import Dot, dots
from limbeck.report.run import Model, Run, Texts

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
    above = parent_names(run.config.data.parents, run.labels)
    blocks: list[Block] = [
        Picture(f"F1 by {run.thing}", dots(f"F1 by {run.thing}", rows, f"F1 on {run.on}"), sure + some, legend),
        Picture("All models", dots("All models", overall, f"{run.measure} on {run.on}"), sure),
        Table(
            "All models",
            ["model", f"{run.measure}, {run.on}", "interval", f"{run.measure}, dev's judging half"],
            [(m.name, _f(m.f1.estimate), between(m.f1.low, m.f1.high), _f(m.judging)) for m in run.models],
        ),
        *_parents(run),
        Table(
            f"F1 by {run.thing}",
            [
                *(["parent"] if above else []),
                run.thing,
                "positives",
                *(model.name for model in run.models),
                "precision",
                "recall",
                "interval",
            ],
            [[*([above.get(run.labels[at], "")] if above else []), *_row(run, at)] for at in _together(run, order)],
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


def _together(run: Run, order: list[int]) -> list[int]:
    """Put categories with the same parents together, families by their best category."""
    above = parent_names(run.config.data.parents, run.labels)
    rank = {name: number for number, name in enumerate(dict.fromkeys(above.get(run.labels[at], "") for at in order))}
    return sorted(order, key=lambda at: rank[above.get(run.labels[at], "")])


def _parents(run: Run) -> list[Block]:
    """Show each parent's mean over its categories, and how well 'any of them' is found."""
    grouped = families(run.config.data.parents, run.labels)
    if not grouped or not isinstance(run.judged, Texts):
        return []
    truth, given = run.judged.judged.labels.astype(float), run.judged.decisions
    told = {model.name: by_parent(truth, given[model.name], grouped) for model in run.shown}
    titles = {name: run.config.data.titles.get(name, name) for name in grouped}
    mine = told[run.chosen.name]
    order = sorted(grouped, key=lambda name: -mine[name].macro_f1 if math.isfinite(mine[name].macro_f1) else 1.0)
    legend = [(model.look, model.name) for model in run.shown]
    rows = [
        (
            titles[name],
            [
                Dot(value, model.look, f"{model.name} {value:.3f}")
                for model in run.shown
                if math.isfinite(value := told[model.name][name].macro_f1)
            ],
        )
        for name in order[:MOST]
    ]
    head = ["parent", "categories", "texts", *(model.name for model in run.shown), "any of them"]
    table = [
        (
            titles[name],
            mine[name].categories,
            mine[name].support,
            *(_f(told[model.name][name].macro_f1) for model in run.shown),
            _f(mine[name].any_f1),
        )
        for name in order
    ]
    caption = f"Means over a parent's categories; 'any of them' is the F1 of {run.chosen.name} for having one at all."
    return [
        Picture("F1 by parent", dots("F1 by parent", rows, f"macro-F1 on {run.on}"), caption, legend),
        Table("F1 by parent", head, table, caption, folded=len(table) > MOST),
    ]


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
