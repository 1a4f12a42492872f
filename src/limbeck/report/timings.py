"""Reading what `limbeck bench` measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

TOKENS = 40
TORCH, ONNX = "torch", "onnx"


def rows(bench: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """Give the models in their forms."""
    return list(bench["rows"]) if bench else []


def alone(row: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Give the timings of one text at a time on one thread, shortest texts first."""
    yield from sorted(
        (timing for timing in row["timings"] if timing["batch"] == 1 and timing["threads"] == 1),
        key=lambda timing: timing["tokens"],
    )


def usual(row: Mapping[str, Any]) -> dict[str, Any] | None:
    """Give the timing of texts of usual length."""
    return min(alone(row), key=lambda timing: abs(timing["tokens"] - TOKENS), default=None)


def usual_times(bench: Mapping[str, Any] | None, chosen: str) -> tuple[float, float] | None:
    """Give the medians of the teacher in torch and of the bundle, in milliseconds."""
    slow = next((usual(row) for row in rows(bench) if row["model"].startswith("teacher")), None)
    small = [row for row in rows(bench) if row["model"] == chosen and row["form"] not in (TORCH, ONNX, "python")]
    fast = usual(small[-1]) if small else None
    return (slow["p50"], fast["p50"]) if slow and fast else None
