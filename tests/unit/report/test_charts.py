"""Charts: values stand where they belong, names fit, nothing is drawn that isn't a number."""

import math
import re

import pytest

from limbeck.report.charts import Bar, Box, Dot, Line, Look, Point, bars, boxes, columns, dots, grid, lines, points
from limbeck.report.charts.frame import CHARACTER, WIDTH, Scale, fitting, round_step, scale_of, shown
from limbeck.report.charts.points import frontier
from limbeck.report.markup import Markup, element, joined

HOSTILE = '<script>alert("1")</script>&\'"'
ALL_SHAPES = ["circle", "square", "diamond", "up", "down", "cross", "plus"]


def test_what_is_no_markup_is_escaped():
    made = element("p", HOSTILE, element("b", "x"), title=HOSTILE, class_="a", stroke_width=1.25, none=None)
    assert "<script>" not in made and made.endswith("<b>x</b></p>")
    assert 'class="a"' in made and 'stroke-width="1.2"' in made and "none" not in made
    assert joined("<", Markup("<")) == "&lt;<"


@pytest.mark.parametrize(
    ("values", "log", "zero"),
    [([0.61, 0.98], False, False), ([3, 1200], False, True), ([-0.04, 0.02], False, True), ([0.03, 13.0], True, False)],
)
def test_a_scale_has_room_for_its_values_and_round_ticks(values, log, zero):
    scale = scale_of(values, 10, 210, log=log, zero=zero)
    assert scale.low <= min(values) and scale.high >= max(values)
    assert all(10 <= scale(tick) <= 210 for tick in scale.ticks()) and 2 <= len(scale.ticks()) <= 8
    assert scale(values[0]) < scale(values[1])
    assert not zero or 0 in [round(tick, 9) for tick in scale.ticks()]


def test_a_scale_of_one_value_or_none_is_a_scale():
    for values in ([], [0.5], [0.0], [float("nan")]):
        scale = scale_of(values, 0, 100)
        assert scale.low < scale.high and math.isfinite(scale(0.5))


def test_what_lies_outside_is_drawn_at_the_edge():
    assert Scale(0, 1, 0, 100)(7) == 100 and Scale(1, 100, 0, 100, log=True)(0) == 0


def test_steps_and_values_are_round():
    assert [round_step(size) for size in (0.11, 0.2, 0.3, 7)] == [0.2, 0.2, 0.5, 10]
    assert [shown(value) for value in (0.3000000004, 1500, 25_000, 3e6)] == ["0.3", "1,500", "25k", "3M"]


def test_names_are_cut_to_their_room_by_the_width_of_their_characters():
    assert fitting("short", 100) == "short"
    cut = fitting("a name that goes on and on", 60)
    assert cut.endswith("…") and len(cut) * CHARACTER <= 60
    assert len(fitting("列车晚点列车晚点列车晚点", 60)) < len(cut)


LOOKS = [Look("teacher", shape) for shape in ALL_SHAPES]
DRAWN = {
    "dots": lambda: dots("t", [(HOSTILE, [Dot(0.5, look, "x", 0.4, 0.6) for look in LOOKS]), ("b", [])], "F1"),
    "bars": lambda: bars("t", [Bar(HOSTILE, -0.5, HOSTILE, -0.6, -0.4), Bar("b", 0.0)], "label"),
    "lines": lambda: lines("t", [Line(HOSTILE, [(0, 1), (1, float("nan")), (2, 3)], LOOKS[0], (2, 3))], "x", "y"),
    "empty lines": lambda: lines("t", [Line("n", [], LOOKS[0])], "x", "y", unit=True, diagonal=True),
    "columns": lambda: columns(HOSTILE, [0, 4, 100], 0.3),
    "no columns": lambda: columns("t", [0, 0], None),
    "boxes": lambda: boxes("t", [Box(HOSTILE, 0.1, 0.2, 0.3, 0.4, 5.0, "bundle")], "ms"),
    "points": lambda: points("t", [Point(1, 0.1, 0.5, LOOKS[1], HOSTILE), Point(2, 0.1, 0.5, LOOKS[2], "b")], "x", "y"),
    "grid": lambda: grid("t", [HOSTILE, "b"], [[1.0, None], [-0.3, 1.0]]),
}


@pytest.mark.parametrize("name", DRAWN)
def test_every_chart_is_numbers_within_its_picture(name):
    svg = DRAWN[name]()
    assert svg.startswith("<svg") and "<script>" not in svg
    assert not re.search(r'="[^"]*(nan|inf|None)[^"]*"', svg)
    width, height = map(float, re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg).groups())
    for attribute, most in (("x", width), ("cx", width), ("x1", width), ("x2", width), ("y", height), ("y2", height)):
        assert all(-1 <= float(v) <= most + 1 for v in re.findall(rf' {attribute}="(-?[\d.]+)"', svg))
    assert width <= WIDTH


def test_the_frontier_is_what_nothing_beats():
    look = Look()
    found = [Point(n, cost, f1, look, "") for n, (cost, f1) in enumerate([(1, 0.5), (2, 0.4), (3, 0.9), (4, 0.9)])]
    assert [point.number for point in frontier(found)] == [0, 2]
