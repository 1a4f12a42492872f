"""How rules agree with what people said; a label that nobody gave counts neither way."""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from limbeck.data.dataset import Dataset
from limbeck.measure.counts import count
from limbeck.rules.figures import Example, Quality, example
from limbeck.rules.rules import Rules


@dataclass(frozen=True)
class Agreement:
    """A rule's quality, and for each of `include` how often a known label says yes and no of what it matches."""

    quality: Quality
    judged: tuple[tuple[int, int], ...]


def agreement(rules: Rules, labelled: Dataset, examples: int, seed: int) -> dict[str, Agreement]:
    """Measure the rules of all categories for which a label is known."""
    named = [rule for rule in rules.rules if rule.name in labelled.names and len(labelled.known_for(rule.name))]
    if not named:
        return {}
    chosen = rules.only(rule.name for rule in named)
    truth = np.stack([labelled.column(rule.name) for rule in named], axis=1).astype(np.float64)
    decided = np.zeros(truth.shape, np.bool_)
    judged = [np.zeros((len(rule.include), 2), np.int64) for rule in named]
    column = {rule.name: at for at, rule in enumerate(named)}
    for row, findings in enumerate(chosen.match(labelled.texts)):
        for name, finding in findings.items():
            at = column[name]
            if finding.verdict == "matched":
                decided[row, at] = True
                if not np.isnan(truth[row, at]):
                    judged[at][list(finding.include), int(truth[row, at] == 0)] += 1
    counts = count(truth, decided)
    precision, recall, f1 = counts.precision(), counts.recall(), counts.f1()
    rng = random.Random(seed)
    told = {}
    for at, rule in enumerate(named):
        yes, no, matched = truth[:, at] == 1, truth[:, at] == 0, decided[:, at]
        quality = Quality(
            known=int(counts.known[at]),
            yes=int(counts.support[at]),
            found=int(counts.tp[at] + counts.fp[at]),
            precision=_plain(precision[at]),
            recall=_plain(recall[at]),
            f1=_plain(f1[at]),
            wrong=_draw(chosen, rule.name, labelled, no & matched, examples, rng),
            missed=_draw(chosen, rule.name, labelled, yes & ~matched, examples, rng),
        )
        told[rule.name] = Agreement(quality, tuple((int(right), int(wrong)) for right, wrong in judged[at]))
    return told


def _plain(ratio: np.float64) -> float | None:
    return None if np.isnan(ratio) else float(ratio)


def _draw(
    rules: Rules, name: str, labelled: Dataset, rows: NDArray[np.bool_], size: int, rng: random.Random
) -> tuple[Example, ...]:
    there = np.flatnonzero(rows).tolist()
    drawn = sorted(rng.sample(there, min(size, len(there))))
    rule = next(rule for rule in rules.rules if rule.name == name)
    shown = []
    for row in drawn:
        text = labelled.texts[row]
        finding = rules.look(text).get(name)
        shown.append(example(rules, row, text, rule.include[finding.include[0]] if finding and finding.include else ""))
    return tuple(shown)
