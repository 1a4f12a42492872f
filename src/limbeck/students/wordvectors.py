"""Word vectors from files: GloVe and fastText as text, a matrix with a list of words, or JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import numpy as np

from limbeck.errors import DataError, FileMissing, Place
from limbeck.scorer import Floats

# Pieces of words that begin one are marked so.
START = "▁"


@dataclass(frozen=True)
class WordVectors:
    """Words and their vectors [words, width]; `pieces` says that the words are pieces, of which others are made."""

    words: dict[str, int]
    vectors: Floats
    pieces: bool = field(default=False)

    @property
    def width(self) -> int:
        """How many numbers a word has."""
        return int(self.vectors.shape[1])

    def find(self, word: str, inside: bool = False) -> Floats | None:
        """Look a word up, or with `inside` a part of one, with any capitals; what isn't there may be made of pieces."""
        for form in (word, word.lower(), word.capitalize(), word.upper()):
            for written in (form, START + form) if inside else (START + form, form):
                if written in self.words:
                    return self._at([self.words[written]])
        found = self._made_of(word if inside else START + word) if self.pieces and word else []
        return self._at(found) if found else None

    def _made_of(self, word: str) -> list[int]:
        """Cut a word into the longest pieces from the left; nothing if a part of it is no piece."""
        found: list[int] = []
        while word:
            for end in range(len(word), 0, -1):
                if word[:end] in self.words and word[:end] != START:
                    found.append(self.words[word[:end]])
                    word = word[end:]
                    break
            else:
                if not word.startswith(START) or len(word) == 1:
                    return []
                word = word.removeprefix(START)
        return found

    def _at(self, rows: list[int]) -> Floats:
        mean: Floats = np.asarray(self.vectors[rows], dtype=np.float32).mean(axis=0)
        return mean


def read_word_vectors(entry: str, root: Path) -> WordVectors:
    """Read one entry of students.vector_files: FILE.txt, FILE.vec, FILE.json, or NUMBERS.npy + WORDS."""
    name, _, words = (part.strip() for part in entry.partition("+"))
    file = _existing(root / name)
    if file.suffix == ".npy":
        if not words:
            raise DataError(
                f"{name} has numbers but no words.",
                'Name the list of words too: "NUMBERS.npy + WORDS.txt".',
                Place(file),
            )
        listed = _list_of_words(_existing(root / words))
        vectors = np.load(file, mmap_mode="r", allow_pickle=False)
        if vectors.ndim != 2 or len(vectors) != len(listed):
            raise DataError(
                f"{name} has the shape {vectors.shape}, but {words} lists {len(listed)} words.",
                "Use files that belong together.",
                Place(file),
            )
        return _checked(listed, vectors, file)
    if file.suffix == ".json":
        return _read_json(file)
    return _read_text(file)


def _existing(file: Path) -> Path:
    if not file.is_file():
        raise FileMissing(f"There is no file {file}.", "Check students.vector_files in limbeck.toml.", Place(file))
    return file


def _list_of_words(file: Path) -> list[str]:
    if file.suffix == ".parquet":
        import pyarrow.parquet as pq

        return [str(word) for word in pq.read_table(file).column(0).to_pylist()]
    return file.read_text(encoding="utf-8").rstrip("\n").split("\n")


def _checked(words: list[str], vectors: Floats, file: Path) -> WordVectors:
    if not len(words) or not np.isfinite(vectors[: min(len(vectors), 10_000)]).all():
        raise DataError("There are no usable word vectors here.", "Use another file.", Place(file))
    # In the order of the file, frequent words first as a rule; of a word that is there twice, the first counts.
    rows: dict[str, int] = {}
    for row, word in enumerate(words):
        rows.setdefault(word, row)
    marked = sum(word.startswith(START) for word in islice(rows, 1000))
    return WordVectors(rows, vectors, pieces=marked > 0)


def _read_json(file: Path) -> WordVectors:
    told = json.loads(file.read_text(encoding="utf-8"))
    entries = told.get("vectors", told)
    width = int(told.get("dimensions", 0)) or None
    words = [word for word, numbers in entries.items() if isinstance(numbers, list)]
    vectors = np.array([entries[word][:width] for word in words], dtype=np.float32)
    return _checked(words, vectors, file)


def _read_text(file: Path) -> WordVectors:
    words: list[str] = []
    rows: list[Floats] = []
    for number, (word, numbers) in enumerate(_lines(file), start=1):
        if number == 1 and numbers.isdigit():
            continue  # fastText's first line: how many words, how many numbers
        vector = np.fromstring(numbers, dtype=np.float32, sep=" ")
        if rows and len(vector) != len(rows[0]):
            raise DataError(
                f"'{word}' has {len(vector)} numbers, the words before it have {len(rows[0])}.",
                "Each line is a word and its numbers, separated by blanks.",
                Place(file, number),
            )
        words.append(word)
        rows.append(vector)
    if not rows or not len(rows[0]):
        raise DataError("There are no word vectors here.", "Each line is a word and its numbers.", Place(file))
    return _checked(words, np.stack(rows), file)


def _lines(file: Path) -> Iterator[tuple[str, str]]:
    with file.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            word, _, numbers = line.rstrip().partition(" ")
            if word:
                yield word, numbers
