"""Near copies: found as an exact count of shingles finds them, the first stays, in memory and time that stay small."""

import random
from functools import cache

import numpy as np
import pytest

from limbeck.data import near
from limbeck.data.near import SHINGLE, Signatures, count_near, near_copies
from limbeck.text import normalise


@cache
def shingles(text):
    key = normalise(text).ljust(SHINGLE)
    return {key[at : at + SHINGLE] for at in range(len(key) - SHINGLE + 1)}


def likeness(a, b):
    both = len(shingles(a) & shingles(b))
    return both / (len(shingles(a)) + len(shingles(b)) - both)


def found(tmp_path, texts, limit, **kwargs):
    with Signatures(tmp_path / "signatures") as signatures:
        signatures.add(texts)
        copies = near_copies(signatures, limit, **kwargs)
    assert not (tmp_path / "signatures").exists()
    return copies


def feedback(count, seed=0):
    """Make texts of twelve made-up words, and for every third a near copy of an earlier one, up to four words changed."""
    rng = random.Random(seed)
    words = ["".join(rng.choices("abdegilmnoprstu", k=rng.randint(2, 9))) for _ in range(3000)]
    texts = []
    for row in range(count):
        told = rng.choices(words, k=12) if row % 3 or not texts else rng.choice(texts).split()
        for _ in range(0 if row % 3 else rng.randint(0, 4)):
            told[rng.randrange(12)] = rng.choice(words)
        texts.append(" ".join(told))
    return texts


def test_a_likeness_is_the_share_of_shingles_within_chance(tmp_path):
    texts = feedback(1500)
    copies = found(tmp_path, texts, 0.5)
    pairs = [(row, int(of)) for row, of in enumerate(copies.of) if of >= 0]
    off = np.array([copies.likeness[row] - likeness(texts[row], texts[of]) for row, of in pairs])
    assert len(pairs) > 200 and abs(off.mean()) < 0.02 and off.std() < 0.05


@pytest.mark.parametrize("limit", [0.6, 0.8])
def test_nearly_every_clear_copy_is_found_and_nothing_clearly_different(tmp_path, limit):
    texts = feedback(600, seed=1)
    copies = found(tmp_path, texts, limit)
    clear = missed = 0
    for row, text in enumerate(texts):
        nearest = max((likeness(text, texts[of]) for of in range(row) if copies.of[of] < 0), default=0)
        clear += nearest >= limit + 0.1
        missed += nearest >= limit + 0.1 and copies.of[row] < 0
        assert copies.of[row] < 0 or likeness(text, texts[copies.of[row]]) > limit - 0.15
    assert clear > 30 and missed <= 0.01 * clear


def test_the_first_stays_and_no_copy_has_copies(tmp_path):
    texts = feedback(900, seed=2)
    copies = found(tmp_path, texts, 0.6)
    rows = np.flatnonzero(copies.of >= 0)
    assert (copies.of[rows] < rows).all() and (copies.of[copies.of[rows]] == -1).all()


def test_thousands_of_copies_of_one_text_leave_one(tmp_path):
    texts = [
        f"Your booking was confirmed and we wish you a pleasant journey to the coast, number {n}" for n in range(5000)
    ]
    copies = found(tmp_path, texts, 0.8)
    assert (copies.of == -1).sum() <= 5 and copies.of[0] == -1


def test_texts_alike_but_for_case_and_punctuation_are_near_at_any_limit_and_short_ones_are_whole(tmp_path):
    copies = found(tmp_path, ["Late again!", "late AGAIN", "ok", "OK.", "no", "", "!!!", "???"], 1.0)
    assert copies.of.tolist() == [-1, 0, -1, 2, -1, -1, -1, -1]


def test_the_order_may_be_another_and_some_always_stay(tmp_path):
    texts = ["the train was late again", "The train was late again!", "the train was late, again"]
    assert found(tmp_path, texts, 0.8, order=np.array([2, 0, 1])).of.tolist() == [2, 2, -1]
    assert found(tmp_path, texts, 0.8, stay=np.array([1])).of.tolist() == [-1, -1, 0]


def test_signatures_are_the_same_however_texts_are_batched(tmp_path, monkeypatch):
    texts = [*feedback(200), "ä" * 3, "\U0001f600 " * 9]
    whole = found(tmp_path, texts, 0.6)
    monkeypatch.setattr(near, "_CHARACTERS", 50)
    assert found(tmp_path, texts, 0.6).of.tolist() == whole.of.tolist()
    assert count_near(texts, 0.6) == (whole.of >= 0).sum() > 0


def test_no_texts_have_no_copies(tmp_path):
    assert found(tmp_path, [], 0.8).of.tolist() == []
