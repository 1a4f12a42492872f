"""Weak labels, made by rules and not by people. Nothing uses them that doesn't ask for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from limbeck.errors import BadSetting
from limbeck.rules.rules import Finding, Rule, Rules

WEAK = "weak"


@dataclass(frozen=True)
class WeakLabels:
    """Labels by rules: `labels` is float32 of shape [texts, names], 1 for a match and NaN for unknown.

    0, a weak no, stands only where a rule with `negative = true` doesn't match. `weights`, float32 of shape [names],
    says how much each category's labels count against a person's.
    """

    labels: NDArray[np.float32]
    weights: NDArray[np.float32]
    names: tuple[str, ...]


def weak_labels(rules: Rules, texts: Sequence[str]) -> WeakLabels:
    """Label texts by rules alone."""
    labels = np.full((len(texts), len(rules.names)), np.nan, np.float32)
    for row, findings in enumerate(rules.match(texts)):
        for column, rule in enumerate(rules.rules):
            label = _label(rule, findings.get(rule.name))
            if label is not None:
                labels[row, column] = label
    return WeakLabels(labels, np.array([rule.weight for rule in rules.rules], np.float32), rules.names)


def weak_rows(rules: Rules, texts: Iterable[str], text_column: str = "text") -> Iterator[dict[str, object]]:
    """Give a row for each text and category with a weak label, as a wide file has it, with the weight as 'weak'."""
    for name in rules.names:
        if name in (text_column, WEAK):
            raise BadSetting(f"The category '{name}' is named like a column of the rows.", "Give it another name.")
    return _rows(rules, texts, text_column)


def _rows(rules: Rules, texts: Iterable[str], text_column: str) -> Iterator[dict[str, object]]:
    for text in texts:
        findings = rules.look(text)
        for rule in rules.rules:
            label = _label(rule, findings.get(rule.name))
            if label is not None:
                yield {text_column: text, rule.name: label, WEAK: rule.weight}


def _label(rule: Rule, finding: Finding | None) -> int | None:
    if finding is not None and finding.verdict == "matched":
        return 1
    return 0 if rule.negative else None
