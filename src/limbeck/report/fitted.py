"""What a search for a budget looked at, as pictures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from limbeck.report.charts import WIDTH, Look, Point, points
from limbeck.report.markup import Markup, element

# Colours of a picture that stands alone; on the page they are the page's.
_STYLE = (
    "svg{font:12px sans-serif;background:#fff}.tick,.axis{fill:#59636e;font-size:10.5px}.rule{stroke:#e3e6ea}"
    ".zero{stroke:#59636e}.frontier{fill:none;stroke:#59636e;stroke-dasharray:2 3}"
    ".student{fill:#0b62a8}.bundle{fill:#00785a}.quiet{fill:#b6bcc4}"
)
# How tall a chart is, and how far the next one's top is below it.
_HEIGHT, _APART = 268, 300


def charts(told: Mapping[str, Any]) -> list[tuple[str, Markup]]:
    """Draw F1 against time and against size; what was taken is a square, what is past the budget is pale."""
    drawn = []
    for title, label, cost in (
        ("F1 and latency of all that was looked at", "median, milliseconds", "p50_us"),
        ("F1 and size of all that was looked at", "megabytes", "bytes"),
    ):
        found = [
            Point(
                number,
                one[cost] / (1e3 if cost == "p50_us" else 1e6),
                one["f1"],
                _look(one, told),
                f"{one['kind']}, {one['size']}, {one['recipe']}: F1 {one['f1']:.3f}, {one['p50_us']:.0f} µs, "
                f"{one['bytes'] / 1e6:.2f} MB",
            )
            for number, one in enumerate(told["candidates"], start=1)
        ]
        drawn.append((title, points(title, found, label, "F1, dev's judging half", numbered=False)))
    return drawn


def picture(told: Mapping[str, Any]) -> str:
    """Give both charts as one SVG file."""
    parts: list[Markup] = []
    for at, (title, svg) in enumerate(charts(told)):
        top = at * _APART
        parts.append(element("text", title, x=4, y=top + 14))
        place = f'<svg x="0" y="{top + 20}" width="{WIDTH:g}" height="{_HEIGHT}" '
        parts.append(Markup(str(svg).replace("<svg ", place, 1)))
    return str(
        element(
            "svg",
            element("style", Markup(_STYLE)),
            *parts,
            xmlns="http://www.w3.org/2000/svg",
            viewBox=f"0 0 {WIDTH:g} {2 * _APART}",
            width=2 * WIDTH,
        )
    )


def _look(one: Mapping[str, Any], told: Mapping[str, Any]) -> Look:
    if one == told["chosen"]:
        return Look("bundle", "square")
    budget = told["budget"]
    past = (
        (budget["latency_us"] is not None and one["p50_us"] > budget["latency_us"])
        or (budget["size"] is not None and one["bytes"] > budget["size"])
        or (budget["f1"] is not None and one["f1"] < budget["f1"])
    )
    return Look("quiet" if past else "student", "circle")
