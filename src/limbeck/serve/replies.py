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
import tomllib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from string import Formatter
from typing import Literal

from limbeck.errors import Place, RepliesBroken, nearest

LARGEST = 1 << 20
MOST = 3
# Priorities beyond it, and all that is no number, are nobody's intention.
FARTHEST = 1_000_000
# Longer ones are sent by nobody who wants to read the answer.
LONGEST_HEADER = 1000

_TOP = ("languages", "most", "category", "rule", "nothing", "unsure")
_SAID = ("title", "text", "links")
_CATEGORY = (*_SAID, "priority")
_RULE = (*_CATEGORY, "name", "when", "unless", "replaces")
_AND = {"en": "and", "de": "und", "fr": "et", "it": "e", "nl": "en"}
_NEUTRAL = {"en": "Thank you for your message.", "de": "Vielen Dank für Ihre Nachricht."}
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*")
_QUALITY = re.compile(r"[0-9]+\.?[0-9]*|\.[0-9]+")
# Browsers read a backslash as a slash and leave out control characters, so either could hide another host.
_NEVER = r"\x00-\x20\x7f\\"
_URL = re.compile(rf"(https?://[^/?#{_NEVER}]|(mailto|tel):[^{_NEVER}]|/(?!/))[^{_NEVER}]*", re.IGNORECASE)
_BLANK_LINES = re.compile(r"\n\s*\n")


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
    lines += [f"<p>{html.escape(paragraph)}</p>" for paragraph in _BLANK_LINES.split(part.text) if paragraph.strip()]
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


def read_replies(path: Path) -> Replies:
    """Read a replies.toml; whatever can't be used, or isn't known, is an error that names its key."""
    place = Place(path)
    try:
        return parse_replies(_content(path))
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"at line (\d+)", str(error))
        place = Place(path, int(line[1]) if line else None)
        raise RepliesBroken(f"This is not TOML: {error}.", "Correct the line; strings need quotes.", place) from None
    except RepliesBroken as error:
        raise RepliesBroken(error.message, error.fix, place) from None
    # Lists within lists without end, or a number of thousands of digits.
    except (RecursionError, ValueError) as error:
        raise RepliesBroken(f"This can't be read as TOML: {error}.", "Write it more simply.", place) from None


def _content(path: Path) -> str:
    if not path.is_file():
        raise RepliesBroken("There is no such file.", "Name a file of replies.")
    with path.open("rb") as file:
        raw = file.read(LARGEST + 1)
    if len(raw) > LARGEST:
        raise RepliesBroken(f"It has more than {LARGEST:,} bytes.", "Nobody reads so many replies; shorten them.")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise RepliesBroken(f"Byte {error.start + 1} is not UTF-8.", "Save it as UTF-8.") from None


def parse_replies(content: str) -> Replies:
    """Read the content of a replies.toml; errors name the key but no file."""
    told: dict[str, object] = tomllib.loads(content)
    _check_keys(told, _TOP, "")
    languages = _languages(told.get("languages"))
    categories = {
        name: _category(one, name, number, languages)
        for number, (name, one) in enumerate(_table(told.get("category", {}), "category").items())
    }
    listed = told.get("rule", [])
    if not isinstance(listed, list):
        raise _wrong("rule", "is a table", "Write [[rule]], with two brackets.")
    rules = [_rule(one, number, languages) for number, one in enumerate(listed)]
    unsure, below = _unsure(told["unsure"], languages) if "unsure" in told else (None, 0.0)
    return Replies(
        languages=languages,
        most=_most(told.get("most", MOST)),
        categories=categories,
        rules=tuple(sorted(rules, key=lambda rule: rule.saying.rank)),
        nothing=_nothing(told["nothing"], languages) if "nothing" in told else None,
        unsure=unsure,
        below=below,
        called={language: _called(categories, language) for language in languages},
    )


def _called(categories: Mapping[str, Saying], language: str) -> dict[str, str]:
    titles = {name: saying.words[language].title for name, saying in categories.items()}
    return {name: title.text for name, title in titles.items() if not title.open}


def _wrong(where: str, problem: str, fix: str = "") -> RepliesBroken:
    return RepliesBroken(f"'{where}' {problem}.", fix)


