"""Putting expanded fragments together: in a few words, in sentences, in two fields, in a story."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from limbeck.data.demo.grammar import Tone, expand
from limbeck.data.demo.phrases import framing

# Sentences that begin with one of these can follow a connecting word in lower case.
_EASILY_JOINED = frozenset(
    "The We My Our Your There It Many Half Plenty Two Nobody People Somebody Someone Children Not One Even All Every "
    "Everyone Everybody Because For In On At Just A An No".split()
)


@dataclass(frozen=True, slots=True)
class Piece:
    """One expanded fragment with its tone."""

    text: str
    tone: Tone


def in_a_few_words(pieces: Sequence[Piece], rng: random.Random) -> str:
    """Join short wordings as people fill in a form on a phone: 'Too loud, no seats!'."""
    words = [piece.text for piece in pieces]
    separator = rng.choice((", ", ". ", "! ", " / ", " and ", ", "))
    if separator in (", ", " and "):
        words = words[:1] + [_lowered(word) for word in words[1:]]
    text = separator.join(words).replace("?!", "?").replace("?.", "?").replace("?,", "?")
    return text if text.endswith(("?", "!")) else text + rng.choice((".", "!", "", ".", "!!", "..."))


def in_two_fields(pieces: Sequence[Piece], rng: random.Random) -> str:
    """Sort the pieces under the two headings of the feedback form."""
    good, bad = rng.choice((("Good:", "Bad:"), ("Positive:", "Negative:"), ("+", "-"), ("Pro:", "Contra:")))
    praise = " ".join(piece.text for piece in pieces if piece.tone == "+")
    complaint = " ".join(piece.text for piece in pieces if piece.tone != "+")
    return f"{good} {praise} {bad} {complaint}"


def in_sentences(
    pieces: Sequence[Piece], slots: dict[str, str], rng: random.Random, *, opening: bool, feeling: bool
) -> str:
    """Write the pieces one after the other, complaints and praise each together, joined here and there."""
    ordered = _in_order(pieces, rng)
    sentences = [expand(rng.choice(framing.OPENINGS), slots, rng)] if opening else []
    previous: Piece | None = None
    for piece in ordered:
        if previous is None or rng.random() >= 0.35:
            sentences.append(piece.text)
        elif previous.tone == piece.tone and rng.random() < 0.5 and _can_run_on(previous.text, piece.text):
            sentences[-1] = (
                sentences[-1].removesuffix(".") + rng.choice((", and ", " and ", ", and ", ", ")) + _lowered(piece.text)
            )
        else:
            sentences.append(_connected(previous, piece, rng))
        previous = piece
    if feeling:
        sentences.append(expand(rng.choice(_feelings(ordered)), slots, rng))
    return " ".join(sentences)


def story(pieces: Sequence[Piece], slots: dict[str, str], rng: random.Random) -> str:
    """Tell a whole journey with the pieces in the middle of it; one story in ten is very long."""
    if rng.random() < 0.1:
        before, during, after = rng.randint(7, 14), rng.randint(8, 17), rng.randint(6, 12)
    else:
        before, during, after = rng.randint(1, 4), rng.randint(1, 4), rng.randint(1, 3)
    middle = [piece.text for piece in _in_order(pieces, rng)]
    for line in rng.sample(framing.DURING, during):
        middle.insert(rng.randint(0, len(middle)), line)
    lines = [rng.choice(framing.OPENINGS), *rng.sample(framing.BEFORE, before), *middle]
    lines += rng.sample(framing.AFTER, after)
    return " ".join(expand(line, slots, rng) for line in lines)


def with_courtesies(text: str, slots: dict[str, str], rng: random.Random) -> str:
    """Add a greeting, a farewell or both."""
    which = rng.random()
    if which < 0.7:
        start = _lowered(text) if text.split(" ", 1)[0] in _EASILY_JOINED and rng.random() < 0.7 else text
        text = f"{rng.choice(framing.GREETINGS)} {start}"
    if which > 0.4:
        text = f"{text} {expand(rng.choice(framing.FAREWELLS), slots, rng)}"
    return text


def _in_order(pieces: Sequence[Piece], rng: random.Random) -> list[Piece]:
    shuffled = list(pieces)
    rng.shuffle(shuffled)
    praise_first = rng.random() < 0.5
    return sorted(shuffled, key=lambda piece: (piece.tone == "+") != praise_first)


def _feelings(pieces: Sequence[Piece]) -> tuple[str, ...]:
    tones = {piece.tone for piece in pieces} - {"="}
    if tones == {"-"}:
        return framing.ANNOYED
    return framing.PLEASED if tones == {"+"} else framing.EVEN


def _connected(previous: Piece, piece: Piece, rng: random.Random) -> str:
    if piece.text.split(" ", 1)[0] not in _EASILY_JOINED or "=" in (previous.tone, piece.tone):
        return piece.text
    if previous.tone == piece.tone:
        connector = rng.choice(framing.ADDING)
    elif piece.tone == "+":
        connector = rng.choice(framing.TURNING_TO_PRAISE)
    else:
        connector = rng.choice(framing.TURNING_TO_COMPLAINT)
    return connector + _lowered(piece.text)


def _can_run_on(first: str, second: str) -> bool:
    single = first.endswith(".") and ". " not in first and len(first) < 90
    return single and second.split(" ", 1)[0] in _EASILY_JOINED


def _lowered(text: str) -> str:
    """Lower the first letter, but not of names, abbreviations and 'I'."""
    first = text.split(" ", 1)[0]
    if first == "I" or not (first[1:].islower() or first == "A"):
        return text
    return text[:1].lower() + text[1:]
