"""Fragments of text, and how one fragment becomes a sentence.

A fragment is one line of an inventory: a tone mark, a wording, the further labels it carries.

    - My train was [late|delayed] by {over_hour}. #passenger-rights

The mark is `-` for a complaint, `+` for praise, `=` for neither. `[a|b]` is a choice (it may nest), `{name}`
a slot that has one value throughout a text, so that a journey starts and ends in the same towns.
"""

import random
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Tone = Literal["+", "-", "="]
Kind = Literal["full", "short", "miss"]

_LINE = re.compile(r"(?P<tone>[-+=]) (?P<text>.+?)(?P<tags>( #[a-z-]+)*)")
_INNERMOST_CHOICE = re.compile(r"\[([^\[\]]*)\]")
_SLOT = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Fragment:
    """One wording.

    Attributes:
        name: Where the wording stands, such as `luggage/unseen/full/3`.
        category: The category whose inventory holds it; a near miss has this category but not this label.
        labels: The true labels of any text that contains the wording.
        unseen: Whether the wording is kept out of the labelled rows.
    """

    name: str
    category: str
    text: str
    labels: frozenset[str]
    tone: Tone
    kind: Kind
    unseen: bool


@dataclass(frozen=True, slots=True)
class Inventory:
    """All wordings of one category: about it, in a few words about it, and near misses."""

    slug: str
    title: str
    fragments: tuple[Fragment, ...]

    def choices(self, kind: Kind, tones: str, unseen: bool) -> list[Fragment]:
        """List the fragments of a kind and side whose tone is one of the marks in `tones`."""
        return [f for f in self.fragments if f.kind == kind and f.unseen == unseen and f.tone in tones]


def inventory(
    slug: str,
    title: str,
    *,
    seen: str,
    unseen: str,
    seen_short: str,
    unseen_short: str,
    seen_misses: str,
    unseen_misses: str,
) -> Inventory:
    """Read the six blocks of lines that make up an inventory.

    Full and short wordings carry `slug` as a label (none if it is empty) besides their tags; near misses carry
    their tags only.
    """
    blocks: tuple[tuple[Kind, bool, str], ...] = (
        ("full", False, seen),
        ("full", True, unseen),
        ("short", False, seen_short),
        ("short", True, unseen_short),
        ("miss", False, seen_misses),
        ("miss", True, unseen_misses),
    )
    fragments: list[Fragment] = []
    for kind, is_unseen, block in blocks:
        own = frozenset({slug}) if slug and kind != "miss" else frozenset()
        for number, line in enumerate(filter(None, map(str.strip, block.splitlines()))):
            name = f"{slug or 'off-topic'}/{'unseen' if is_unseen else 'seen'}/{kind}/{number}"
            fragments.append(_read_line(line, name, slug, own, kind, is_unseen))
    return Inventory(slug, title, tuple(fragments))


def _read_line(line: str, name: str, slug: str, own: frozenset[str], kind: Kind, unseen: bool) -> Fragment:
    match = _LINE.fullmatch(line)
    if match is None:
        raise ValueError(f"{name}: {line!r} is not 'mark wording #label ...' with a mark of -, + or =")
    tags = frozenset(tag.removeprefix("#") for tag in match["tags"].split())
    tone: Tone = "+" if match["tone"] == "+" else "-" if match["tone"] == "-" else "="
    return Fragment(name, slug, match["text"], own | tags, tone, kind, unseen)


def expand(text: str, slots: Mapping[str, str], rng: random.Random) -> str:
    """Make one sentence of a wording, with a capital letter in front."""

    def choose(match: re.Match[str]) -> str:
        options: list[str] = match[1].split("|")
        return rng.choice(options)

    while "[" in text:
        text = _INNERMOST_CHOICE.sub(choose, text)
    text = _SLOT.sub(lambda match: slots[match[1]], text)
    return text[:1].upper() + text[1:]
