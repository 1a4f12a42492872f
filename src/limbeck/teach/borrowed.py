"""Another project's teacher as it is: a specialist beside a generalist, or one that others have taught."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from limbeck.errors import BadSetting, Place
from limbeck.scorer import Floats
from limbeck.teach.card import FILE_NAME, Card, read_card
from limbeck.teach.lessons import Lessons, Taught, Teacher

# Where it stands inside its borrower's folder.
INNER = "borrowed"


@dataclass(frozen=True)
class BorrowedTeacher:
    """A teacher with other labels, or in another order; a label that it doesn't know gets its known rate."""

    card: Card
    teacher: Teacher

    @property
    def labels(self) -> tuple[str, ...]:
        """The label names."""
        return self.card.labels

    def only(self, labels: Sequence[str]) -> BorrowedTeacher:
        """Give a teacher of just these labels; if one class is right, the whole teacher."""
        if self.card.one_class or tuple(labels) == self.labels:
            return self
        known = [label for label in labels if label in self.teacher.labels]
        return replace(self, card=self.card.only(labels), teacher=self.teacher.only(known) if known else self.teacher)

    def identity(self) -> dict[str, str]:
        """Give every label the hash that its teacher gives it."""
        told = self.teacher.identity()
        return self.card.identity([[told[label]] if label in told else [] for label in self.labels])

    def predict_proba(self, texts: Sequence[str]) -> Floats:
        """Give probabilities [texts, labels]."""
        theirs = self.teacher.predict_proba(texts)
        proba = np.tile(np.array(self.card.rates), (len(texts), 1))
        for column, label in enumerate(self.labels):
            if label in self.teacher.labels:
                proba[:, column] = theirs[:, self.teacher.labels.index(label)]
        return self.card.finish(proba)

    def save(self, folder: Path) -> None:
        """Write the teacher into a folder of its own, and the card."""
        (folder / INNER).mkdir()
        self.teacher.save(folder / INNER)
        self.card.save(folder, {})


def is_teacher(folder: Path) -> bool:
    """Say whether a folder holds a teacher of ours."""
    return (folder / FILE_NAME).is_file()


def teach_borrowed(lessons: Lessons, teacher: Teacher) -> Taught:
    """Take another project's teacher; only thresholds are learnt.

    It may have learnt any of this project's rows, so of training rows it says nothing (NaN).
    """
    names = lessons.train.names
    if not set(names) & set(teacher.labels):
        raise BadSetting(
            f"None of the teacher's labels ({', '.join(teacher.labels[:8])}) is a category ({', '.join(names[:8])}).",
            "Name the teacher of a project with the same categories.",
            Place(lessons.root / lessons.config.teach.folder),
        )
    halves = np.full(len(names), 0.5)
    draft = BorrowedTeacher(lessons.card("folder", halves, teacher.card.encoder), teacher)
    limits = lessons.thresholds(draft.predict_proba(lessons.tuning.texts))
    unseen = np.full((len(lessons.train), len(names)), np.nan, dtype=np.float32)
    skipped = {name: "the teacher has no such label" for name in names if name not in teacher.labels}
    return Taught(replace(draft, card=replace(draft.card, thresholds=limits)), unseen, skipped, 0, {})


def load_borrowed(folder: Path, root: Path, teacher: Teacher) -> BorrowedTeacher:
    """Read what `save` wrote, around the teacher that stands inside."""
    return BorrowedTeacher(read_card(folder, root)[0], teacher)
