"""Whether probabilities mean what they say."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from limbeck.measure.calibration import Bin, expected_calibration_error, reliability
from limbeck.measure.taggers import rights
from limbeck.report.blocks import Picture, Section
from limbeck.report.charts import Line, Look, lines
from limbeck.report.run import Run, Sentences, Texts

BINS = 10


def section(run: Run) -> Section | None:
    """Make the section."""
    drawn, errors = [], []
    judged = run.judged
    models = [model for model in (run.teacher, run.chosen) if model is not None]
    for model in models:
        if isinstance(judged, Texts):
            truth, proba = judged.judged.labels, judged.proba[model.name]
        elif model.name in judged.found:
            right, sure = rights(judged.judged, judged.found[model.name])
            truth, proba = right[:, None], sure[:, None]
        else:
            continue
        known = ~np.isnan(truth)
        if not known.any():
            continue
        bins = reliability(truth[known], proba[known], BINS)
        drawn.append(Line(model.name, _points(bins), model.look, dots=True))
        errors.append(f"{model.name} {expected_calibration_error(truth, proba):.3f}")
    if not drawn:
        return None
    what = "entities that are right" if run.ner else "texts that have it"
    svg = lines("Calibration", drawn, "probability that is given", f"share of {what}", unit=True, diagonal=True)
    told = "all entities together" if run.ner else "all categories together"
    legend = [(line.look, line.name) for line in drawn]
    blocks = [Picture(f"Promised and observed, {told}", svg, f"On {run.on}; on the diagonal it is honest.", legend)]
    blocks += _before_and_after(run)
    lead = f"Expected calibration error on {run.on}: {', '.join(errors)}."
    return Section("calibration", "What probabilities mean", lead, blocks)


def _points(bins: Sequence[Bin]) -> list[tuple[float, float]]:
    return [
        (one.mean_probability, one.observed_rate) for one in bins if one.count and not math.isnan(one.observed_rate)
    ]


def _before_and_after(run: Run) -> list[Picture]:
    """Show what calibrating the teacher changed, on the half of dev that judges."""
    told = None if isinstance(run.judged, Sentences) else run.read("calibrate", "reliability.json")
    if not told:
        return []
    sums = {when: np.zeros((BINS, 3)) for when in ("before", "after")}
    for label in told.values():
        for when, total in sums.items():
            for one in label[when]:
                if one["count"]:
                    place = min(BINS - 1, int(one["lower"] * BINS + 1e-9))
                    total[place] += one["count"] * np.array([1, one["mean_probability"], one["observed_rate"]])
    looks = {"before": Look("other0", "up"), "after": Look("teacher", "diamond")}
    drawn = [
        Line(when, [(p / n, r / n) for n, p, r in total if n], looks[when], dots=True) for when, total in sums.items()
    ]
    svg = lines("Calibrating the teacher", drawn, "probability that is given", "share", unit=True, diagonal=True)
    caption = "The teacher before and after calibration, on dev's judging half."
    return [Picture("Calibrating the teacher", svg, caption, [(line.look, line.name) for line in drawn])]
