"""Reading a replies.toml: what it may hold, and what is said of what it may not."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Mapping
from pathlib import Path
from string import Formatter

from limbeck.errors import Place, RepliesBroken, nearest
from limbeck.serve.replies import BLANK_LINES, Link, Replies, Rule, Saying, Template, Words

LARGEST = 1 << 20
MOST = 3
# Priorities beyond it, and all that is no number, are nobody's intention.
FARTHEST = 1_000_000
_TOP = ("languages", "most", "category", "rule", "nothing", "unsure")
_SAID = ("title", "text", "links")
_CATEGORY = (*_SAID, "priority")
_RULE = (*_CATEGORY, "name", "when", "unless", "replaces")
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*")
# Browsers read a backslash as a slash and leave out control characters, so either could hide another host.
_NEVER = r"\x00-\x20\x7f\\"
_URL = re.compile(rf"(https?://[^/?#{_NEVER}]|(mailto|tel):[^{_NEVER}]|/(?!/))[^{_NEVER}]*", re.IGNORECASE)


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
    paragraphs = BLANK_LINES.split(text.strip())
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
