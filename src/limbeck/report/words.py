"""Words that tell a category from the rest: log-odds with an informative prior (Monroe, Colaresi & Quinn 2008)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import log, sqrt

from limbeck.text.words import words

# Rarer words say more about a text than about its category.
FEWEST, PRIOR = 3, 500.0


@dataclass(frozen=True)
class Telling:
    """A word, how far it leans to the category in standard deviations, and the share of its texts that have it."""

    word: str
    score: float
    share: float


def telling_words(texts: Sequence[str], rows: Sequence[Sequence[int]], most: int) -> list[list[Telling]]:
    """Give, for each group of rows, the words that it has more often than all texts do."""
    sets = [{text[a:b].lower() for a, b in words(text) if text[a:b].isalpha() and b - a > 1} for text in texts]
    everywhere = Counter(word for some in sets for word in some)
    total = sum(everywhere.values())
    return [_of_group([sets[row] for row in group], everywhere, total, most) for group in rows]


def _of_group(group: Sequence[set[str]], everywhere: Counter[str], total: int, most: int) -> list[Telling]:
    here = Counter(word for some in group for word in some)
    mine = sum(here.values())
    rest = total - mine
    found = []
    for word, count in here.items():
        if count < FEWEST:
            continue
        prior = PRIOR * everywhere[word] / total
        inside, outside = count + prior, everywhere[word] - count + prior
        lean = log(inside / (mine + PRIOR - inside)) - log(outside / max(1.0, rest + PRIOR - outside))
        score = lean / sqrt(1 / inside + 1 / outside)
        if score > 0:
            found.append(Telling(word, score, count / len(group)))
    return sorted(found, key=lambda one: (-one.score, one.word))[:most]
