"""Replies that fit what was found in a text, as replies.toml has them.

languages = ["en", "de"]              # the first is the default
most = 3                              # parts that a reply has at most

[category.punctuality]                # a reply to one category
priority = 20                         # higher comes first; 0 without it
title = {en = "Punctuality", de = "Pünktlichkeit"}
text.en = "Thank you for what you tell us about {topic}."
text.de = "Danke für Ihre Worte zum Thema {topic}."
links.en = [{title = "Timetable", url = "https://www.example.org/timetable"}]

[[rule]]                              # a reply to several that were found together
name = "compensation"
when = ["punctuality", "passenger-rights"]
unless = ["train-cancellation"]
replaces = true                       # it stands instead of the replies to the categories in `when`
text = "One string is said in all languages."

[nothing]                             # a reply where no category was found, or none that has a reply
text = "Thank you."

[unsure]                              # a reply to answers that are less certain than `below`
below = 0.6
text = "Is this about {topics}?"

A replacing rule takes its categories: their own replies, and lower rules that need one of them, are not shown. Among
equal priorities rules come first, then the order of the file counts. A category's title is also what it is called where
{topic} or {topics} stands; one without a title, or with a placeholder in it, is called as the model calls it.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Literal

# Longer ones are sent by nobody who wants to read the answer.
LONGEST_HEADER = 1000

_AND = {"en": "and", "de": "und", "fr": "et", "it": "e", "nl": "en"}
_NEUTRAL = {"en": "Thank you for your message.", "de": "Vielen Dank für Ihre Nachricht."}
_QUALITY = re.compile(r"[0-9]+\.?[0-9]*|\.[0-9]+")
BLANK_LINES = re.compile(r"\n\s*\n")


@dataclass(frozen=True, slots=True)
class Link:
    """Where to go on."""

    title: str
    url: str


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a reply, and the categories that it is about; blank lines separate the text's paragraphs."""

    title: str
    text: str
    links: tuple[Link, ...]
    about: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply: to what was found, or because nothing was, or because it isn't certain. It has one part at least."""

    kind: Literal["found", "unsure", "nothing"]
    language: str
    parts: tuple[Part, ...]

    def as_dict(self) -> dict[str, object]:
        """Give the reply as plain values."""
        parts = [
            {
                "title": part.title,
                "text": part.text,
                "links": [{"title": link.title, "url": link.url} for link in part.links],
                "about": list(part.about),
            }
            for part in self.parts
        ]
        return {"kind": self.kind, "language": self.language, "parts": parts}


@dataclass(frozen=True, slots=True)
class Template:
    """A text that may have placeholders (`open`); one that has none is ready as it stands."""

    text: str
    open: bool = False

    def filled(self, topic: str, topics: str) -> str:
        """Put the names of categories where the placeholders are."""
        return self.text.format(topic=topic, topics=topics) if self.open else self.text


@dataclass(frozen=True, slots=True)
class Words:
    """What is said in one language."""

    title: Template
    text: Template
    links: tuple[Link, ...]


@dataclass(frozen=True, slots=True)
class Saying:
    """What is said in every language of the file, and where it stands among others: a lower rank comes first.

    `lacking` has the keys, such as text.de, for which the default language stands in.
    """

    rank: tuple[float, int, int]
    about: tuple[str, ...]
    words: Mapping[str, Words]
    lacking: tuple[str, ...]

    def part(self, language: str, about: tuple[str, ...], topic: str, topics: str) -> Part:
        """Say it."""
        words = self.words[language]
        return Part(words.title.filled(topic, topics), words.text.filled(topic, topics), words.links, about)


@dataclass(frozen=True, slots=True)
class Rule:
    """What is said if all of `when` and none of `unless` were found."""

    name: str
    when: frozenset[str]
    unless: frozenset[str]
    replaces: bool
    saying: Saying


