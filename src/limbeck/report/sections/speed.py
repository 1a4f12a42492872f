"""How fast answers come, by length and by form, and what speed and size cost in F1."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from limbeck.report.blocks import Block, Picture, Section, Table, megabytes, milliseconds
from limbeck.report.charts import Box, Look, Point, boxes, points
from limbeck.report.run import Run
from limbeck.report.timings import ONNX, TORCH, alone, rows, usual


def section(run: Run) -> Section | None:
    """Make the section; None where nothing was timed."""
    found = rows(run.bench)
    if not found or run.bench is None:
        return None
    chosen = run.manifest.model.kind
    mine = [row for row in found if row["model"] == chosen or row["model"].startswith("teacher")]
    lengths = [timing["tokens"] for timing in alone(found[0])]
    unit = "words" if run.ner else "tokens"
    blocks: list[Block] = [
        Picture(
            f"Latency at {length} {unit}",
            boxes(f"Latency at {length} {unit}", [_box(row, length) for row in mine], "milliseconds a text"),
            "From raw text to answer, one text at a time, one thread. Box: the middle half; line: 5% to 99%.",
        )
        for length in lengths
    ]
    numbered = [(number + 1, row, usual(row)) for number, row in enumerate(found)]
    for title, label, cost in (
        ("F1 and latency", "median, milliseconds", "p50"),
        ("F1 and size", "megabytes", "bytes"),
    ):
        drawn = [_point(run, number, row, timing, cost) for number, row, timing in numbered if timing is not None]
        svg = points(title, drawn, label, "F1, dev's judging half")
        blocks.append(Picture(title, svg, "Up and to the left is better; the line joins those that none beats."))
    table = [
        (
            number,
            row["model"],
            row["form"],
            f"{row['judging_macro_f1']:.3f}",
            milliseconds(timing["p50"]),
            milliseconds(timing["p99"]),
            f"{timing['texts_a_second']:,.0f}",
            megabytes(row["bytes"]),
        )
        for number, row, timing in numbered
        if timing is not None
    ]
    head = ["", "model", "form", "F1", "median", "p99", "texts a second", "size"]
    about = f"{_length(numbered)} {unit} a text, one at a time, one thread of {run.bench['processor']}."
    blocks.append(Table("All models and forms", head, table, about))
    told = " ".join(_speedups(run))
    return Section("speed", "How fast it is", told or about, blocks)


def _length(numbered: list[tuple[int, dict[str, Any], dict[str, Any] | None]]) -> int:
    return next(int(timing["tokens"]) for _, _, timing in numbered if timing is not None)


def _speedups(run: Run) -> Iterator[str]:
    from limbeck.report.timings import usual_times

    times = usual_times(run.bench, run.manifest.model.kind)
    if times:
        yield (
            f"The bundle answers in {milliseconds(times[1])} where the teacher takes {milliseconds(times[0])}: "
            f"{times[0] / times[1]:.0f} times faster."
        )


def _box(row: dict[str, Any], length: int) -> Box:
    timing = next(timing for timing in alone(row) if timing["tokens"] == length)
    low, quarter, three = (timing.get(name, timing["p50"]) for name in ("p5", "p25", "p75"))
    name = "teacher" if row["model"].startswith("teacher") else row["model"]
    return Box(f"{name}, {row['form']}", low, quarter, timing["p50"], three, timing["p99"], _look(row).colour)


def _look(row: dict[str, Any]) -> Look:
    if row["model"].startswith("teacher"):
        return Look("teacher", "diamond")
    return Look("student", "circle") if row["form"] in (TORCH, ONNX, "python") else Look("bundle", "square")


def _point(run: Run, number: int, row: dict[str, Any], timing: dict[str, Any], cost: str) -> Point:
    value = timing["p50"] if cost == "p50" else row["bytes"] / 1e6
    tells = f"{row['model']}, {row['form']}: F1 {row['judging_macro_f1']:.3f}, {milliseconds(timing['p50'])}"
    return Point(number, value, row["judging_macro_f1"], _look(row), tells)
