"""The bundle less its teacher, category by category."""

from __future__ import annotations

import math

from limbeck.measure.bootstrap import Difference, label_differences
from limbeck.report.blocks import Picture, Section, Table
from limbeck.report.charts import Bar, bars
from limbeck.report.run import Run, Texts
from limbeck.report.sections.quality import MOST


def section(run: Run) -> Section | None:
    """Make the section."""
    teacher, chosen = run.teacher, run.chosen
    if teacher is None:
        return None
    found = _differences(run)
    order = sorted((at for at in range(len(run.labels)) if math.isfinite(found[at][0])), key=lambda at: -found[at][0])
    if not order:
        return None
    picked = order if len(order) <= MOST else [*order[: MOST // 2], *order[-MOST // 2 :]]
    rows = [
        Bar(run.titles[at], found[at][0], f"{found[at][0]:+.3f}", *found[at][1:3], colour=_colour(found[at][0]))
        for at in picked
    ]
    better = sum(found[at][0] > 0 for at in order)
    apart = chosen.f1.estimate - teacher.f1.estimate
    lead = (
        f"Over all {run.measure} differs by {apart:+.3f}; {chosen.name} is better than the teacher in {better} of "
        f"{len(order)} {'types' if run.ner else 'categories'}."
    )
    sure = "" if run.ner else "Lines: paired 95% bootstrap intervals; one that crosses zero may be chance."
    title = f"F1 less the teacher's, by {run.thing}"
    blocks: list[Picture | Table] = [Picture(title, bars(title, rows, "difference in F1"), sure)]
    if not run.ner:
        certain = [at for at in order if found[at][3] < 0.05]
        blocks.append(
            Table(
                "Differences that are hardly chance",
                [run.thing, "difference", "p"],
                [(run.titles[at], f"{found[at][0]:+.3f}", f"{found[at][3]:.3f}") for at in certain]
                or [("none", "–", "–")],
                f"Of {len(order)} categories about {0.05 * len(order):.1f} would stand here by chance alone.",
                folded=len(certain) > 8,
            )
        )
    return Section("differences", "Against the teacher", lead, blocks)


def _differences(run: Run) -> list[tuple[float, float | None, float | None, float]]:
    """Give each label's difference, its interval if it is known, and its p value."""
    teacher, chosen = run.teacher, run.chosen
    assert teacher is not None
    if not isinstance(run.judged, Texts):
        pairs = zip(chosen.rates, teacher.rates, strict=True)
        return [(mine.f1 - other.f1, None, None, math.nan) for mine, other in pairs]
    settings, given = run.config.measure, run.judged.decisions
    told = label_differences(
        run.judged.judged.labels,
        given[chosen.name],
        given[teacher.name],
        settings.rounds,
        settings.level,
        run.config.seed,
    )
    return [_plain(one) for one in told]


def _plain(one: Difference) -> tuple[float, float | None, float | None, float]:
    known = math.isfinite(one.low)
    return one.estimate, one.low if known else None, one.high if known else None, one.p_value


def _colour(value: float) -> str:
    return "bundle" if value >= 0 else "teacher"
