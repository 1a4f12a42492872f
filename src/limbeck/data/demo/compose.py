"""From a brief (topics, near misses, channel) to a text with its true labels."""

import random
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Literal

from limbeck.data.demo.assemble import Piece, in_a_few_words, in_sentences, in_two_fields, story, with_courtesies
from limbeck.data.demo.grammar import Fragment, Inventory, Kind, Tone, expand
from limbeck.data.demo.noise import roughen
from limbeck.data.demo.phrases import INVENTORIES, OFF_TOPIC
from limbeck.data.demo.slots import draw_slots

Source = Literal["app", "portal", "qr-code"]
Mood = Literal["complaint", "praise", "mixed"]


@dataclass(frozen=True, slots=True)
class Channel:
    """The habits of one way to send feedback, as chances from 0 to 1.

    Attributes:
        brief: A few words instead of sentences.
        aside: An off-topic sentence among the others.
        opening: A sentence that sets the scene.
        courtesy: A greeting or a farewell.
        feeling: A closing sentence of annoyance or pleasure.
        story: The course of a whole journey around the matter.
        carelessness: Any one habit of careless typing.
    """

    brief: float
    aside: float
    opening: float
    courtesy: float
    feeling: float
    story: float
    carelessness: float


CHANNELS: dict[Source, Channel] = {
    "app": Channel(brief=0.2, aside=0.14, opening=0.14, courtesy=0.08, feeling=0.22, story=0.02, carelessness=0.3),
    "portal": Channel(brief=0.08, aside=0.15, opening=0.28, courtesy=0.3, feeling=0.28, story=0.07, carelessness=0.16),
    "qr-code": Channel(brief=0.45, aside=0.08, opening=0.04, courtesy=0.02, feeling=0.15, story=0.0, carelessness=0.36),
}

# A second mood would contradict the first: nobody is left on the platform by a train that was on time.
_SOUR_TOGETHER = (
    ("punctuality", "train-cancellation"),
    ("punctuality", "passenger-rights"),
    ("seating-comfort", "seat-availability"),
)
# A claim for money says in the same breath what it is for, so these two are not told a second time.
_TOLD_BY_A_CLAIM = frozenset({"punctuality", "train-cancellation"})
# Next to a late train, the price of a taxi or a room would read like a claim.
_TAKEN_FOR_A_CLAIM = _TOLD_BY_A_CLAIM | {"passenger-rights"}


@dataclass(frozen=True, slots=True)
class Brief:
    """What a text is to say.

    Attributes:
        topics: Categories to write about. Labels follow from the wordings, which may add to the topics.
        misses: Categories to miss narrowly; one that would contradict the topics is left out.
        unseen: The chance (0 to 1) that any one wording is taken from the unseen side of its inventory.
    """

    topics: tuple[str, ...]
    misses: tuple[str, ...]
    source: Source
    unseen: float = 0.0


@dataclass(frozen=True, slots=True)
class Comment:
    """A generated text with its true labels and the names of the fragments that it was made of."""

    text: str
    labels: frozenset[str]
    source: Source
    fragments: tuple[str, ...]


def compose(brief: Brief, rng: random.Random) -> Comment:
    """Write the text of a brief."""
    channel = CHANNELS[brief.source]
    mood: Mood = rng.choices(("complaint", "praise", "mixed"), (0.6, 0.24, 0.16))[0]
    kind: Kind = "short" if not brief.misses and rng.random() < channel.brief else "full"
    chosen = _choose_topics(brief, kind, mood, rng)
    chosen += _choose_misses(brief, chosen, mood, rng)
    if not chosen or (kind == "full" and rng.random() < channel.aside):
        chosen.append(_pick(OFF_TOPIC, kind, _tones(mood, rng) + "=", brief.unseen, (), rng))

    slots = draw_slots(rng)
    pieces = [Piece(expand(fragment.text, slots, rng), fragment.tone) for fragment in chosen]
    if kind == "short":
        text = in_a_few_words(pieces, rng)
    elif rng.random() < channel.story:
        text = with_courtesies(story(pieces, slots, rng), slots, rng)
    else:
        text = _plain(pieces, slots, channel, rng)
    return Comment(
        text=roughen(text, channel.carelessness, rng),
        labels=frozenset[str]().union(*(fragment.labels for fragment in chosen)),
        source=brief.source,
        fragments=tuple(fragment.name for fragment in chosen),
    )


def _plain(pieces: list[Piece], slots: dict[str, str], channel: Channel, rng: random.Random) -> str:
    tones = {piece.tone for piece in pieces}
    if tones == {"+", "-"} and rng.random() < 0.25:
        return in_two_fields(pieces, rng)
    text = in_sentences(
        pieces, slots, rng, opening=rng.random() < channel.opening, feeling=rng.random() < channel.feeling
    )
    return with_courtesies(text, slots, rng) if rng.random() < channel.courtesy else text


def _choose_topics(brief: Brief, kind: Kind, mood: Mood, rng: random.Random) -> list[Fragment]:
    topics = list(brief.topics)
    if "passenger-rights" in topics:
        topics = [topic for topic in topics if topic not in _TOLD_BY_A_CLAIM][:2]
    tones: dict[str, Tone] = {topic: _tones(mood, rng) for topic in topics}
    for first, second in _SOUR_TOGETHER:
        if first in tones and second in tones:
            tones[first] = tones[second] = "-"
    chosen: list[Fragment] = []
    for topic in topics:
        barred = _labels(chosen) | set(topics) - {topic}
        chosen.append(_pick(INVENTORIES[topic], kind, tones[topic], brief.unseen, barred, rng))
    return chosen


def _choose_misses(brief: Brief, chosen: list[Fragment], mood: Mood, rng: random.Random) -> list[Fragment]:
    misses: list[Fragment] = []
    for category in brief.misses:
        taken = _labels(chosen) | _labels(misses) | set(brief.topics)
        clash = _TAKEN_FOR_A_CLAIM if category == "passenger-rights" else {category}
        if not taken & clash:
            misses.append(_pick(INVENTORIES[category], "miss", _tones(mood, rng) + "=", brief.unseen, taken, rng))
    return misses


def _pick(
    inventory: Inventory, kind: Kind, tones: str, unseen: float, barred: Collection[str], rng: random.Random
) -> Fragment:
    """Draw a fragment that carries no barred label; the tone gives way where an inventory has nothing in it."""
    side = rng.random() < unseen
    for marks in (tones, "+-="):
        fitting = [f for f in inventory.choices(kind, marks, side) if f.labels.isdisjoint(barred)]
        if fitting:
            return rng.choice(fitting)
    raise ValueError(f"{inventory.title}: no {kind} wording is free of {sorted(barred)}; shorten the brief")


def _tones(mood: Mood, rng: random.Random) -> Tone:
    if mood == "mixed":
        return rng.choice(("+", "-"))
    return "-" if mood == "complaint" else "+"


def _labels(fragments: Iterable[Fragment]) -> set[str]:
    return {label for fragment in fragments for label in fragment.labels}
