"""Precision against recall over all thresholds."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from limbeck.measure.curves import precision_recall_curve
from limbeck.report.blocks import Picture, Section
from limbeck.report.charts import Line, lines
from limbeck.report.run import Model, Run, Sentences, Texts
from limbeck.scorer import Span

MOST, POINTS = 12, 60
Curve = list[tuple[float, float]]


def section(run: Run) -> Section | None:
    """Make the section: the labels with most positives, the bundle beside the teacher."""
    order = sorted(range(len(run.labels)), key=lambda at: -run.chosen.rates[at].support)
    order = [at for at in order if run.chosen.rates[at].support > 0][:MOST]
    if not order:
        return None
    pictures = [_picture(run, at) for at in order]
    marks = "" if run.ner else " Marks: the thresholds that were chosen on dev."
    few = f" The {MOST} most frequent." if len(order) < len(run.labels) and len(order) == MOST else ""
    lead = f"What a higher or a lower threshold would give, by {run.thing}, on {run.on}.{marks}{few}"
    return Section("curves", "Precision and recall", lead, pictures)


def _picture(run: Run, at: int) -> Picture:
    title = run.titles[at]
    if isinstance(run.judged, Sentences):
        curve = of_entities(run.judged, run.judged.found[run.chosen.name], run.labels[at])
        drawn = [Line(run.chosen.name, curve, run.chosen.look)]
        shown = [run.chosen]
    else:
        shown = [model for model in (run.teacher, run.chosen) if model is not None]
        drawn = [_line(run.judged, model, at) for model in shown]
    svg = lines(f"{title}: precision against recall", drawn, "recall", "precision", unit=True, height=150)
    return Picture(title, svg, "", [(model.look, model.name) for model in shown])


def _line(judged: Texts, model: Model, at: int) -> Line:
    truth, proba = judged.judged.labels[:, at], judged.proba[model.name][:, at]
    precision, recall, _ = precision_recall_curve(truth, proba)
    curve = thinned([(float(r), float(p)) for r, p in zip(recall, precision, strict=True)])
    rates = model.rates[at]
    known = math.isfinite(rates.precision) and math.isfinite(rates.recall)
    return Line(model.name, curve, model.look, (rates.recall, rates.precision) if known else None)


def thinned(curve: Sequence[tuple[float, float]]) -> Curve:
    """Give a curve of recall and precision with few enough points to draw, spread over recall."""
    if len(curve) <= POINTS:
        return list(curve)
    ordered = sorted(curve)
    wanted = np.linspace(ordered[0][0], ordered[-1][0], POINTS)
    places = np.searchsorted([recall for recall, _ in ordered], wanted)
    return [ordered[at] for at in dict.fromkeys(np.minimum(places, len(ordered) - 1).tolist())]


def of_entities(judged: Sentences, found: Sequence[Sequence[Span]], kind: str) -> Curve:
    """Give recall and precision of one type's entities, from the most confident ones on."""
    there = 0
    told: list[tuple[float, bool]] = []
    for sentence, spans in zip(judged.judged, found, strict=True):
        true = {(span.start, span.end) for span in sentence.spans() if span.type == kind}
        there += len(true)
        told += [(span.confidence, (span.start, span.end) in true) for span in spans if span.type == kind]
    told.sort(reverse=True)
    right = np.cumsum([one for _, one in told])
    if not len(right) or not there:
        return []
    return thinned([(float(r / there), float(r / (at + 1))) for at, r in enumerate(right)])
