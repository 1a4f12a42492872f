"""Teachers of entities that read many sentences: as graphs, a batch a core."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, partial
from typing import Any

import numpy as np
import torch

from limbeck.compress.taggers import draft_tagger, teacher_tagger
from limbeck.runtime.bundle import Bundle
from limbeck.runtime.tagger import EntityPredictor
from limbeck.runtime.viterbi import Moves
from limbeck.scorer import Floats
from limbeck.tagging.scorer import Words, log_softmax
from limbeck.tagging.teacher import AnyTagger, BlendedTagger, TaggerTeacher, blended

# From so many sentences on, exporting takes less time than it saves.
MANY = 500
# Sentences that a core reads at a time.
CHUNK = 256


class ExportedTagger:
    """A teacher whose networks become graphs when it is asked for many sentences; what can't answers as it is."""

    def __init__(self, teacher: AnyTagger) -> None:
        """Export nothing yet."""
        self.teacher = teacher
        self.labels = teacher.labels

    @property
    def moves(self) -> tuple[Moves, bool]:
        """What moves between tags score."""
        return self.teacher.moves

    def emissions(self, sentences: Sequence[Words]) -> list[Floats]:
        """Give the logarithm of the members' mean probabilities [words, tags]."""
        if len(sentences) < MANY or torch.cuda.is_available():
            return self.teacher.emissions(sentences)
        return self._many(sentences)

    def prepare(self, shown: Sequence[Words]) -> None:
        """Become graphs now, if these are many sentences."""
        if len(shown) >= MANY and not torch.cuda.is_available():
            _ = self._many

    @cached_property
    def _many(self) -> Callable[[Sequence[Words]], list[Floats]]:
        if isinstance(self.teacher, BlendedTagger):
            parts = [ExportedTagger(teacher) for teacher in self.teacher.teachers]
            weights = self.teacher.weights
            return partial(_blend, parts, weights)
        if self.teacher.card.kind == "probe":
            return self.teacher.emissions
        try:
            return _Graphs(self.teacher)
        except Exception as error:  # exporters fail in many ways, and the teacher itself is still there
            told = (str(error).splitlines() or [type(error).__name__])[0]
            warnings.warn(f"Tagging will be slower: the teacher can't be exported ({told}).", stacklevel=2)
            return self.teacher.emissions


def _blend(parts: Sequence[ExportedTagger], weights: tuple[float, ...], sentences: Sequence[Words]) -> list[Floats]:
    return blended([part.emissions(sentences) for part in parts], weights)


class _Graphs:
    def __init__(self, teacher: TaggerTeacher) -> None:
        shown = [["A", "sentence", "of", "Words", "."], ["Two", "more"]]
        self._open(
            [draft_tagger(teacher_tagger(teacher, number), shown).bundle for number in range(len(teacher.members))]
        )

    def _open(self, bundles: Sequence[Bundle]) -> None:
        self.bundles = bundles
        self.members = [EntityPredictor(bundle) for bundle in bundles]

    def __getstate__(self) -> Sequence[Bundle]:
        """Let graphs travel, not sessions."""
        return self.bundles

    def __setstate__(self, bundles: Sequence[Bundle]) -> None:
        """Open them where they arrived."""
        self._open(bundles)

    def __call__(self, sentences: Sequence[Words]) -> list[Floats]:
        order = np.argsort([-len(words) for words in sentences], kind="stable")
        groups = [order[start : start + CHUNK] for start in range(0, len(order), CHUNK)]

        def run(rows: Any) -> list[Floats]:  # noqa: ANN401 - an array
            chosen = [sentences[row] for row in rows]
            total: list[Any] = [0.0] * len(chosen)
            for member in self.members:
                for place, scores in enumerate(member.emissions(chosen)):
                    total[place] = total[place] + np.exp(log_softmax(scores).astype(np.float64))
            count = len(self.members)
            return [np.log(np.maximum(sums / count, 1e-9)).astype(np.float32) for sums in total]

        found: list[Floats] = [np.zeros((0, 0), dtype=np.float32)] * len(sentences)
        with ThreadPoolExecutor(torch.get_num_threads()) as workers:
            for rows, scores in zip(groups, workers.map(run, groups), strict=True):
                for row, one in zip(rows, scores, strict=True):
                    found[row] = one
        return found
