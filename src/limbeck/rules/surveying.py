"""What rules find in a pool, and how often they are right where labels exist."""

from __future__ import annotations

from collections.abc import Iterable

from limbeck.data.dataset import Dataset
from limbeck.rules.agreement import agreement
from limbeck.rules.conflicts import conflicts
from limbeck.rules.figures import Survey
from limbeck.rules.rules import Rules
from limbeck.rules.tally import Tally

EXAMPLES = 5


def survey(
    rules: Rules, texts: Iterable[str], labelled: Dataset | None = None, examples: int = EXAMPLES, seed: int = 0
) -> Survey:
    """Look at every text once, in constant memory; `examples` of different texts are drawn for each category."""
    tally = Tally(rules, examples, seed)
    for text in texts:
        tally.see(text)
    agreed = agreement(rules, labelled, examples, seed) if labelled is not None else {}
    categories = []
    for name, counted in tally.of_rule.items():
        told = agreed.get(name)
        quality, judged = (told.quality, told.judged) if told else (None, ())
        categories.append(counted.figures(tally.texts, quality, judged))
    return Survey(
        texts=tally.texts,
        found=tally.found,
        labelled=len(labelled) if labelled is not None else 0,
        categories=tuple(categories),
        overlaps=tally.overlaps(),
        conflicts=conflicts(rules, tally.of_rule.values(), tally.texts),
    )
