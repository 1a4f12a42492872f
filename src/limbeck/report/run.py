"""A run as the report sees it: its models with their figures, the data that judged them, and what each step told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from limbeck.config import Config
from limbeck.data.dataset import Dataset
from limbeck.data.prepare import Prepared
from limbeck.data.sentences import Sentence
from limbeck.data.tagged import PreparedSentences
from limbeck.measure.bootstrap import Interval
from limbeck.pipeline import StepState
from limbeck.report.charts import Look
from limbeck.runtime.manifest import Manifest
from limbeck.scorer import Span

TEACHER, STUDENT, BUNDLE, BASELINE = "teacher", "student", "bundle", "baseline"
Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Rates:
    """Precision, recall and F1 of one category or type; NaN where nothing defines them."""

    precision: float
    recall: float
    f1: float
    support: int


@dataclass(frozen=True)
class Model:
    """A model and how good it is on the part that the report shows; `judging` is its F1 on dev's judging half."""

    name: str
    role: str
    look: Look
    f1: Interval
    judging: float
    rates: tuple[Rates, ...]
    intervals: tuple[Interval, ...] = ()


@dataclass(frozen=True)
class Texts:
    """What judged classifiers: rows, and each model's probabilities and decisions of them."""

    prepared: Prepared
    judged: Dataset
    proba: Mapping[str, Floats]
    decisions: Mapping[str, NDArray[np.bool_]]
    thresholds: Mapping[str, NDArray[np.float64]]


@dataclass(frozen=True)
class Sentences:
    """What judged taggers: sentences, and the entities that bundles found in them."""

    prepared: PreparedSentences
    judged: list[Sentence]
    found: Mapping[str, list[list[Span]]]


@dataclass(frozen=True)
class Run:
    """Everything that sections draw. `part` is 'test', or 'judging' for a project without test."""

    name: str
    config: Config
    part: str
    labels: tuple[str, ...]
    titles: tuple[str, ...]
    states: Sequence[StepState]
    folders: Mapping[str, Path]
    models: Sequence[Model]
    manifest: Manifest
    bundle: Path
    judged: Texts | Sentences
    bench: Mapping[str, Any] | None = None
    sweep: Sequence[tuple[float, float]] = field(default_factory=tuple)
    with_texts: bool = True
    fit: Mapping[str, Any] | None = None
    tuned: Sequence[Mapping[str, Any]] = ()

    @property
    def ner(self) -> bool:
        """Whether the run looks for entities."""
        return isinstance(self.judged, Sentences)

    @property
    def thing(self) -> str:
        """What a label is called."""
        return "type" if self.ner else "category"

    @property
    def measure(self) -> str:
        """What F1 of all labels is called."""
        return "F1" if self.ner else "macro-F1"

    @property
    def on(self) -> str:
        """Where figures were measured."""
        return "test" if self.part == "test" else "dev's judging half"

    @property
    def teacher(self) -> Model | None:
        """The teacher, if there is one."""
        return next((model for model in self.models if model.role == TEACHER), None)

    @property
    def chosen(self) -> Model:
        """The bundle that was chosen."""
        return next(model for model in self.models if model.role == BUNDLE)

    @property
    def student(self) -> Model | None:
        """What the chosen bundle was before it was compressed."""
        kind = self.manifest.model.kind
        return next((m for m in self.models if m.role in (STUDENT, BASELINE) and m.name == kind), None)

    @property
    def shown(self) -> list[Model]:
        """The models of pictures: the chosen one, what it was made from, the teacher and the baselines."""
        first = [model for model in (self.chosen, self.student, self.teacher) if model is not None]
        return [*first, *(m for m in self.models if m.role == BASELINE and m not in first)]

    def read(self, step: str, file: str) -> Any:  # noqa: ANN401 - whatever the step wrote
        """Read a JSON file of a step's result; None where there is none."""
        import json

        path = self.folders[step] / file if step in self.folders else None
        return json.loads(path.read_text(encoding="utf-8")) if path is not None and path.exists() else None
