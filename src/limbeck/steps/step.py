"""What a step of the chain is, and what it is given when it runs."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from limbeck.config import BaselineKind, Config, Project, Task
from limbeck.scale import Executor, executor_of
from limbeck.store import Store

Figures = dict[str, float]

# What networks are made with, and what baselines are.
NETWORKS = ("torch", "transformers", "tokenizers", "accelerate", "onnxruntime")
WORD_COUNTERS = ("scikit-learn", "scipy", "xgboost-cpu", "xgboost", "optuna", "iterative-stratification")


@dataclass(frozen=True)
class StepRun:
    """What a running step gets: the project, the store for its tasks, a folder to fill, and the folders it reads.

    `made_with` (versions of code and libraries) belongs into the key of every task that outlives the step. `before` are
    folders of the step's last results, newest first, made from other inputs. With `force`, finished tasks of the step
    are done again as well, and there is nothing in `before`.
    """

    project: Project
    store: Store
    folder: Path
    inputs: Mapping[str, Path]
    made_with: Mapping[str, object]
    before: tuple[Path, ...] = ()
    force: bool = False

    @property
    def executor(self) -> Executor:
        """Where the step's tasks run; no result depends on it."""
        return executor_of(self.project)

    def write_json(self, name: str, value: object) -> None:
        """Write plain values beside the step's other files."""
        (self.folder / name).write_text(json.dumps(value, indent=1, ensure_ascii=False), encoding="utf-8")


@dataclass(frozen=True)
class Step:
    """One step: `settings`, `code`, `libraries`, `files` and `after` are everything that its result depends on.

    `unmoved_by` names settings of those sections that it doesn't read, `idle` sections that a configuration's choice of
    kinds leaves unread. A step that `builds_on` settings is given its
    last results that were made with the same values of these.
    """

    name: str
    summary: str
    tasks: tuple[Task, ...]
    settings: tuple[str, ...]
    code: tuple[str, ...]
    after: tuple[str, ...]
    files: Callable[[Project], list[Path]]
    run: Callable[[StepRun], Figures]
    libraries: tuple[str, ...] = ()
    unmoved_by: tuple[str, ...] = ()
    idle: Callable[[Config], tuple[str, ...]] = lambda config: ()
    builds_on: tuple[str, ...] = ()
    wanted: Callable[[Config], bool] = lambda config: True


def without_baselines(kinds: Sequence[str]) -> tuple[str, ...]:
    """Give the section that is idle if none of these kinds is a baseline."""
    return () if set(kinds) & set(get_args(BaselineKind)) else ("baselines",)


def no_files(project: Project) -> list[Path]:
    """Say that a step reads no file of the user's."""
    return []
