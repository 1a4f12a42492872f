"""The report: one HTML file about a run, from the run's own results. A section is a module in `sections`."""

from limbeck.report.gather import gather
from limbeck.report.headline import Headline, headline
from limbeck.report.run import Run
from limbeck.report.write import FILE_NAME, write_report

__all__ = ["FILE_NAME", "Headline", "Run", "gather", "headline", "write_report"]
