"""From a project's files to what training reads: merged rows, folds, the two halves of dev, test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from limbeck.config import Config, Project
from limbeck.data.annotated import annotated_file
from limbeck.data.dataset import Dataset
from limbeck.data.merge import Conflict, Merged, read_dataset
from limbeck.data.shapes import labelled_files
from limbeck.data.splits import assign_folds, assign_halves, settle, without_texts_of
from limbeck.data.tables import load_dataset, save_dataset
from limbeck.data.tagged import tagged_files
from limbeck.errors import Place, TooFewRows
from limbeck.text import Cleaner, normalise


@dataclass(frozen=True)
class Prepared:
    """Everything that the later steps read of a classification project.

    `folds` gives each row of `train` its fold; `halves` each row of `dev` TUNING or JUDGING.
    """

    train: Dataset
    folds: NDArray[np.int8]
    dev: Dataset
    halves: NDArray[np.int8]
    test: Dataset | None

    def dev_half(self, half: int) -> Dataset:
        """Give the rows of one half of dev."""
        return self.dev.take(np.flatnonzero(self.halves == half))

    def save(self, folder: Path) -> None:
        """Write all parts into `folder`."""
        save_dataset(self.train, folder / "train.parquet")
        save_dataset(self.dev, folder / "dev.parquet")
        if self.test is not None:
            save_dataset(self.test, folder / "test.parquet")
        np.save(folder / "folds.npy", self.folds)
        np.save(folder / "halves.npy", self.halves)

    @staticmethod
    def load(folder: Path) -> Prepared:
        """Read what `save` wrote."""
        test = folder / "test.parquet"
        return Prepared(
            train=load_dataset(folder / "train.parquet"),
            folds=np.load(folder / "folds.npy", allow_pickle=False),
            dev=load_dataset(folder / "dev.parquet"),
            halves=np.load(folder / "halves.npy", allow_pickle=False),
            test=load_dataset(test) if test.exists() else None,
        )


@dataclass(frozen=True)
class Preparation:
    """Prepared data and what was noticed on the way."""

    prepared: Prepared
    rows_read: int
    empty_texts: int
    conflicts: tuple[Conflict, ...]
    overlap_train: int
    overlap_dev: int


@dataclass(frozen=True)
class Corpus:
    """The files of a project as they are read, before anything is split."""

    train: Merged
    dev: Merged
    test: Merged | None


def input_files(project: Project) -> list[Path]:
    """List the labelled files that the configuration names, folders replaced by what is in them, and annotators'."""
    data = project.config.data
    named = [project.path(name) for name in [*data.labels, data.dev, data.test] if name]
    annotated = annotated_file(project)
    named += [annotated] if annotated else []
    return tagged_files(named) if project.config.task == "ner" else labelled_files(named)


def read_corpus(project: Project) -> Corpus:
    """Read and merge training, dev and test files; dev and test may only use training's categories."""
    config = project.config
    cleaner = Cleaner(tuple(config.text.clean))
    named = [project.path(p) for p in config.data.labels]
    train = read_dataset(named, config.task, config.data, cleaner, over=annotated_file(project))
    names = train.dataset.names
    dev = read_dataset([project.path(config.data.dev)], config.task, config.data, cleaner, names, True, judges=True)
    test = None
    if config.data.test:
        paths = [project.path(config.data.test)]
        test = read_dataset(paths, config.task, config.data, cleaner, names, True, judges=True)
    return Corpus(train, dev, test)


def prepare(corpus: Corpus, config: Config, before: Sequence[Prepared] = ()) -> Preparation:
    """Split a corpus; rows that also stand in a set further from training leave the nearer one.

    Texts that stood in one of `before`, newest first, keep their fold and half.
    """
    train, dev = corpus.train.dataset, corpus.dev.dataset
    test = corpus.test.dataset if corpus.test else None
    beyond_dev = test.texts if test else []
    kept_dev = dev.take(np.flatnonzero(without_texts_of(dev.texts, beyond_dev)))
    kept_train = train.take(np.flatnonzero(without_texts_of(train.texts, [*dev.texts, *beyond_dev])))
    _check_enough("dev", kept_dev, len(dev), 2, "test")
    _check_enough("training", kept_train, len(train), config.split.folds, "dev or test")
    folds: dict[str, int] = {}
    halves: dict[str, int] = {}
    for earlier in reversed(before):
        folds |= settle(earlier.train.texts, earlier.folds)
        halves |= settle(earlier.dev.texts, earlier.halves)
    prepared = Prepared(
        train=kept_train,
        folds=assign_folds(
            kept_train.texts, kept_train.labels, config.split.folds, config.seed, kept_train.sources, folds
        ),
        dev=kept_dev,
        halves=assign_halves(kept_dev.texts, kept_dev.labels, config.seed, kept_dev.sources, halves),
        test=test,
    )
    merged = [part for part in (corpus.train, corpus.dev, corpus.test) if part]
    return Preparation(
        prepared=prepared,
        rows_read=sum(part.rows_read for part in merged),
        empty_texts=sum(len(part.empty_texts) for part in merged),
        conflicts=tuple(conflict for part in merged for conflict in part.conflicts),
        overlap_train=len(train) - len(kept_train),
        overlap_dev=len(dev) - len(kept_dev),
    )


def _check_enough(what: str, kept: Dataset, before: int, least: int, others: str) -> None:
    """Raise if too little is left of a set to split it, and say how much the overlap with `others` took."""
    place = Place(kept.files[0].parent if len(kept.files) > 1 else kept.files[0]) if kept.files else None
    distinct = len({normalise(text) for text in kept.texts})
    if distinct < least:
        lost = f" after {before - len(kept)} of {before} rows were left out that also stand in {others}" * (
            before > len(kept)
        )
        raise TooFewRows(
            f"The {what} set has {distinct} distinct texts{lost}; at least {least} are needed.",
            "Add rows, or use different texts for each set.",
            place,
        )
    if not (~np.isnan(kept.labels)).any():
        raise TooFewRows(f"No label of the {what} set is known.", "Fill in its labels.", place)
