"""Texts to ask people about: what a category's rule finds, with every expression given its turn."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from limbeck.errors import BadSetting, nearest
from limbeck.rules.rules import Rules
from limbeck.rules.sample import Sample, ticket


@dataclass(frozen=True)
class Candidate:
    """A text that matches; `row` counts the texts from 0, `expressions` are those of `include` that find something."""

    row: int
    text: str
    expressions: tuple[str, ...]


def candidates(rules: Rules, category: str, texts: Iterable[str], count: int, seed: int) -> tuple[Candidate, ...]:
    """Draw up to `count` different texts that match, in one pass.

    Expressions take turns, the rarest first, so that one that finds much doesn't drown the others.
    """
    if category not in rules.names:
        raise BadSetting(f"There is no rule for the category '{category}'.", nearest(category, rules.names))
    rule = rules.rules[rules.names.index(category)]
    chosen = rules.only([category])
    samples: list[Sample[Candidate]] = [Sample(count) for _ in rule.include]
    for row, text in enumerate(texts):
        finding = chosen.look(text).get(category)
        if finding is None or finding.verdict != "matched":
            continue
        drawn = Candidate(row, text, tuple(rule.include[at] for at in finding.include))
        number = ticket(text, seed)
        for at in finding.include:
            samples[at].offer(number, lambda drawn=drawn: drawn)  # type: ignore[misc]
    return _in_turn([sample.drawn() for sample in samples], count)


def _in_turn(drawn: list[list[tuple[int, Candidate]]], count: int) -> tuple[Candidate, ...]:
    """Let lists, the shortest first, give one each until there are enough; what was given is passed over."""
    queues = [iter(one) for one in sorted(drawn, key=len)]
    taken: dict[int, Candidate] = {}
    while queues and len(taken) < count:
        for queue in list(queues):
            fresh = next((one for one in queue if one[0] not in taken), None)
            if fresh is None:
                queues.remove(queue)
            elif len(taken) < count:
                taken[fresh[0]] = fresh[1]
    return tuple(taken.values())
