"""What is odd about rules: expressions that forbid, repeat or cover each other, or do nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from limbeck.rules.figures import Conflict
from limbeck.rules.rules import Rules
from limbeck.rules.tally import RuleTally

# Fewer texts that two expressions both find may be chance.
ENOUGH = 5


def conflicts(rules: Rules, tallies: Iterable[RuleTally], texts: int) -> tuple[Conflict, ...]:
    """List all that a person should look at; without texts only what the file itself shows."""
    found = list(_alike(rules))
    if texts:
        for tally in tallies:
            found += [*_forbidden(tally), *_without_effect(tally), *_covered(tally)]
    order = {name: place for place, name in enumerate(rules.names)}
    return tuple(sorted(found, key=lambda conflict: order[conflict.category]))


def _alike(rules: Rules) -> Iterator[Conflict]:
    by_name = {rule.name: rule for rule in rules.rules}
    for places in rules.alike():
        for at, (name, kind, position) in enumerate(places):
            expression = getattr(by_name[name], kind)[position]
            for other, its_kind, its_position in places[at + 1 :]:
                again = getattr(by_name[other], its_kind)[its_position]
                if other != name:
                    told = f"stands under {kind} here and under {its_kind} of '{other}'"
                    yield Conflict("identical", name, expression, told, other)
                elif its_kind != kind:
                    yield Conflict("contradictory", name, expression, "is included and excluded, so it finds nothing")
                else:
                    yield Conflict("same", name, expression, f"means the same as '{again}'")


def _forbidden(tally: RuleTally) -> Iterator[Conflict]:
    if tally.excluded:
        share = tally.excluded / (tally.excluded + tally.matched)
        told = f"exclude forbids {tally.excluded:,} of the texts that include finds ({share:.1%})"
        yield Conflict("forbidden", tally.rule.name, "", told)


def _without_effect(tally: RuleTally) -> Iterator[Conflict]:
    for expression, found in zip(tally.rule.include, tally.found, strict=True):
        if not found:
            yield Conflict("never", tally.rule.name, expression, "finds no text")
    for expression, met, forbids in zip(tally.rule.exclude, tally.met, tally.forbids, strict=True):
        if not met:
            yield Conflict("never", tally.rule.name, expression, "finds no text, so it forbids nothing")
        elif not forbids:
            yield Conflict("idle", tally.rule.name, expression, "forbids nothing that include finds")


def _covered(tally: RuleTally) -> Iterator[Conflict]:
    include, found, together = tally.rule.include, np.array(tally.found), tally.together
    for at in np.flatnonzero(found >= ENOUGH):
        covering = [other for other in np.flatnonzero(together[at] == found[at]) if other != at]
        if not covering:
            continue
        widest = max(covering, key=lambda other: found[other])
        if found[widest] > found[at]:
            told = f"all {found[at]:,} texts are also found by '{include[widest]}'"
            yield Conflict("covered", tally.rule.name, include[at], told)
        elif at < widest:
            told = f"finds the same {found[at]:,} texts as '{include[widest]}'"
            yield Conflict("same", tally.rule.name, include[at], told)
