"""Mixes of strategies: which share of the picks each of them makes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from limbeck.annotate.strategies.registry import STRATEGIES
from limbeck.errors import BadSetting, nearest

Mix = Mapping[str, float]

_FIX = "Write e.g. confidence, or confidence:0.8, random:0.2."


def parse_mix(told: str, known: Iterable[str] = STRATEGIES) -> dict[str, float]:
    """Read 'confidence:0.6, diversity:0.2, …' as shares that add up to 1; a name alone counts as 1.

    `known` are the names that may occur, for entities those of `NER_STRATEGIES`.
    """
    shares: dict[str, float] = {}
    for part in told.split(","):
        name, colon, number = (piece.strip() for piece in part.partition(":"))
        if not name:
            raise BadSetting(f"The mix '{told}' has a part without a name.", _FIX)
        if name in shares:
            raise BadSetting(f"The mix '{told}' names '{name}' twice.", _FIX)
        shares[name] = _number(number, told) if colon else 1.0
    return checked_mix(shares, known)


def checked_mix(mix: Mix, known: Iterable[str]) -> dict[str, float]:
    """Give shares that add up to 1, in the same order; those of 0 are left out."""
    names = tuple(known)
    for name, share in mix.items():
        if name not in names:
            raise BadSetting(f"There is no query strategy '{name}'.", nearest(name, names))
        if not (math.isfinite(share) and share >= 0):
            raise BadSetting(f"The share of '{name}' is {share}.", "Give a number that is not below 0.")
    total = sum(mix.values())
    if not total > 0:
        raise BadSetting("All shares of the mix are 0, or there is none.", _FIX)
    return {name: share / total for name, share in mix.items() if share > 0}


def turns(mix: Mix, count: int) -> list[str]:
    """Say which strategy makes each of `count` picks, so that at any time each has made about its share."""
    made = dict.fromkeys(mix, 0)
    found = []
    for pick in range(1, count + 1):
        # The first of those that lag behind most; rounded, so that thirds are thirds.
        name = max(mix, key=lambda name: round(mix[name] * pick - made[name], 9))
        made[name] += 1
        found.append(name)
    return found


def _number(told: str, mix: str) -> float:
    try:
        return float(told)
    except ValueError:
        raise BadSetting(f"'{told}' in the mix '{mix}' is no number.", _FIX) from None
