"""What every model of text can do: teachers, ensembles, students, baselines, bundles and cascades alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]


@runtime_checkable
class Scorer(Protocol):
    """A classifier: a probability for each text and each label."""

    @property
    def labels(self) -> tuple[str, ...]:
        """The label names, in the order of the columns that `predict_proba` gives."""
        ...

    def predict_proba(self, texts: Sequence[str]) -> Floats:
        """Give probabilities as float32 of shape [texts, labels]; cleaning is part of the model."""
        ...


@runtime_checkable
class Preparable(Protocol):
    """A scorer of texts or sentences that makes itself ready for many; ready, it can go to another process."""

    def prepare(self, shown: Sequence[Any]) -> None:
        """Get ready, so that these texts and any others are answered the same way wherever and whenever they are."""
        ...


def fields_alone(scorer: Any) -> dict[str, Any]:  # noqa: ANN401 - any dataclass
    """Give a dataclass's fields without what was made from them since: networks stay where they were loaded."""
    return {field.name: getattr(scorer, field.name) for field in fields(scorer)}


@dataclass(frozen=True)
class Span:
    """An entity: characters `start` (included) to `end` (excluded) of the text, and its type."""

    start: int
    end: int
    type: str
    confidence: float = 1.0


@runtime_checkable
class Tagger(Protocol):
    """A named-entity model: spans for each sentence."""

    @property
    def labels(self) -> tuple[str, ...]:
        """The entity types."""
        ...

    def tag(self, sentences: Sequence[str]) -> list[list[Span]]:
        """Give the entities of each sentence, by character offsets into it."""
        ...