def _check_keys(told: Mapping[str, object], known: Collection[str], where: str) -> None:
    for key in told:
        if key not in known:
            raise _wrong(_inside(where, key), "is not known", nearest(key, known))


def _inside(where: str, key: object) -> str:
    return f"{where}.{key}" if where else str(key)


def _languages(told: object) -> tuple[str, ...]:
    languages = _texts(told, "languages")
    for language in languages:
        if not _LANGUAGE.fullmatch(language):
            raise _wrong("languages", f"has {language!r}, which is no language", "Write codes such as en or de-AT.")
    if not languages:
        raise _wrong("languages", "is missing or empty", 'Write languages = ["en"], the default first.')
    if len({language.lower() for language in languages}) < len(languages):
        raise _wrong("languages", "has a language twice", "Take one away.")
    return languages


def _most(told: object) -> int:
    if type(told) is not int or told < 1:
        raise _wrong("most", f"can't be {told!r:.40}", "Write a whole number from 1 on.")
    return told


def _category(told: object, name: str, number: int, languages: tuple[str, ...]) -> Saying:
    where = f"category.{name}"
    table = _table(told, where)
    _check_keys(table, _CATEGORY, where)
    rank = (-_number(table.get("priority", 0), f"{where}.priority"), 1, number)
    return _saying(table, where, languages, ("topic", "topics"), rank, (name,), title=Template("{topic}", open=True))


def _rule(told: object, number: int, languages: tuple[str, ...]) -> Rule:
    # Lines count from 1, and so does whoever looks for the second rule.
    where = f"rule.{number + 1}"
    table = _table(told, where)
    _check_keys(table, _RULE, where)
    name = _text(table.get("name"), f"{where}.name")
    when = _texts(table.get("when"), f"{where}.when")
    if not when:
        raise _wrong(f"{where}.when", "is missing or empty", "Name the categories that must be found.")
    replaces = table.get("replaces", True)
    if not isinstance(replaces, bool):
        raise _wrong(f"{where}.replaces", f"can't be {replaces!r:.40}", "Write true or false.")
    rank = (-_number(table.get("priority", 0), f"{where}.priority"), 0, number)
    saying = _saying(table, where, languages, ("topics",), rank, when)
    return Rule(name, frozenset(when), frozenset(_texts(table.get("unless"), f"{where}.unless")), replaces, saying)


def _nothing(told: object, languages: tuple[str, ...]) -> Saying:
    table = _table(told, "nothing")
    _check_keys(table, _SAID, "nothing")
    return _saying(table, "nothing", languages, ())


def _unsure(told: object, languages: tuple[str, ...]) -> tuple[Saying, float]:
    table = _table(told, "unsure")
    _check_keys(table, (*_SAID, "below"), "unsure")
    if "below" not in table:
        raise _wrong("unsure.below", "is missing", "Write a confidence from 0.5 to 1.")
    below = _number(table["below"], "unsure.below")
    if not 0.5 <= below <= 1:
        raise _wrong("unsure.below", f"can't be {below}", "Write a confidence from 0.5 to 1.")
    return _saying(table, "unsure", languages, ("topics",)), below


def _saying(
    table: Mapping[str, object],
    where: str,
    languages: tuple[str, ...],
    placeholders: tuple[str, ...],
    rank: tuple[float, int, int] = (0.0, 0, 0),
    about: tuple[str, ...] = (),
    title: Template | None = None,
) -> Saying:
    """Read what is said in every language; `title` is what stands there if the table has none."""
    if "text" not in table:
        raise _wrong(f"{where}.text", "is missing", "Write what the reply says.")
    given = {key: _by_language(table[key], f"{where}.{key}", key, languages) for key in _SAID if key in table}
    texts = _templates(given["text"], f"{where}.text", placeholders)
    titles = _templates(given.get("title", {}), f"{where}.title", placeholders)
    links = {name: _links(told, f"{where}.links.{name}") for name, told in given.get("links", {}).items()}
    default = languages[0]
    titles.setdefault(default, title or Template(""))
    words = {
        language: Words(
            title=titles.get(language, titles[default]),
            text=texts.get(language, texts[default]),
            links=links.get(language, links.get(default, ())),
        )
        for language in languages
    }
    lacking = [f"{key}.{name}" for key, told in given.items() for name in languages if name not in told]
    return Saying(rank, about, words, tuple(lacking))


