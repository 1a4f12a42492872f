"""Baselines, which count words, as teachers: alone, or beside an encoder that errs elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from limbeck.baselines import BaselineScorer, train_baseline
from limbeck.baselines.train import Trained
from limbeck.data.dataset import Dataset
from limbeck.scorer import Floats
from limbeck.teach.card import Card, read_card
from limbeck.teach.lessons import Lessons, Taught

# Where the models stand inside the teacher's folder.
INNER = "models"


@dataclass(frozen=True)
class WordsTeacher:
    """A baseline's models of all labels, of which `card` names those that are asked for; the encoder stays unread."""

    card: Card
    scorer: BaselineScorer

    @property
    def labels(self) -> tuple[str, ...]:
        """The label names."""
        return self.card.labels

    def only(self, labels: Sequence[str]) -> WordsTeacher:
        """Give the models of just these labels; if one class is right, all of them."""
        if self.card.one_class or tuple(labels) == self.labels:
            return self
        wanted = {self.scorer.labels.index(label) for label in labels}
        parts = tuple(part for part in self.scorer.parts if wanted & set(part.columns))
        return replace(self, card=self.card.only(labels), scorer=replace(self.scorer, parts=parts))

    def identity(self) -> dict[str, str]:
        """Give every label the hash of its model."""
        models: list[object] = []
        for label in self.labels:
            column = self.scorer.labels.index(label)
            [part] = [part for part in self.scorer.parts if column in part.columns]
            models.append([part.digest, part.columns.index(column)] if part.model else [])
        return self.card.identity(models)

    def predict_proba(self, texts: Sequence[str]) -> Floats:
        """Give probabilities [texts, labels]."""
        columns = [self.scorer.labels.index(label) for label in self.labels]
        return self.scorer.predict_proba(texts)[:, columns]

    def save(self, folder: Path) -> None:
        """Write the models and the card."""
        (folder / INNER).mkdir()
        self.scorer.save(folder / INNER)
        self.card.save(folder, {})

    @staticmethod
    def load(folder: Path, root: Path = Path()) -> WordsTeacher:
        """Read what `save` wrote."""
        return WordsTeacher(read_card(folder, root)[0], BaselineScorer.load(folder / INNER))


def teach_words(kind: str, lessons: Lessons) -> Taught:
    """Train a kind of baseline on all rows, and for each fold on the others, to hear what it says of rows unseen."""

    def trained(rows: Dataset) -> Trained:
        return train_baseline(kind, rows, lessons.config, lessons.store, lessons.made_with, lessons.force)

    train, folds = lessons.train, lessons.prepared.folds
    # In the order of the texts: that of the files changes when a category is added, and models would be trained anew.
    ordered = np.array(sorted(range(len(train)), key=lambda row: train.texts[row]), dtype=np.intp)
    whole = trained(train.take(ordered))
    unseen = np.full(train.labels.shape, np.nan, dtype=np.float32)
    for fold in lessons.folds:
        without = trained(train.take(ordered[folds[ordered] != fold]))
        mine = np.flatnonzero(folds == fold)
        unseen[mine] = without.scorer.predict_proba([train.texts[row] for row in mine])
        if not without.scorer.one_class:
            for name in without.skipped.keys() - whole.skipped.keys():
                unseen[mine, train.names.index(name)] = np.nan
    thresholds = lessons.thresholds(whole.scorer.predict_proba(lessons.tuning.texts))
    teacher = WordsTeacher(lessons.card(kind, thresholds), whole.scorer)
    models = [part for part in whole.scorer.parts if part.model]
    chosen: dict[str, object] = {
        "+".join(train.names[column] for column in part.columns): part.model.about() for part in models if part.model
    }
    return Taught(teacher, unseen, whole.skipped, len(models) * (1 + len(lessons.folds)), chosen)
