"""From an NER project's files to what training reads: sentences, folds, the two halves of dev, test."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from limbeck.config import Config, Project
from limbeck.data.annotated import annotated_file
from limbeck.data.conll import CONLL_ENDINGS, read_conll
from limbeck.data.sentences import Sentence, by_rule, count_types, without_other_types
from limbeck.data.spans import SPAN_ENDINGS, read_spans
from limbeck.data.splits import assign_folds, without_texts_of
from limbeck.errors import FileEmpty, Place, TooFewRows
from limbeck.text import normalise

Reader = Callable[[Path, int, tuple[str, ...]], list[Sentence]]
READERS: dict[str, Reader] = {
    **dict.fromkeys(CONLL_ENDINGS, read_conll),
    **dict.fromkeys(SPAN_ENDINGS, read_spans),
}


@dataclass(frozen=True)
class TaggedCorpus:
    """The sentences of an NER project, with the types that training knows."""

    train: list[Sentence]
    dev: list[Sentence]
    test: list[Sentence]
    types: tuple[str, ...]


@dataclass(frozen=True)
class PreparedSentences:
    """What the later steps read of an NER project; `folds` and `halves` as in `Prepared`."""

    train: list[Sentence]
    folds: NDArray[np.int8]
    dev: list[Sentence]
    halves: NDArray[np.int8]
    test: list[Sentence]
    types: tuple[str, ...]
    overlap_train: int = 0
    overlap_dev: int = 0

    def dev_half(self, half: int) -> list[Sentence]:
        """Give the sentences of one half of dev."""
        return [sentence for sentence, mine in zip(self.dev, self.halves, strict=True) if mine == half]

    def save(self, folder: Path) -> None:
        """Write all parts into `folder`."""
        for name, sentences in (("train", self.train), ("dev", self.dev), ("test", self.test)):
            rows = [{"tokens": s.tokens, "tags": s.tags, "line": s.line, "raw": s.raw} for s in sentences]
            (folder / f"{name}.json").write_text(json.dumps(rows, ensure_ascii=False), encoding="utf-8")
        (folder / "types.json").write_text(json.dumps(self.types), encoding="utf-8")
        np.save(folder / "folds.npy", self.folds)
        np.save(folder / "halves.npy", self.halves)

    @staticmethod
    def load(folder: Path) -> PreparedSentences:
        """Read what `save` wrote."""

        def sentences(name: str) -> list[Sentence]:
            rows = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
            return [Sentence(tuple(r["tokens"]), tuple(r["tags"]), r["line"], r["raw"]) for r in rows]

        return PreparedSentences(
            sentences("train"),
            np.load(folder / "folds.npy"),
            sentences("dev"),
            np.load(folder / "halves.npy"),
            sentences("test"),
            tuple(json.loads((folder / "types.json").read_text(encoding="utf-8"))),
        )


def tagged_files(paths: list[Path]) -> list[Path]:
    """Replace folders by the files with entities inside them, sorted by name."""
    files: list[Path] = []
    for path in paths:
        inside = (
            sorted(f for f in path.iterdir() if f.suffix in READERS and f.name[0] != ".") if path.is_dir() else [path]
        )
        if not inside:
            raise FileEmpty(f"The folder {path} has no file of {', '.join(READERS)}.", "Put some in it.", Place(path))
        files += inside
    return files


def read_tagged(project: Project) -> TaggedCorpus:
    """Read and check a project's files; a type that is not wanted is an error, or O if those are ignored.

    Words are those of the one rule by which plain text is cut, too. What annotators said of a sentence goes before what
    the files say.
    """
    data = project.config.data
    ignore = data.unknown_labels == "ignore"
    wanted = tuple(data.categories)

    def read(names: list[str], types: tuple[str, ...]) -> list[Sentence]:
        found: list[Sentence] = []
        for file in tagged_files([project.path(name) for name in names if name]):
            reader = READERS.get(file.suffix.lower(), read_conll)
            found += map(by_rule, reader(file, data.max_line_bytes, () if ignore else types))
        return [without_other_types(s, types) for s in found] if ignore and types else found

    train = read(data.labels, wanted)
    if annotated := annotated_file(project):
        said = read([str(annotated.resolve())], wanted)
        settled = {sentence.text for sentence in said}
        train = [*(sentence for sentence in train if sentence.text not in settled), *said]
    types = wanted or tuple(sorted(count_types(train)))
    return TaggedCorpus(train, read([data.dev], types), read([data.test], types), types)


def prepare_sentences(corpus: TaggedCorpus, config: Config) -> PreparedSentences:
    """Split a corpus; sentences that also stand in a set further from training leave the nearer one."""

    def kept(sentences: list[Sentence], others: list[Sentence], what: str, least: int) -> list[Sentence]:
        stay = without_texts_of([s.text for s in sentences], [s.text for s in others])
        left = [s for s, keep in zip(sentences, stay, strict=True) if keep]
        if len({normalise(s.text) for s in left}) < least:
            lost = f"{len(sentences) - len(left)} of {len(sentences)} also stand in a later set"
            raise TooFewRows(f"Too few sentences are left for {what}; {lost}.", "Add sentences.")
        return left

    dev = kept(corpus.dev, corpus.test, "dev", 2)
    train = kept(corpus.train, corpus.dev + corpus.test, "training", config.split.folds)
    return PreparedSentences(
        train=train,
        folds=_sentence_folds(train, corpus.types, config.split.folds, config.seed),
        dev=dev,
        halves=_sentence_folds(dev, corpus.types, 2, config.seed),
        test=corpus.test,
        types=corpus.types,
        overlap_train=len(corpus.train) - len(train),
        overlap_dev=len(corpus.dev) - len(dev),
    )


def _sentence_folds(sentences: Sequence[Sentence], types: Sequence[str], folds: int, seed: int) -> NDArray[np.int8]:
    """Give each sentence its fold, stratified by the entity types that occur in it."""
    found = [{kind for _, _, kind in s.entities()} for s in sentences]
    occurs = np.array([[kind in kinds for kind in types] for kinds in found], dtype=np.float32)
    return assign_folds([s.text for s in sentences], occurs.reshape(len(sentences), len(types)), folds, seed)
