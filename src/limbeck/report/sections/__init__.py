"""The sections in the order in which they are read. A new one is a module with `section(run)`, and its place here."""

from collections.abc import Callable

from limbeck.report.blocks import Section
from limbeck.report.run import Run
from limbeck.report.sections import (
    budget,
    calibration,
    curves,
    differences,
    gate,
    labels,
    made,
    mistakes,
    pseudo,
    quality,
    speed,
    students,
    summary,
    teaching,
    tuning,
)

SECTIONS: tuple[Callable[[Run], Section | None], ...] = (
    summary.section,
    quality.section,
    differences.section,
    curves.section,
    calibration.section,
    speed.section,
    budget.section,
    gate.section,
    mistakes.section,
    labels.section,
    teaching.section,
    pseudo.section,
    students.section,
    tuning.section,
    made.section,
)

__all__ = ["SECTIONS"]
