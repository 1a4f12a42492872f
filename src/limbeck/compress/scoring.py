"""Teachers that score many texts: as one fused graph, a batch a core, in 8 bits where that is faster and as good."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch

from limbeck.compress.draft import Draft, draft, teacher_graph
from limbeck.compress.eight_bits import quantise, quantise_tables
from limbeck.config import CompressSettings
from limbeck.errors import BadSetting
from limbeck.measure.scaling import EDGE
from limbeck.pseudo.scores import Divisible
from limbeck.runtime.bundle import Bundle
from limbeck.runtime.predictor import Predictor
from limbeck.runtime.processor import saturates
from limbeck.scorer import Floats
from limbeck.teach.calibrate import CalibratedTeacher
from limbeck.teach.fine_tuned import FineTunedTeacher
from limbeck.teach.lessons import Teacher

# From so many texts on, exporting takes less time than it saves.
MANY = 1000
# Every member's weights stand in the graph; past so many they would fill the memory.
MOST_MEMBERS = 10
# Real texts that graph and teacher are compared on, and those that 8 bits are tried on.
COMPARED, TRIED = 64, 500
# The recipe that is used, by its name; it is made here, so that a change of another recipe scores nothing anew.
EIGHT_BITS = "int8-channels"
# How alike 8 bits and float must be: the correlation of their log-odds.
ALIKE = 0.99


@dataclass(frozen=True)
class _Export:
    """A graph at work, and the correlation of its log-odds with float's."""

    predictor: Predictor
    likeness: float

    def __reduce__(self) -> tuple[Any, ...]:
        """Let the graph travel, not the session: where it arrives, other threads may be given."""
        return _opened, (self.predictor.bundle, self.likeness)


def _opened(bundle: Bundle, likeness: float) -> _Export:
    return _Export(Predictor(bundle, torch.get_num_threads(), warn=False), likeness)


class ExportedTeacher:
    """A teacher that becomes a graph when it is asked for many texts; what can't become one answers as it is.

    With `eight_bits` the graph holds 8-bit integers, if the processor multiplies them without loss (VNNI) and answers
    stay what they were.
    """

    def __init__(self, teacher: Teacher | CalibratedTeacher, eight_bits: bool = False) -> None:
        """Export nothing yet."""
        self.teacher = teacher
        self.eight_bits = eight_bits
        self._shown: list[str] = []

    @property
    def labels(self) -> tuple[str, ...]:
        """The label names."""
        return self.teacher.labels

    @property
    def recipe(self) -> str | None:
        """The recipe of the graph that texts were scored with; None if there is no graph."""
        export = self._export if self._shown else None
        return export.predictor.manifest.model.recipe if export else None

    @property
    def likeness(self) -> float:
        """How the log-odds of what answers correlate with the teacher's."""
        export = self._export if self._shown else None
        return export.likeness if export else 1.0

    def only(self, labels: Sequence[str]) -> ExportedTeacher:
        """Give a scorer of these labels, or of more."""
        if tuple(labels) == self.labels or not isinstance(self.teacher, Divisible):
            return self
        return ExportedTeacher(self.teacher.only(labels), self.eight_bits)

    def prepare(self, shown: Sequence[str]) -> None:
        """Become a graph now, if these are many texts."""
        self._look(shown)
        if self._shown:
            _ = self._export

    def _look(self, texts: Sequence[str]) -> None:
        if len(texts) >= MANY and not self._shown:
            self._shown = list(texts[:: max(1, len(texts) // TRIED)])[:TRIED]

    def predict_proba(self, texts: Sequence[str]) -> Floats:
        """Give probabilities [texts, labels]."""
        self._look(texts)
        export = self._export if self._shown else None
        return self.teacher.predict_proba(texts) if export is None else export.predictor.predict_proba(texts)

    @cached_property
    def _export(self) -> _Export | None:
        inner = self.teacher.teacher if isinstance(self.teacher, CalibratedTeacher) else self.teacher
        if torch.cuda.is_available() or (isinstance(inner, FineTunedTeacher) and len(inner.members) > MOST_MEMBERS):
            return None
        halves = np.full(len(self.labels), 0.5, dtype=np.float32)
        try:
            trained = teacher_graph(self.teacher)
            made = draft(trained, halves, self._shown[:COMPARED], CompressSettings(vocabulary="all"))
            return self._smaller(made)
        except BadSetting:
            return None  # it counts words, and is fast enough
        except Exception as error:  # exporters fail in many ways, and the teacher itself is still there
            told = (str(error).splitlines() or [type(error).__name__])[0]
            warnings.warn(f"Scoring will be slower: the teacher can't be exported ({told}).", stacklevel=2)
            return None

    def _smaller(self, made: Draft) -> _Export:
        threads = torch.get_num_threads()
        plain = Predictor(made.bundle, threads, warn=False)
        if not self.eight_bits or saturates():
            return _Export(plain, 1.0)
        graph = quantise(quantise_tables(made.bundle.graph), per_channel=True, symmetric=True, reduce_range=False)
        small = Predictor(made.with_graph(graph, EIGHT_BITS), threads, warn=False)
        likeness = alike(small.predict_proba(self._shown), plain.predict_proba(self._shown))
        return _Export(small, likeness) if likeness >= ALIKE else _Export(plain, 1.0)


def alike(mine: Floats, theirs: Floats) -> float:
    """Give the correlation of the log-odds of two arrays [texts, labels], each label around its own mean."""
    one, other = (odds - odds.mean(axis=0) for odds in (_logit(mine), _logit(theirs)))
    spread = float(np.sqrt((one**2).sum() * (other**2).sum()))
    return float((one * other).sum()) / spread if spread > 0 else float(np.allclose(mine, theirs))


def _logit(proba: Floats) -> Floats:
    inside = np.clip(proba.astype(np.float64), EDGE, 1 - EDGE)
    return np.asarray(np.log(inside / (1 - inside)))
