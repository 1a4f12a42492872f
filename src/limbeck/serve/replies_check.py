"""What is wrong with replies for a model, before a traveller sees it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from limbeck.errors import nearest
from limbeck.serve.replies import Replies, Rule, Saying


@dataclass(frozen=True)
class Finding:
    """Something to mend (an error) or to look at (a warning), and the key where it stands."""

    level: Literal["error", "warning"]
    place: str
    message: str


def check_replies(
    replies: Replies, labels: Sequence[str], titles: Mapping[str, str], one_class: bool = False
) -> list[Finding]:
    """Compare replies with a model's categories, errors first; `titles` are what the model calls them.

    An error is a category that nobody is replied about, or a rule that is never shown. With `one_class`, the model
    finds one category a text and never two together.
    """
    known = frozenset(labels)
    findings = [
        *_missing(replies, labels, titles),
        *_unknown(replies, known),
        *_twice_named(replies),
        *_never_shown(replies, known, one_class),
        *_untold(replies),
        *_languages(replies),
        *_links(replies),
    ]
    return sorted(findings, key=lambda finding: finding.level)


def _missing(replies: Replies, labels: Sequence[str], titles: Mapping[str, str]) -> Iterator[Finding]:
    alone = {name for rule in replies.rules if len(rule.when) == 1 and not rule.unless for name in rule.when}
    for label in labels:
        if label not in replies.categories and label not in alone:
            title = titles.get(label) or label
            yield Finding("error", f"category.{label}", f"The model finds '{title}', but there is no reply to it.")


def _unknown(replies: Replies, known: frozenset[str]) -> Iterator[Finding]:
    for name in replies.categories:
        if name not in known:
            yield Finding("warning", f"category.{name}", _stranger(name, known))
    for rule in replies.rules:
        for name in sorted(rule.unless - known):
            yield Finding("warning", f"{_place(rule)}.unless", _stranger(name, known))


def _stranger(name: str, known: Collection[str]) -> str:
    return f"The model has no category '{name}'. {nearest(name, known)}"


def _place(rule: Rule) -> str:
    return f"rule.{rule.name}"


def _twice_named(replies: Replies) -> Iterator[Finding]:
    for name, count in Counter(rule.name for rule in replies.rules).items():
        if count > 1:
            yield Finding("error", f"rule.{name}", f"{count} rules have this name.")


def _never_shown(replies: Replies, known: frozenset[str], one_class: bool) -> Iterator[Finding]:
    for place, rule in enumerate(replies.rules):
        why = _why_never(rule, known, one_class) or _taken(rule, replies.rules[:place], known)
        if why:
            yield Finding("error", _place(rule), f"It is never shown: {why}")


def _why_never(rule: Rule, known: frozenset[str], one_class: bool) -> str | None:
    strangers = sorted(rule.when - known)
    if strangers:
        return " ".join(_stranger(name, known) for name in strangers)
    both = sorted(rule.when & rule.unless)
    if both:
        return f"'{both[0]}' stands both in when and in unless."
    if one_class and len(rule.when) > 1:
        return "this model finds one category a text, never several together."
    return None


def _taken(rule: Rule, before: Sequence[Rule], known: frozenset[str]) -> str | None:
    """Name a rule that takes the categories whenever this one could be shown.

    If even that one can't be shown, then because one of its categories, which is one of this rule's, is taken already.
    """
    for other in before:
        if other.replaces and other.when <= rule.when and other.unless & known <= rule.unless:
            return f"rule '{other.name}' comes first and takes its categories. Give this one a higher priority."
    return None


def _untold(replies: Replies) -> Iterator[Finding]:
    if replies.nothing is None:
        yield Finding("warning", "nothing", "Where nothing is found, a neutral sentence is shown. Write [nothing].")
    if replies.unsure is None:
        yield Finding("warning", "unsure", "Answers that aren't certain are replied to like others. Write [unsure].")


def _languages(replies: Replies) -> Iterator[Finding]:
    for place, saying in _sayings(replies):
        for key in saying.lacking:
            told = f"There is nothing in this language; '{replies.languages[0]}' is shown instead."
            yield Finding("warning", f"{place}.{key}", told)


def _links(replies: Replies) -> Iterator[Finding]:
    for place, saying in _sayings(replies):
        twice = {
            url: None
            for words in saying.words.values()
            for url, count in Counter(link.url for link in words.links).items()
            if count > 1
        }
        for url in twice:
            yield Finding("warning", f"{place}.links", f"{url} is there twice.")


def _sayings(replies: Replies) -> Iterator[tuple[str, Saying]]:
    yield from ((f"category.{name}", saying) for name, saying in replies.categories.items())
    yield from ((_place(rule), rule.saying) for rule in replies.rules)
    if replies.nothing is not None:
        yield "nothing", replies.nothing
    if replies.unsure is not None:
        yield "unsure", replies.unsure
