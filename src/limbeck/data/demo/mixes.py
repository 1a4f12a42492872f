"""Which topics, near misses and wordings a part of the corpus is made of."""

import random
from collections.abc import Mapping
from dataclasses import dataclass

from limbeck.data.demo.compose import Brief, Comment, Source, compose

_SOURCES: tuple[Source, ...] = ("app", "portal", "qr-code")
_SOURCE_SHARES = (0.45, 0.3, 0.25)


@dataclass(frozen=True, slots=True)
class Mix:
    """The make-up of a set of texts.

    Attributes:
        topics: A weight for each category; only their ratios count.
        how_many: Chances of no, one, two and three topics.
        miss: The chance of a near miss; texts without a topic have it twice as often.
        unseen: The chance that a wording comes from the unseen side.
    """

    topics: Mapping[str, float]
    how_many: tuple[float, float, float, float] = (0.14, 0.56, 0.21, 0.09)
    miss: float = 0.35
    unseen: float = 0.0


_NATURAL_TOPICS = {
    "punctuality": 0.23,
    "train-service": 0.15,
    "seat-availability": 0.12,
    "wlan-internet": 0.1,
    "temperature": 0.09,
    "loudness": 0.07,
    "seating-comfort": 0.07,
    "train-cancellation": 0.055,
    "luggage": 0.045,
    "passenger-rights": 0.035,
    "face-mask": 0.03,
}
NATURAL = Mix(_NATURAL_TOPICS, unseen=0.33)
# The test side is natural too, but its rare categories are frequent enough to measure.
TEST = Mix(_NATURAL_TOPICS | {"luggage": 0.065, "passenger-rights": 0.055, "face-mask": 0.055}, unseen=0.33)
HARD = Mix(dict.fromkeys(_NATURAL_TOPICS, 1.0), how_many=(0.3, 0.4, 0.2, 0.1), miss=0.7, unseen=0.65)
# Close to the rates of the curated files, so that texts shared by many files fill each of them evenly.
CURATED = Mix(
    {
        "punctuality": 0.22,
        "train-service": 0.2,
        "seat-availability": 0.19,
        "luggage": 0.13,
        "wlan-internet": 0.12,
        "temperature": 0.11,
        "loudness": 0.1,
        "seating-comfort": 0.09,
        "train-cancellation": 0.05,
        "passenger-rights": 0.02,
        "face-mask": 0.02,
    },
    miss=0.38,
)


def draw(mix: Mix, rng: random.Random, *, topic: str | None = None, miss: str | None = None) -> Comment:
    """Compose one text of a mix, about `topic` or narrowly missing `miss` if they are given."""
    count = rng.choices(range(4), mix.how_many)[0]
    topics = _draw_topics(mix.topics, count, rng)
    if topic is not None and topic not in topics:
        topics = (topic, *topics[1:])
    if miss is not None:
        topics = tuple(other for other in topics[:1] if other != miss)
    misses = [miss] if miss is not None else []
    if rng.random() < mix.miss * (1.0 if topics else 2.0) * (0.3 if miss else 1.0):
        further = rng.choice(tuple(mix.topics))
        if further not in topics and further != miss:
            misses.append(further)
    source = rng.choices(_SOURCES, _SOURCE_SHARES)[0]
    return compose(Brief(topics, tuple(misses), source, mix.unseen), rng)


def _draw_topics(weights: Mapping[str, float], count: int, rng: random.Random) -> tuple[str, ...]:
    left = dict(weights)
    drawn: list[str] = []
    for _ in range(count):
        topic = rng.choices(tuple(left), tuple(left.values()))[0]
        del left[topic]
        drawn.append(topic)
    return tuple(drawn)
