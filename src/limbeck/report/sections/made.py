"""How it was made: settings that were changed, versions, hashes; what it is for and where it ends."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from limbeck.config import Config
from limbeck.report.blocks import Block, Remark, Section, Table
from limbeck.report.run import Run


def section(run: Run) -> Section:
    """Make the section."""
    changed = list(changes(run.config))
    blocks: list[Block] = [
        Table("Settings that aren't the default", ["setting", "value"], changed or [("none", "")], folded=True),
        Table(
            "The bundle",
            ["", ""],
            [
                ("name", run.manifest.name),
                ("made", f"{run.manifest.made_at} by Limbeck {run.manifest.made_with}"),
                ("network", f"{run.manifest.model.kind}, {run.manifest.model.recipe}"),
                (
                    "reads",
                    f"{run.manifest.reading.max_tokens} tokens; cleaning: {', '.join(run.manifest.reading.clean)}",
                ),
                *((f"from {name}", value) for name, value in run.manifest.origin.items()),
                *((f"{name}, sha256", facts.sha256[:16]) for name, facts in run.manifest.files.items()),
            ],
            "Its README.md is its model card.",
        ),
        Remark(
            "All figures come from this run's own results. Dev has two halves: one tunes thresholds and stops "
            "training, the other judges. Test was looked at for these figures alone. Texts unlike those of dev and "
            "test may be answered worse; `limbeck drift` says when that happens."
        ),
    ]
    seconds = sum(state.seconds or 0 for state in run.states)
    return Section("made", "How it was made", f"{seconds / 60:.1f} minutes in all, seed {run.config.seed}.", blocks)


def changes(config: Config) -> Iterator[tuple[str, str]]:
    """Give the settings that differ from the defaults."""
    mine, usual = config.model_dump(mode="json"), Config().model_dump(mode="json")
    for section_name, values in mine.items():
        if not isinstance(values, dict):
            if values != usual[section_name]:
                yield section_name, _plain(values)
            continue
        for name, value in values.items():
            if value != usual[section_name].get(name):
                yield f"{section_name}.{name}", _plain(value)


def _plain(value: Any) -> str:  # noqa: ANN401 - any plain value
    told = str(value)
    return told if len(told) <= 200 else told[:200] + " …"
