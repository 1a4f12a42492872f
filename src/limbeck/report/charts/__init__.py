"""Pictures as SVG, as wide as a telephone; colours come from the page, so that they suit light and dark."""

from limbeck.report.charts.bars import Bar, bars
from limbeck.report.charts.boxes import Box, boxes
from limbeck.report.charts.columns import columns
from limbeck.report.charts.dots import Dot, dots
from limbeck.report.charts.frame import WIDTH, Look
from limbeck.report.charts.grid import grid
from limbeck.report.charts.lines import Line, lines
from limbeck.report.charts.parallel import Axis, Strand, parallel, positions
from limbeck.report.charts.points import Point, points

__all__ = [
    "WIDTH",
    "Axis",
    "Bar",
    "Box",
    "Dot",
    "Line",
    "Look",
    "Point",
    "Strand",
    "bars",
    "boxes",
    "columns",
    "dots",
    "grid",
    "lines",
    "parallel",
    "points",
    "positions",
]