def _by_language(told: object, where: str, key: str, languages: tuple[str, ...]) -> dict[str, object]:
    """Give what is said by language; what is no table is said in all of them."""
    if not isinstance(told, dict):
        return dict.fromkeys(languages, told)
    _check_keys(told, languages, where)
    # Links may be there for some languages alone; words must be there for the language that stands in for others.
    if key != "links" and languages[0] not in told:
        raise _wrong(f"{where}.{languages[0]}", "is missing", "The default language must be there.")
    return told


def _templates(told: Mapping[str, object], where: str, placeholders: tuple[str, ...]) -> dict[str, Template]:
    return {name: _template(one, f"{where}.{name}", placeholders) for name, one in told.items()}


def _template(told: object, where: str, placeholders: tuple[str, ...]) -> Template:
    text = _in_paragraphs(_text(told, where))
    try:
        pieces = list(Formatter().parse(text))
    except ValueError:
        raise _wrong(where, "has a single brace", "Write {{ or }} for a brace that is no placeholder's.") from None
    used = [_placeholder(*piece[1:]) for piece in pieces if piece[1] is not None]
    for name in used:
        if name not in placeholders:
            known = nearest(name, placeholders) if placeholders else "None can stand here."
            raise _wrong(where, f"has the placeholder {{{name}}}, which is not known here", known)
    return Template(text if used else text.format(), open=bool(used))


def _placeholder(name: str | None, form: str | None, conversion: str | None) -> str:
    """Write a placeholder as it stands in the text, with all that Python would take and we don't."""
    return f"{name}{'!' + conversion if conversion else ''}{':' + form if form else ''}"


def _in_paragraphs(text: str) -> str:
    """Keep blank lines; any other end of a line is a space, as it is in HTML."""
    paragraphs = _BLANK_LINES.split(text.strip())
    return "\n\n".join(" ".join(line.strip() for line in paragraph.splitlines()) for paragraph in paragraphs)


def _links(told: object, where: str) -> tuple[Link, ...]:
    if not isinstance(told, list):
        raise _wrong(where, f"can't be {told!r:.40}", "Write a list of {title = …, url = …}.")
    return tuple(_link(one, f"{where}.{number}") for number, one in enumerate(told, start=1))


def _link(told: object, where: str) -> Link:
    table = _table(told, where)
    _check_keys(table, ("title", "url"), where)
    url = _text(table.get("url"), f"{where}.url")
    if not _URL.fullmatch(url):
        raise _wrong(
            f"{where}.url",
            f"can't be {url!r:.80}",
            "Write an address that begins with https://, http://, mailto:, tel: or a single /.",
        )
    return Link(_text(table.get("title"), f"{where}.title"), url)


def _table(told: object, where: str) -> dict[str, object]:
    if not isinstance(told, dict):
        raise _wrong(where, f"can't be {told!r:.40}", "Write a table.")
    return told


def _text(told: object, where: str) -> str:
    if told is None:
        raise _wrong(where, "is missing")
    if not isinstance(told, str) or not told.strip():
        raise _wrong(where, f"can't be {told!r:.40}", "Write a text that isn't empty.")
    return told


def _texts(told: object, where: str) -> tuple[str, ...]:
    """Read a list of texts, each once; one that isn't there is empty."""
    listed = [] if told is None else told
    if not isinstance(listed, list):
        raise _wrong(where, f"can't be {told!r:.40}", "Write a list of texts.")
    return tuple(dict.fromkeys(_text(one, f"{where}.{number}") for number, one in enumerate(listed, start=1)))


def _number(told: object, where: str) -> float:
    if isinstance(told, bool) or not isinstance(told, int | float) or not -FARTHEST <= told <= FARTHEST:
        raise _wrong(where, f"can't be {told!r:.40}", f"Write a number from -{FARTHEST:,} to {FARTHEST:,}.")
    return float(told)
