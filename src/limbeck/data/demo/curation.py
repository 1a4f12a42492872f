"""The eleven binary files: how many rows, how many positives, which texts stand in several files.

The sizes are those of a published study of railway feedback, times a scale. Its table of shared texts
(31,620 unique texts) adds up to 91,308 rows, its table of file sizes to 107,409, so both cannot hold at once
without repeated rows. The file sizes are kept, no row is repeated, and the counts of shared texts are
stretched by the quotient (1.18): at scale 0.1 there are about 3,720 unique texts rather than 3,162, one third
of them in more than one file and most of those in seven, as in the study.
"""

import random
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from limbeck.data.demo.compose import Comment
from limbeck.data.demo.keys import KeySet
from limbeck.data.demo.mixes import CURATED, draw

ROWS_AND_POSITIVES: dict[str, tuple[int, int]] = {
    "punctuality": (16671, 4771),
    "train-cancellation": (5631, 1728),
    "passenger-rights": (1500, 768),
    "seat-availability": (14265, 3582),
    "seating-comfort": (10694, 1193),
    "temperature": (11199, 1542),
    "loudness": (10765, 1366),
    "luggage": (12193, 2000),
    "train-service": (12590, 3243),
    "wlan-internet": (10865, 1628),
    "face-mask": (1036, 182),
}
TEXTS_BY_FILES: dict[int, int] = {1: 20966, 2: 650, 3: 18, 4: 180, 5: 39, 6: 458, 7: 9148, 8: 160, 9: 1}
STRETCH = sum(rows for rows, _ in ROWS_AND_POSITIVES.values()) / sum(k * n for k, n in TEXTS_BY_FILES.items())

# Shared texts may use up this part of a file's rows of either label; the rest is curated for the file alone.
_SHAREABLE = 0.92
# Texts that an expert searching for one category would turn up from another.
_CONFUSED_WITH = {"passenger-rights": ("punctuality", "train-cancellation")}


@dataclass(slots=True)
class Quota:
    """What a file still lacks."""

    positives: int
    negatives: int

    @property
    def rows(self) -> int:
        """Count the rows of either label."""
        return self.positives + self.negatives

    def has_room(self, label: bool) -> bool:
        """Tell whether a row with this label is still wanted."""
        return (self.positives if label else self.negatives) > 0

    def take(self, label: bool) -> None:
        """Count a row as written."""
        if label:
            self.positives -= 1
        else:
            self.negatives -= 1


def quotas(scale: float) -> dict[str, Quota]:
    """Give the rows and positives of every file at a scale."""
    scaled = {slug: (round(rows * scale), round(hits * scale)) for slug, (rows, hits) in ROWS_AND_POSITIVES.items()}
    return {slug: Quota(hits, rows - hits) for slug, (rows, hits) in scaled.items()}


def shared_counts(scale: float) -> dict[int, int]:
    """Count the texts that stand in two and more files; the one text in nine files is kept at any scale."""
    counts = {k: round(n * STRETCH * scale) for k, n in TEXTS_BY_FILES.items() if 1 < k < 9}
    return counts | {9: 1}


def curate(scale: float, keys: KeySet, rng: random.Random) -> dict[str, list[tuple[Comment, bool]]]:
    """Fill the eleven files with texts of seen wordings only, each row with its true label.

    Args:
        scale: The share of the study's file sizes.
        keys: Texts that must not occur; every text written is added, so no two rows of a file are alike.
        rng: The source of chance.
    """
    files: dict[str, list[tuple[Comment, bool]]] = {slug: [] for slug in ROWS_AND_POSITIVES}
    lacking = quotas(scale)
    shareable = {
        slug: Quota(int(quota.positives * _SHAREABLE), int(quota.negatives * _SHAREABLE))
        for slug, quota in lacking.items()
    }
    for chosen in _plan_sharing(shared_counts(scale), {slug: quota.rows for slug, quota in shareable.items()}, rng):
        comment = _draw_shared({slug: shareable[slug] for slug in chosen}, keys, rng)
        for slug in chosen:
            label = slug in comment.labels
            shareable[slug].take(label)
            lacking[slug].take(label)
            files[slug].append((comment, label))
    for slug, quota in lacking.items():
        wanted = [True] * quota.positives + [False] * quota.negatives
        files[slug] += [(_draw_single(slug, label, keys, rng), label) for label in wanted]
        rng.shuffle(files[slug])
    return files


def _plan_sharing(counts: Mapping[int, int], rows: Mapping[str, int], rng: random.Random) -> Iterator[tuple[str, ...]]:
    """Choose the files of each shared text.

    Texts in seven and more files go where most room is left, which is mostly to the eight large files; the
    others are spread by chance, in proportion to the room.
    """
    room = Counter(rows)
    for number in sorted(counts, reverse=True):
        for _ in range(counts[number]):
            if number >= 7:
                order = {slug: rng.random() for slug in room}
                chosen = sorted(room, key=lambda slug: (-room[slug], order[slug]))[:number]
            else:
                chosen = _weighted_sample(room, number, rng)
            room.subtract(chosen)
            yield tuple(chosen)


def _weighted_sample(room: Mapping[str, int], number: int, rng: random.Random) -> list[str]:
    left = {slug: rows for slug, rows in room.items() if rows > 0}
    chosen: list[str] = []
    for _ in range(min(number, len(left))):
        slug = rng.choices(tuple(left), tuple(left.values()))[0]
        del left[slug]
        chosen.append(slug)
    return chosen


def _draw_shared(open_files: Mapping[str, Quota], keys: KeySet, rng: random.Random) -> Comment:
    while True:
        comment = draw(CURATED, rng)
        fits = all(quota.has_room(slug in comment.labels) for slug, quota in open_files.items())
        if fits and keys.add(comment.text):
            return comment


def _draw_single(slug: str, label: bool, keys: KeySet, rng: random.Random) -> Comment:
    while True:
        if label:
            comment = draw(CURATED, rng, topic=slug)
        elif rng.random() < 0.55:
            comment = draw(CURATED, rng, miss=slug)
        else:
            comment = draw(CURATED, rng, topic=rng.choice(_CONFUSED_WITH.get(slug, (None,))))
        if (slug in comment.labels) == label and keys.add(comment.text):
            return comment
