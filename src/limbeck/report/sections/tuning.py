"""What `limbeck tune` tried, what matters, and what it gave."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from limbeck.report.blocks import Block, Picture, Section, Table, between, percent
from limbeck.report.charts import Axis, Bar, Look, Strand, bars, parallel, positions
from limbeck.report.run import Run

BEST, PRESENT, GOOD, OTHER = Look("bundle", "square"), Look("teacher", "diamond"), Look("student"), Look("quiet")
# The share of trials that are drawn as good ones.
UPPER = 0.25


def section(run: Run) -> Section | None:
    """Make the section; None if nothing was tuned."""
    if not run.tuned:
        return None
    blocks: list[Block] = []
    for told in run.tuned:
        blocks += _blocks(told)
    return Section("tuning", "Tuning", " ".join(_lead(told) for told in run.tuned), blocks)


def _lead(told: Mapping[str, Any]) -> str:
    before, after = told["untuned"]["score"], told["best"]["score"]
    trials = f"{told['target']}: {len(told['trials'])} trials"
    if not told["settings"]:
        return f"{trials}, of which none was better than the settings that there were."
    lead = f"{trials} took {told['measure']} on dev's tuning half from {before:.3f} to {after:.3f}"
    gains = ", ".join(
        f"{gain['model']} {gain['difference']['estimate']:+.3f} "
        f"{between(gain['difference']['low'], gain['difference']['high'])}"
        for gain in told["judged"]
    )
    return f"{lead}; on the judging half, which no trial has seen: {gains}." if gains else f"{lead}."


def _blocks(told: Mapping[str, Any]) -> list[Block]:
    axes = [_axis(name, values) for name, values in told["searched"].items()]
    scores = [trial["score"] for trial in told["trials"] if trial["score"] is not None]
    last = Axis(told["measure"], min(scores), max(scores))
    title = f"Trials of {told['target']}"
    caption = (
        f"A line a trial, from the settings down to {told['measure']} on dev's tuning half. Pale: the lower three "
        "quarters, and trials that were ended early."
    )
    legend = [(BEST, "best"), (PRESENT, "the settings that there were"), (GOOD, "upper quarter")]
    blocks: list[Block] = [Picture(title, parallel(title, [*axes, last], _strands(told, axes)), caption, legend)]
    if told["importance"]:
        rows = [Bar(_short(name), share, percent(share, 0)) for name, share in told["importance"].items()]
        title = f"What matters for {told['target']}"
        caption = "Each setting's share in how trials differ: functional ANOVA over a forest that was fitted to them."
        blocks.append(Picture(title, bars(title, rows), caption))
    blocks += _tables(told)
    return blocks


def _axis(name: str, values: Mapping[str, Any]) -> Axis:
    if "one_of" in values:
        return Axis(name, one_of=[str(value) for value in values["one_of"]], label=_short(name))
    return Axis(name, values["low"], values["high"], values["log"], label=_short(name))


def _short(name: str) -> str:
    """Leave out the section: charts have little room, and the table below says it."""
    return name.partition(".")[2]


def _strands(told: Mapping[str, Any], axes: Sequence[Axis]) -> list[Strand]:
    """Give the trials, the best one last; those that were ended early end above the last axis."""
    ranked = sorted(told["trials"], key=lambda trial: trial["score"] if trial["score"] is not None else -1.0)
    good = len(ranked) - max(1, round(UPPER * len(ranked)))
    found = []
    for at, trial in enumerate(ranked):
        best = trial["number"] == told["best"]["number"]
        look = BEST if best else PRESENT if trial["untuned"] else GOOD if at >= good else OTHER
        values = [*(positions(axis, trial["settings"]) for axis in axes), trial["score"]]
        found.append((look in (BEST, PRESENT), Strand(values, look, _tells(trial), look in (GOOD, OTHER))))
    return [strand for _, strand in sorted(found, key=lambda one: one[0])]


def _tells(trial: Mapping[str, Any]) -> str:
    score = trial["state"] if trial["score"] is None else f"{trial['score']:.3f}"
    return f"trial {trial['number']}, {score}: " + ", ".join(f"{n} = {v}" for n, v in trial["settings"].items())


def _tables(told: Mapping[str, Any]) -> list[Block]:
    blocks: list[Block] = []
    if told["settings"]:
        rows = [(name, str(told["present"][name]), str(value)) for name, value in told["settings"].items()]
        blocks.append(Table(f"Settings of {told['target']}", ["setting", "before", "best"], rows))
    trials = [
        (
            trial["number"],
            "–" if trial["score"] is None else f"{trial['score']:.3f}",
            "" if trial["seconds"] is None else f"{trial['seconds']:.0f}",
            trial["why"] or ("the settings that there were" if trial["untuned"] else ""),
        )
        for trial in told["trials"]
    ]
    head = ["trial", told["measure"], "seconds", ""]
    blocks.append(Table(f"All trials of {told['target']}", head, trials, folded=True))
    return blocks
