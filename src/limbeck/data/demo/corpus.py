"""The whole demo corpus in memory."""

import random
from dataclasses import dataclass, replace

from limbeck.data.demo.compose import Comment
from limbeck.data.demo.curation import curate
from limbeck.data.demo.keys import KeySet
from limbeck.data.demo.mixes import HARD, NATURAL, TEST, Mix, draw
from limbeck.data.demo.noise import slip

DEV_ROWS = 800
TEST_ROWS = 1313
# Some people send the same message twice, retyped.
_SENT_AGAIN = 0.01


@dataclass(frozen=True, slots=True)
class Corpus:
    """All parts of the corpus; the pool knows its labels too, although they are not written to disk.

    Attributes:
        labelled: For each category its rows, a text with the true label of this category.
        dev_hard: The first half of the dev side, rich in near misses and unseen wordings.
        dev_random: The second half, natural like the pool.
    """

    labelled: dict[str, list[tuple[Comment, bool]]]
    pool: list[Comment]
    dev_hard: list[Comment]
    dev_random: list[Comment]
    test: list[Comment]


def generate(seed: int = 0, pool_rows: int = 20_000, scale: float = 0.1) -> Corpus:
    """Generate the corpus; equal arguments give equal texts on every machine.

    No text of dev or test occurs on another side, not even with other case, punctuation or white space.

    Args:
        seed: Any integer.
        pool_rows: Unlabelled rows.
        scale: The size of the labelled files, as a share of the study that they imitate (see `curation`).
    """
    if pool_rows < 0 or scale <= 0:
        raise ValueError(f"pool_rows must not be negative and scale must be above 0, got {pool_rows} and {scale}")
    held_out = KeySet()
    dev_rng, test_rng = _stream(seed, "dev"), _stream(seed, "test")
    dev_hard = _draw_new(HARD, DEV_ROWS // 2, held_out, dev_rng)
    dev_random = _draw_new(NATURAL, DEV_ROWS - DEV_ROWS // 2, held_out, dev_rng)
    test = _draw_new(TEST, TEST_ROWS, held_out, test_rng)
    pool = _draw_pool(pool_rows, held_out, _stream(seed, "pool"))
    # Last, because curation adds its own texts to the keys.
    labelled = curate(scale, held_out, _stream(seed, "labels"))
    return Corpus(labelled, pool, dev_hard, dev_random, test)


def _stream(seed: int, part: str) -> random.Random:
    """Give each part its own chance, so that a larger pool leaves the other parts as they are."""
    return random.Random(f"{seed}/{part}")


def _draw_new(mix: Mix, rows: int, keys: KeySet, rng: random.Random) -> list[Comment]:
    comments: list[Comment] = []
    while len(comments) < rows:
        comment = draw(mix, rng)
        if keys.add(comment.text):
            comments.append(comment)
    return comments


def _draw_pool(rows: int, held_out: KeySet, rng: random.Random) -> list[Comment]:
    pool: list[Comment] = []
    while len(pool) < rows:
        if pool and rng.random() < _SENT_AGAIN:
            first = rng.choice(pool)
            comment = replace(first, text=slip(first.text, rng))
        else:
            comment = draw(NATURAL, rng)
        if comment.text not in held_out:
            pool.append(comment)
    return pool
