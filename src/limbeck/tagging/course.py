"""What all students of entities learn from: tagged sentences, and the teacher's guesses about others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from limbeck.config import Config
from limbeck.data.sentences import Sentence
from limbeck.data.splits import TUNING
from limbeck.data.tagged import PreparedSentences
from limbeck.scorer import Floats
from limbeck.store import Store, content_of, key_of
from limbeck.tagging.examples import Guesses
from limbeck.tagging.pool import choose_sentences
from limbeck.tagging.teach import load_scores
from limbeck.tagging.teacher import AnyTagger, load_tagger_teacher


@dataclass(frozen=True)
class TagCourse:
    """The results that distillation reads, and where finished students are kept."""

    prepared: PreparedSentences
    config: Config
    teach: Path
    pool: Path
    pseudo: Path
    root: Path
    store: Store
    made_with: Mapping[str, object]
    force: bool = False

    @property
    def train(self) -> list[Sentence]:
        """The tagged sentences."""
        return self.prepared.train

    @property
    def tuning(self) -> list[Sentence]:
        """The half of dev that may tune."""
        return self.prepared.dev_half(TUNING)

    @cached_property
    def chosen(self) -> tuple[list[list[str]], list[Guesses]]:
        """Sentences of the pool and what the teacher believes of their words."""
        return choose_sentences(self.pool, self.pseudo, self.config.pseudo, self.config.seed)

    @cached_property
    def labelled_guesses(self) -> list[Guesses]:
        """What a teacher that didn't see them believes of tagged sentences; empty where each member saw them."""
        scores = load_scores(self.teach / "out_of_fold.npz")
        return [np.exp(one).astype(np.float16) for one in scores]

    @property
    def sentences(self) -> list[list[str]]:
        """The words of all sentences, tagged ones first."""
        return [*(list(sentence.tokens) for sentence in self.train), *self.chosen[0]]

    @cached_property
    def teacher(self) -> AnyTagger:
        """The teacher."""
        return load_tagger_teacher(self.teach, self.root)

    @cached_property
    def content(self) -> dict[str, str]:
        """Hashes of everything that is learnt here."""
        return {
            "tagged": key_of([[list(s.tokens), list(s.tags)] for s in [*self.train, *self.tuning]]),
            "teacher": content_of(self.teach),
            "pool": content_of(self.pool),
            "guesses": content_of(self.pseudo),
        }

    def remembered(self, kind: str, about: Mapping[str, object], make: Callable[[], Floats]) -> Floats:
        """Give an array that takes long to make, from the store if it was made before."""
        told = {"teacher": self.content["teacher"], "about": key_of(dict(about)), "made_with": dict(self.made_with)}
        key = key_of(told)
        if self.force or not self.store.intact(kind, key):
            made = make()
            with self.store.write(kind, key, told) as folder:
                np.save(folder / "array.npy", made)
        found: Floats = np.load(self.store.folder(kind, key) / "array.npy", allow_pickle=False)
        return found
