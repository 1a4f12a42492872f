"""Where small taggers start: the words of vector files, the rare ones by groups of words that are alike."""

from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from limbeck.config import load_project
from limbeck.runtime.lexicon import WordList
from limbeck.tagging.start import SHARE, start_of

TOWNS, NAMES = (
    [f"town{a}{b}" for a in "abcdefgh" for b in "abcdefghij"],
    [f"mr{a}{b}" for a in "abcdefgh" for b in "klmnopqrst"],
)


@pytest.fixture
def course(tmp_path: Path):
    """Texts of a few words, and a file that knows many: towns point one way, names another."""
    rng = np.random.default_rng(0)
    words = ["late", "train", *TOWNS, *NAMES]
    far = {True: [5.0, 0, 0, 0], False: [0, 5.0, 0, 0]}
    vectors = np.stack([np.array(far[word in TOWNS]) + rng.normal(0, 0.1, 4) for word in words])
    lines = [f"{word} {' '.join(f'{number:.4f}' for number in v)}" for word, v in zip(words, vectors, strict=True)]
    (tmp_path / "vectors.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (tmp_path / "limbeck.toml").write_text('task = "ner"\n', encoding="utf-8")

    def made(**settings: object):
        told = {"vectors": '"files"', "vector_files": '["vectors.txt"]', "vocabulary": "100"} | settings
        config = load_project(tmp_path, [f"students.{name}={value}" for name, value in told.items()]).config
        # A list of at least a hundred words would hold all of them.
        config = config.model_copy(update={"students": config.students.model_copy(update={"vocabulary": 6})})
        return SimpleNamespace(
            config=config,
            root=tmp_path,
            sentences=[["late", "train", "to", "Townaa"]],
            remembered=lambda kind, about, make: make(),
        )

    return made


def test_rare_words_share_the_vector_of_words_that_are_alike(course):
    start = start_of(course())
    found = WordList(start.told)
    numbers = Counter(found(word)[0] for word in (*TOWNS[5:], *NAMES))
    groups = (len(TOWNS) + len(NAMES)) // SHARE
    assert found.unknown not in numbers and 2 <= len(numbers) <= groups + 6 and len(start.vectors) <= 6 + groups
    assert not {found(word)[0] for word in TOWNS} & {found(word)[0] for word in NAMES}
    town = start.vectors[found("TOWNHJ")[0]]
    assert town[0] > 5 * abs(town[1])


def test_each_number_has_a_vector_and_frequent_words_have_their_own(course):
    start = start_of(course())
    found = WordList(start.told)
    highest = max(found(word)[0] for word in (*TOWNS, *NAMES))
    assert len(start.vectors) == highest + 1
    assert found("townaa")[0] < 6 and found("late") != found("train")


def test_without_shared_words_the_others_are_unknown(course):
    found = WordList(start_of(course(shared_words=0)).told)
    assert found("townaa")[0] != found.unknown and found(NAMES[-1])[0] == found.unknown
