"""What compressing cost, what was taken, and what the gate refused."""

from __future__ import annotations

from typing import Any

from limbeck.report.blocks import Block, Picture, Remark, Section, Table, megabytes
from limbeck.report.charts import Bar, bars
from limbeck.report.run import Run


def section(run: Run) -> Section | None:
    """Make the section."""
    told: dict[str, dict[str, Any]] = run.read("compress", "trials.json") or {}
    if not told:
        return None
    blocks: list[Block] = []
    refused = 0
    for kind, found in told.items():
        ran = [trial for trial in found["trials"] if not trial["why_not"]]
        refused += sum(not trial["within_budget"] for trial in ran)
        if ran:
            rows = [
                Bar(trial["recipe"], trial["lost"] * 100, f"{trial['lost']:+.2%}", *_span(trial), _colour(trial))
                for trial in ran
            ]
            caption = "Share of float's F1, lines: bootstrap intervals. " + found["why"]
            title = f"{kind}: what each recipe loses"
            blocks.append(Picture(title, bars(title, rows, "percent lost"), caption))
        else:
            blocks.append(Remark(f"{kind}: {found['why']}"))
    rows_of_table = [
        (
            kind,
            trial["recipe"],
            "–" if trial["why_not"] else f"{trial['macro_f1']:.4f}",
            "–" if trial["why_not"] else megabytes(trial["bytes"]),
            "–" if trial["why_not"] else f"{trial['p50_us']:.0f}",
            _fate(trial),
        )
        for kind, found in told.items()
        for trial in found["trials"]
    ]
    head = ["model", "recipe", "F1 (judging)", "graph", "µs a text", ""]
    blocks.append(Table("Every recipe", head, rows_of_table, folded=len(rows_of_table) > 12))
    budget = run.config.compress.budget
    lead = f"A recipe may lose {budget:.1%} of F1. {refused} were refused for losing more."
    return Section("gate", "Compressing, and what the gate refused", lead, blocks)


def _span(trial: dict[str, Any]) -> tuple[float | None, float | None]:
    return trial["lost_low"] * 100, trial["lost_high"] * 100


def _colour(trial: dict[str, Any]) -> str:
    return "bundle" if trial["taken"] else "quiet" if trial["within_budget"] else "teacher"


def _fate(trial: dict[str, Any]) -> str:
    if trial["why_not"]:
        return f"can't be run: {trial['why_not']}"
    return "taken" if trial["taken"] else "" if trial["within_budget"] else "refused: loses too much"
