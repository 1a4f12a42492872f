"""The two numbers that matter: what is kept of the teacher's F1, and how many times faster answers come."""

from __future__ import annotations

from dataclasses import dataclass

from limbeck.report.blocks import milliseconds
from limbeck.report.run import Rates, Run
from limbeck.report.timings import TOKENS, usual_times


@dataclass(frozen=True)
class Headline:
    """Shares and times, and a sentence about each; empty where there is no teacher or nothing was timed."""

    kept: str
    quality: str
    faster: str
    speed: str
    weak: str = ""


# Below this F1 most of what a category answers, or most of what it should, is wrong.
WEAK = 0.3
# More names than these are only counted.
NAMED = 8


def weak_ones(run: Run) -> str:
    """Name the categories that nobody should rely on, with what is wrong with each; '' if there is none."""
    found = []
    for title, rates in zip(run.titles, run.chosen.rates, strict=True):
        if rates.f1 < WEAK:
            found.append(f"{title} ({_fault(rates)})")
    if not found:
        return ""
    more = f" and {len(found) - NAMED} more" if len(found) > NAMED else ""
    return f"{', '.join(found[:NAMED])}{more}: label more, or do without"


def _fault(rates: Rates) -> str:
    if not rates.recall > 0:
        return "never found"
    if rates.precision < rates.recall:
        return f"{rates.precision:.0%} of what it finds is right"
    return f"{rates.recall:.0%} is found"


def headline(run: Run) -> Headline:
    """Sum a run up."""
    f1, teacher = run.chosen.f1, run.teacher
    kept, quality = "", f"{run.measure} {f1.estimate:.3f} on {run.on}"
    if teacher is not None and teacher.f1.estimate:
        kept = f"{f1.estimate / teacher.f1.estimate:.1%}"
        quality = f"{kept} of the teacher's: {quality}, the teacher's {teacher.f1.estimate:.3f}"
    times = usual_times(run.bench, run.manifest.model.kind)
    if times is None:
        return Headline(kept, quality, "", "", weak_ones(run))
    faster = f"{times[0] / times[1]:.0f} ×"
    unit = "words" if run.ner else "tokens"
    speed = f"{faster} ({milliseconds(times[1])} a text of {TOKENS} {unit}, not {milliseconds(times[0])})"
    return Headline(kept, quality, faster, speed, weak_ones(run))