@dataclass(frozen=True)
class Replies:
    """A replies.toml that was read; `rules` stand in the order of their ranks.

    `called` has, by language, what categories are called in a reply as far as the file says it.
    """

    languages: tuple[str, ...]
    most: int
    categories: Mapping[str, Saying]
    rules: tuple[Rule, ...]
    nothing: Saying | None
    unsure: Saying | None
    below: float
    called: Mapping[str, Mapping[str, str]]

    def choose(self, found: Sequence[str], titles: Mapping[str, str], confidence: float, language: str) -> Reply:
        """Reply to the categories that were found.

        `titles` are what the model calls its categories; `confidence` is that of the whole answer, and a NaN is not
        certain. A language that the file doesn't have is answered in the default language.
        """
        if language not in self.called:
            language = self.languages[0]
        if not found:
            return self._nothing(language)
        own = self.called[language]
        names = {name: own.get(name) or titles.get(name) or name for name in found}
        topics = _joined(list(names.values()), language)
        if self.unsure is not None and not confidence >= self.below:
            return Reply("unsure", language, (self.unsure.part(language, tuple(names), "", topics),))
        shown = self._shown(names)
        if not shown:
            return self._nothing(language)
        return Reply(
            "found",
            language,
            tuple(said.part(language, said.about, names[said.about[0]], topics) for said in shown[: self.most]),
        )

    def _shown(self, found: Mapping[str, str]) -> list[Saying]:
        there = set(found)
        taken: set[str] = set()
        shown = []
        for rule in self.rules:
            if rule.when <= there and there.isdisjoint(rule.unless) and taken.isdisjoint(rule.when):
                shown.append(rule.saying)
                if rule.replaces:
                    taken |= rule.when
        shown += [self.categories[name] for name in found if name not in taken and name in self.categories]
        shown.sort(key=attrgetter("rank"))
        return shown

    def _nothing(self, language: str) -> Reply:
        if self.nothing is not None:
            return Reply("nothing", language, (self.nothing.part(language, (), "", ""),))
        spoken = language if _primary(language) in _NEUTRAL else "en"
        return Reply("nothing", spoken, (Part("", _NEUTRAL[_primary(spoken)], (), ()),))


def as_html(reply: Reply) -> str:
    """Write a reply as a piece of HTML, a section for each part; every text in it is escaped."""
    return "\n".join(_section(part, reply.language) for part in reply.parts)


def _section(part: Part, language: str) -> str:
    lines = [f'<section lang="{html.escape(language)}">']
    if part.title:
        lines.append(f"<h3>{html.escape(part.title)}</h3>")
    lines += [f"<p>{html.escape(paragraph)}</p>" for paragraph in BLANK_LINES.split(part.text) if paragraph.strip()]
    if part.links:
        items = "".join(
            f'<li><a href="{html.escape(link.url)}" rel="noopener">{html.escape(link.title)}</a></li>'
            for link in part.links
        )
        lines.append(f"<ul>{items}</ul>")
    return "\n".join([*lines, "</section>"])


def choose_language(header: str | None, asked: str | None, languages: Sequence[str]) -> str:
    """Choose one of `languages`: what was asked for, else the best of an Accept-Language header, else the first.

    Whatever is no language, or none of these, is passed over.
    """
    if asked and (match := _match(asked.strip(), languages)):
        return match
    wanted = _wanted(header or "")
    refused = {tag.lower() for tag, quality in wanted if quality == 0}
    left = [language for language in languages if language.lower() not in refused]
    for tag, quality in sorted(wanted, key=lambda pair: -pair[1]):
        match = (left[0] if left else None) if tag == "*" else _match(tag, left)
        if quality > 0 and match:
            return match
    return (left or languages)[0]


def _wanted(header: str) -> list[tuple[str, float]]:
    """Read an Accept-Language header as tags and qualities from 0 to 1; a tag without a sound quality is left out."""
    found = []
    for item in header[:LONGEST_HEADER].split(","):
        tag, _, rest = item.partition(";")
        key, _, raw = rest.partition("=")
        raw = raw.strip() if rest.strip() else "1"
        if key.strip().lower() in ("", "q") and _QUALITY.fullmatch(raw):
            found.append((tag.strip(), min(float(raw), 1.0)))
    return found


def _match(tag: str, languages: Iterable[str]) -> str | None:
    """Find a language by its whole tag, or by its first piece: de-AT gets de, and de gets de-AT."""
    by_tag = {language.lower(): language for language in languages}
    by_primary = {_primary(language).lower(): language for language in reversed(by_tag.values())}
    return by_tag.get(tag.lower()) or by_tag.get(_primary(tag).lower()) or by_primary.get(_primary(tag).lower())


def _primary(language: str) -> str:
    return language.partition("-")[0]


def _joined(names: list[str], language: str) -> str:
    if len(names) < 2:
        return "".join(names)
    word = _AND.get(_primary(language))
    return ", ".join(names) if word is None else f"{', '.join(names[:-1])} {word} {names[-1]}"
