"""What all students of a project learn from: labelled rows, selected texts of the pool, and the teacher itself."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray
from safetensors.torch import load_file

from limbeck.config import Config
from limbeck.data.dataset import Dataset
from limbeck.data.prepare import Prepared
from limbeck.data.splits import TUNING
from limbeck.distill.cross import crossed
from limbeck.pseudo.buckets import read_labels
from limbeck.pseudo.confidence import Rule
from limbeck.pseudo.scores import score_texts
from limbeck.pseudo.select import LABELLED, SELECTED, THRESHOLDS
from limbeck.scorer import Floats, Scorer
from limbeck.store import Store, content_of, key_of
from limbeck.teach.blend import BlendTeacher
from limbeck.teach.borrowed import BorrowedTeacher
from limbeck.teach.calibrate import CalibratedTeacher, load_calibrated
from limbeck.teach.fine_tuned import FineTunedTeacher
from limbeck.teach.kinds import load_teacher
from limbeck.teach.lessons import Teacher
from limbeck.teach.network import Encoder
from limbeck.teach.words import WordsTeacher
from limbeck.text import normalise

MADE_UP_KIND = "tasks/made-up"
MADE_UP = "made up"
# So many for each text of the pool, at most: more of the same pieces teach little.
MOST_MADE_UP = 3
# The fold whose rows a student doesn't learn, so that its training can be watched on them.
WATCHED = 0


# Settings by which teachers are made and guesses selected.
MAKING = ("split", "encoder", "adapt", "teach", "probe", "train", "calibrate", "pseudo")


@dataclass(frozen=True)
class Course:
    """The results that distillation reads, and where finished students are kept."""

    prepared: Prepared
    config: Config
    teach: Path
    select: Path
    root: Path
    store: Store
    made_with: Mapping[str, object]
    force: bool = False
    calibrate: Path | None = None
    # Makes a teacher faster where it has many texts to score.
    faster: Callable[[Teacher | CalibratedTeacher], Scorer] = lambda teacher: teacher

    @property
    def train(self) -> Dataset:
        """The labelled rows."""
        return self.prepared.train

    @property
    def tuning(self) -> Dataset:
        """The half of dev that may tune."""
        return self.prepared.dev_half(TUNING)

    @property
    def seen(self) -> NDArray[np.intp]:
        """The labelled rows that students learn."""
        return np.flatnonzero(self.prepared.folds != WATCHED)

    @property
    def watched(self) -> NDArray[np.intp]:
        """The labelled rows that students are watched on."""
        return np.flatnonzero(self.prepared.folds == WATCHED)

    @cached_property
    def pool(self) -> Dataset:
        """The selected texts, with the teacher's probabilities in the place of labels; NaN is unknown."""
        names = self.train.names
        _, guesses = read_labels(self.select / SELECTED, names)
        table = pq.read_table(self.select / SELECTED, columns=["text", "source"])
        return Dataset(table.column("text").to_pylist(), guesses, names, table.column("source").to_pylist())

    @cached_property
    def made_up(self) -> Dataset:
        """As many texts as a small pool lacks, made up of its own, with the teacher's guesses that are certain enough.

        They are kept for the next student.
        """
        pool, names = self.pool, self.train.names
        wanted = min(max(0, self.config.distill.enough - len(pool)), MOST_MADE_UP * len(pool))
        if wanted == 0:
            return pool.take([])
        about = {
            "selected": self.content["selected"],
            "teacher": self.content["teacher"],
            "calibration": content_of(self.calibrate) if self.calibrate else "",
            "wanted": wanted,
            "seed": self.config.seed,
            "scoring": self.config.pseudo.scoring,
            "made_with": dict(self.made_with),
        }
        key = key_of(about)
        if self.force or not self.store.intact(MADE_UP_KIND, key):
            texts = crossed(pool.texts, wanted, self.config.seed)
            teacher = load_calibrated(self.teach, self.calibrate, self.root)
            guesses = score_texts(self.faster(teacher), names, texts)
            with self.store.write(MADE_UP_KIND, key, about) as folder:
                (folder / "texts.json").write_text(json.dumps(texts), encoding="utf-8")
                np.save(folder / "guesses.npy", guesses.astype(np.float16))
        folder = self.store.folder(MADE_UP_KIND, key)
        texts = json.loads((folder / "texts.json").read_text(encoding="utf-8"))
        guesses = np.load(folder / "guesses.npy", allow_pickle=False).astype(np.float32)
        guesses[:, np.isnan(pool.labels).all(axis=0)] = np.nan
        rule = Rule.of(self.config.pseudo, names, self.thresholds.astype(np.float64), self.config.task == "multiclass")
        judged = rule.judge(guesses)
        stay = np.flatnonzero(rule.stays(judged))
        certain = guesses if rule.one_class else np.where(judged.certain, guesses, np.float32(np.nan))
        return Dataset([texts[row] for row in stay], certain[stay], names, [MADE_UP] * len(stay))

    @cached_property
    def labelled_guesses(self) -> Floats:
        """What the teacher believes of labelled rows that it didn't see [rows, labels], also where labels are known."""
        found: Floats = np.load(self.select / LABELLED, allow_pickle=False)
        return found

    @property
    def guessed(self) -> NDArray[np.intp]:
        """The labelled rows that the teacher has any guess about."""
        return np.flatnonzero(~np.isnan(self.labelled_guesses).all(axis=1))

    @cached_property
    def thresholds(self) -> Floats:
        """Where the teacher's probabilities become decisions."""
        told = json.loads((self.select / THRESHOLDS).read_text(encoding="utf-8"))
        return np.array(told["thresholds"], dtype=np.float32)

    @cached_property
    def teacher(self) -> Teacher:
        """The teacher, uncalibrated."""
        return load_teacher(self.teach, self.root, self.store)

    def taught_encoder(self) -> Encoder:
        """Give the encoder as it was after teaching; of several networks, the first."""
        return taught_encoder(self.teacher)

    @cached_property
    def judges(self) -> list[str]:
        """Hashes of the texts that judge, dev's and test's, which no student may learn."""
        test = self.prepared.test.texts if self.prepared.test else []
        return sorted({key_of(normalise(text)) for text in [*self.prepared.dev.texts, *test]})

    @cached_property
    def origin(self) -> dict[str, Any]:
        """What all of this comes from: a hash of the settings that make teachers and selections, one of each label."""
        settings = {name: getattr(self.config, name).model_dump() for name in MAKING}
        settings["train"].pop("checkpoint_seconds")
        rows, columns = np.nonzero(~np.isnan(self.train.labels))
        return {
            "made_of": key_of([settings, dict(self.made_with)]),
            "labels": [
                key_of([self.train.texts[row], self.train.names[column], int(self.train.labels[row, column])])
                for row, column in zip(rows.tolist(), columns.tolist(), strict=True)
            ],
        }

    @cached_property
    def content(self) -> dict[str, str]:
        """Hashes of everything that is learnt here."""
        train, tuning = self.train, self.tuning
        return {
            "rows": _hash_of(train),
            "folds": key_of(self.prepared.folds.tolist()),
            "dev": _hash_of(tuning),
            "teacher": content_of(self.teach),
            "selected": content_of(self.select),
        }


def taught_encoder(teacher: Teacher) -> Encoder:
    """Give a teacher's encoder; of a blend, that of the part with the highest weight among those that read with one."""
    if isinstance(teacher, BlendTeacher):
        reading = [not isinstance(part, WordsTeacher) for part in teacher.teachers]
        return taught_encoder(teacher.teachers[int(np.argmax(np.array(teacher.weights) + reading))])
    if isinstance(teacher, BorrowedTeacher):
        return taught_encoder(teacher.teacher)
    encoder = Encoder(teacher.card.encoder.folder)
    # Networks that know one category each have gone separate ways; none of them speaks for all.
    if isinstance(teacher, FineTunedTeacher) and teacher.members and teacher.card.kind == "partial":
        weights = load_file(teacher.members[0].weights)
        mine = {name.removeprefix("encoder."): t for name, t in weights.items() if name.startswith("encoder.")}
        encoder.load_state_dict(mine, strict=False)
    return encoder


def _hash_of(rows: Dataset) -> str:
    said = [rows.texts, np.nan_to_num(rows.labels, nan=-1).tolist(), list(rows.names)]
    return key_of([*said, rows.weights.tolist()] if len(rows.weights) else said)
