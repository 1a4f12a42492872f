"""Counts over a stream of texts, in memory that depends on the rules alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from limbeck.rules.figures import CategoryFigures, Example, ExpressionFigures, Overlap, Quality, example, phi
from limbeck.rules.rules import Finding, Rule, Rules
from limbeck.rules.sample import Sample, ticket


class RuleTally:
    """What one category's rule has found so far; `together` counts texts that two of `include` both find."""

    def __init__(self, rule: Rule, examples: int) -> None:
        """Start from nothing."""
        self.rule = rule
        self.matched = self.excluded = 0
        width, others = len(rule.include), len(rule.exclude)
        self.found, self.only, self.forbidden = ([0] * width for _ in range(3))
        self.met, self.alone, self.forbids = ([0] * others for _ in range(3))
        self.together = np.zeros((width, width), np.int64)
        self.examples: Sample[Example] = Sample(examples)
        self.kept_out: Sample[Example] = Sample(examples)

    def see(self, finding: Finding, number: int, show: Callable[[str], Example]) -> None:
        """Count a text in which something was found, and perhaps keep it; `number` is its ticket."""
        yes, no = finding.include, finding.exclude
        _add(self.met, no)
        _add(self.found, yes)
        if len(yes) > 1:
            self.together[np.ix_(yes, yes)] += 1
        if finding.verdict == "matched":
            self.matched += 1
            if len(yes) == 1:
                _add(self.only, yes)
            self.examples.offer(number, lambda: show(self.rule.include[yes[number % len(yes)]]))
        elif finding.verdict == "excluded":
            self.excluded += 1
            _add(self.forbidden, yes)
            _add(self.forbids, no)
            if len(no) == 1:
                _add(self.alone, no)
            self.kept_out.offer(number, lambda: show(self.rule.exclude[no[0]]))

    def figures(self, texts: int, quality: Quality | None, judged: Sequence[tuple[int, int]]) -> CategoryFigures:
        """Give the figures; `judged` has for each of `include` how often a known label says yes and no."""
        includes = [
            ExpressionFigures(
                expression,
                "include",
                self.found[at],
                _share(self.found[at], texts),
                self.only[at],
                self.forbidden[at],
                sum(judged[at]) if judged else 0,
                judged[at][0] / sum(judged[at]) if judged and sum(judged[at]) else None,
            )
            for at, expression in enumerate(self.rule.include)
        ]
        excludes = [
            ExpressionFigures(
                expression,
                "exclude",
                self.met[at],
                _share(self.met[at], texts),
                self.alone[at],
                self.forbids[at],
            )
            for at, expression in enumerate(self.rule.exclude)
        ]
        return CategoryFigures(
            category=self.rule.name,
            title=self.rule.title or self.rule.name,
            found=self.matched,
            share=_share(self.matched, texts),
            excluded=self.excluded,
            expressions=(*includes, *excludes),
            examples=tuple(one for _, one in self.examples.drawn()),
            forbidden=tuple(one for _, one in self.kept_out.drawn()),
            quality=quality,
        )


class Tally:
    """What all rules have found so far."""

    def __init__(self, rules: Rules, examples: int, seed: int) -> None:
        """Start from nothing."""
        self._rules = rules
        self._seed = seed
        self._column = {name: column for column, name in enumerate(rules.names)}
        self._both = np.zeros((len(self._column), len(self._column)), np.int64)
        self.of_rule = {rule.name: RuleTally(rule, examples) for rule in rules.rules}
        self.texts = self.found = 0

    def see(self, text: str) -> None:
        """Look at one text."""
        row = self.texts
        findings = self._rules.look(text)
        self.texts += 1
        if not findings:
            return
        number = ticket(text, self._seed)
        for name, finding in findings.items():
            self.of_rule[name].see(finding, number, lambda found: example(self._rules, row, text, found))
        matched = [self._column[name] for name, finding in findings.items() if finding.verdict == "matched"]
        self.found += bool(matched)
        if len(matched) > 1:
            self._both[np.ix_(matched, matched)] += 1

    def overlaps(self) -> tuple[Overlap, ...]:
        """Give the pairs of categories that share texts, those that go together most first."""
        names = self._rules.names
        pairs = []
        for a, b in np.argwhere(np.triu(self._both, 1)):
            first, second = (self.of_rule[names[column]].matched for column in (a, b))
            both = int(self._both[a, b])
            together = phi(self.texts, first, second, both)
            pairs.append(Overlap(names[a], names[b], both, both / first, both / second, together))
        return tuple(sorted(pairs, key=lambda pair: (-(pair.phi or 0), -pair.both)))


def _add(counts: list[int], places: Sequence[int]) -> None:
    for place in places:
        counts[place] += 1


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
