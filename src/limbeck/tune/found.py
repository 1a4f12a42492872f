"""What a search came to, as values; the same as JSON is what the report reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from limbeck.measure.bootstrap import Difference
from limbeck.tune.space import Value, as_overrides

# Where a project keeps its studies, and a JSON file for each target, below its working folder.
FOLDER, DATABASE = "tune", "studies.sqlite3"
DONE, PRUNED = "done", "ended early"


@dataclass(frozen=True)
class Trial:
    """One run of the project: F1 on dev's tuning half, by model and their mean (`score`; None if it was ended early).

    `untuned` has the present settings, and only those of its values that can be searched stand in `settings`.
    """

    number: int
    state: str
    settings: Mapping[str, Value]
    score: float | None
    models: Mapping[str, float]
    seconds: float | None
    untuned: bool = False
    why: str = ""


@dataclass(frozen=True)
class Gain:
    """What tuning gave one model on dev's judging half: F1 before and after, and the paired difference."""

    model: str
    untuned: float
    tuned: float
    difference: Difference


@dataclass(frozen=True)
class Tuned:
    """A finished search. `judged` is empty if no trial was better than the present settings.

    `importance` is each setting's share in how trials differ; empty before there are enough of them.
    """

    target: str
    study: str
    storage: str
    measure: str
    searched: Mapping[str, Any]
    present: Mapping[str, Any]
    trials: tuple[Trial, ...]
    best: Trial
    untuned: Trial
    judged: tuple[Gain, ...]
    importance: Mapping[str, float]
    stopped_by_time: bool

    @property
    def settings(self) -> dict[str, Value]:
        """The best settings that differ from the present ones."""
        if self.best.untuned:
            return {}
        return {name: value for name, value in self.best.settings.items() if value != self.present[name]}

    @property
    def overrides(self) -> list[str]:
        """The same as `--set` takes them."""
        return as_overrides(self.settings)

    def as_dict(self) -> dict[str, Any]:
        """Give plain values."""
        return asdict(self) | {"settings": self.settings, "overrides": self.overrides}


def file_of(workdir: Path, target: str) -> Path:
    """Say where the last search for a target is kept."""
    return workdir / FOLDER / f"{target}.json"
