"""Writing the report: sections in their order, put into one page."""

from __future__ import annotations

from pathlib import Path

from limbeck.report.page import page
from limbeck.report.run import Run
from limbeck.report.sections import SECTIONS
from limbeck.store import write_atomically

FILE_NAME = "report.html"


def write_report(run: Run, file: Path) -> int:
    """Write the page whole or not at all; give its bytes."""
    sections = [section for make in SECTIONS if (section := make(run)) is not None]
    content = page(run, sections)
    write_atomically(file, content)
    return len(content.encode())
