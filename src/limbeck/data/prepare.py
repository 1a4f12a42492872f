"""From a project's files to what training reads: merged rows, folds, the two halves of dev, test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from limbeck.config import Config, Project
from limbeck.data.conll import Sentence, read_conll
from limbeck.data.dataset import Dataset
from limbeck.data.merge import Conflict, Merged, read_dataset
from limbeck.data.splits import assign_folds, assign_halves, without_texts_of
from limbeck.data.tables import load_dataset, save_dataset
from limbeck.text import Cleaner


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
    """List the labelled files and folders' paths that the configuration names."""
    data = project.config.data
    return [project.path(name) for name in [*data.labels, data.dev, data.test] if name]


def read_corpus(project: Project) -> Corpus:
    """Read and merge training, dev and test files; dev and test may only use training's categories."""
    config = project.config
    cleaner = Cleaner(tuple(config.text.clean))
    train = read_dataset([project.path(p) for p in config.data.labels], config.task, config.data, cleaner)
    names = train.dataset.names
    dev = read_dataset([project.path(config.data.dev)], config.task, config.data, cleaner, names, keep_repeats=True)
    test = None
    if config.data.test:
        paths = [project.path(config.data.test)]
        test = read_dataset(paths, config.task, config.data, cleaner, names, keep_repeats=True)
    return Corpus(train, dev, test)


def prepare(corpus: Corpus, config: Config) -> Preparation:
    """Split a corpus; rows that also stand in a set further from training leave the nearer one."""
    train, dev = corpus.train.dataset, corpus.dev.dataset
    test = corpus.test.dataset if corpus.test else None
    beyond_dev = test.texts if test else []
    kept_dev = dev.take(np.flatnonzero(without_texts_of(dev.texts, beyond_dev)))
    kept_train = train.take(np.flatnonzero(without_texts_of(train.texts, [*dev.texts, *beyond_dev])))
    prepared = Prepared(
        train=kept_train,
        folds=assign_folds(kept_train.texts, kept_train.labels, config.split.folds, config.seed, kept_train.sources),
        dev=kept_dev,
        halves=assign_halves(kept_dev.texts, kept_dev.labels, config.seed, kept_dev.sources),
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


@dataclass(frozen=True)
class TaggedCorpus:
    """The sentences of an NER project, with the types that training knows."""

    train: list[Sentence]
    dev: list[Sentence]
    test: list[Sentence]
    types: tuple[str, ...]


def read_tagged(project: Project) -> TaggedCorpus:
    """Read and check a project's CoNLL files; dev and test may only use training's types."""
    data = project.config.data
    train = [
        s for name in data.labels for s in read_conll(project.path(name), data.max_line_bytes, tuple(data.categories))
    ]
    types = tuple(data.categories) or tuple(sorted({kind for s in train for _, _, kind in s.entities()}))
    allowed = () if data.unknown_labels == "ignore" else types

    def read(name: str) -> list[Sentence]:
        return read_conll(project.path(name), data.max_line_bytes, allowed) if name else []

    return TaggedCorpus(train, read(data.dev), read(data.test), types)


def sentence_folds(sentences: Sequence[Sentence], types: Sequence[str], folds: int, seed: int) -> NDArray[np.int8]:
    """Give each sentence its fold, stratified by the entity types that occur in it."""
    occurs = np.array(
        [[any(kind == t for _, _, kind in s.entities()) for t in types] for s in sentences], dtype=np.float32
    )
    return assign_folds(
        [" ".join(s.tokens) for s in sentences], occurs.reshape(len(sentences), len(types)), folds, seed
    )
