"""How far annotators agree: Cohen's kappa for categories and classes; for entities F1, and kappa over words.

observed    the share of items that both judged alike
kappa       how much of the agreement that chance leaves open was reached (Cohen 1960); None if both always said one
            and the same thing, so that chance alone makes them agree
F1          of one annotator's entities against the other's, same characters and same type; None without entities

Of more than two annotators it is the mean over all pairs that have items in common (Light 1971), those whose figure is
None left out. Intervals hold 95 % of bootstrap rounds, each of which draws as many items as there are; texts are drawn
whole. After perfect agreement they have no width, however few the items are.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from limbeck.scorer import Span
from limbeck.text.words import words

Floats = NDArray[np.float64]
Names = tuple[str, str]

ROUNDS = 1000
_DRAWS_AT_ONCE = 2**21
_LEVEL = 0.95


@dataclass(frozen=True)
class Kappa:
    """The agreement of two annotators on the items that both judged, or the mean over pairs of more."""

    items: int
    observed: float | None
    kappa: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Agreement:
    """The agreement of all who judged a category, on the items that two or more judged."""

    annotators: tuple[str, ...]
    mean: Kappa
    pairs: Mapping[Names, Kappa]


@dataclass(frozen=True)
class EntityAgreement:
    """The agreement about entities in `texts` texts that two or more judged.

    `words` is about the type of each word, or that it is outside of entities. Of two annotators there are no `pairs`.
    """

    annotators: tuple[str, ...]
    texts: int
    f1: float | None
    low: float | None
    high: float | None
    by_type: Mapping[str, float | None]
    words: Kappa
    pairs: Mapping[Names, EntityAgreement]


def kappa(a: Mapping[Hashable, Hashable], b: Mapping[Hashable, Hashable], rounds: int = ROUNDS, seed: int = 0) -> Kappa:
    """Compare what two annotators said, item -> yes or no or class, on the items that both judged."""
    found = Counter((value, b[item]) for item, value in a.items() if item in b)
    return _kappa([_tables(list(found), (0, 1))], _as_floats(found.values()), found.total(), rounds, seed)


def agreement(
    judged: Iterable[tuple[Hashable, str, str, Hashable]], rounds: int = ROUNDS, seed: int = 0
) -> dict[str, Agreement]:
    """Give the agreement by category, of (item, category, annotator, value); of what is said twice, the last counts."""
    said: dict[str, dict[str, dict[Hashable, Hashable]]] = {}
    for item, category, annotator, value in judged:
        said.setdefault(category, {}).setdefault(annotator, {})[item] = value
    return {category: _agreement(said[category], rounds, seed) for category in sorted(said)}


def entity_agreement(
    judged: Iterable[tuple[Hashable, str, str, Sequence[Span]]], rounds: int = ROUNDS, seed: int = 0
) -> EntityAgreement:
    """Give the agreement about entities, of (item, text, annotator, entities)."""
    texts: dict[Hashable, str] = {}
    said: dict[str, dict[Hashable, Sequence[Span]]] = {}
    for item, text, annotator, spans in judged:
        texts[item] = text
        said.setdefault(annotator, {})[item] = spans
    return _entity_agreement(texts, said, rounds, seed)


@dataclass(frozen=True)
class _Tables:
    """What each unit, an item or a text, adds to the table of two annotators, for the units that both judged."""

    units: NDArray[np.intp]
    # [units], then [units, classes]
    size: Floats
    alike: Floats
    first: Floats
    second: Floats

    def totals(self, weights: Floats) -> tuple[Floats, Floats, Floats]:
        """Give how many were judged, how many alike, and the product of the margins; `weights` is [rounds, units]."""
        drawn = weights[:, self.units]
        return drawn @ self.size, drawn @ self.alike, ((drawn @ self.first) * (drawn @ self.second)).sum(axis=1)


def _agreement(said: Mapping[str, Mapping[Hashable, Hashable]], rounds: int, seed: int) -> Agreement:
    names = sorted(said)
    shared = _shared(said)
    # Items about which all said the same are one unit.
    units = Counter(tuple(said[name].get(item, _MISSING) for name in names) for item in shared)
    numbers = combinations(range(len(names)), 2)
    tables = [table for pair in numbers if len((table := _tables(list(units), pair)).units)]
    pairs = {(a, b): kappa(said[a], said[b], rounds, seed) for a, b in combinations(names, 2)}
    return Agreement(
        annotators=tuple(names),
        mean=_kappa(tables, _as_floats(units.values()), len(shared), rounds, seed),
        pairs={names: found for names, found in pairs.items() if found.items},
    )


def _shared(said: Mapping[str, Mapping[Hashable, object]]) -> list[Hashable]:
    times = Counter(item for values in said.values() for item in values)
    return [item for item, count in times.items() if count > 1]


def _kappa(tables: Sequence[_Tables], counts: Floats, items: int, rounds: int, seed: int) -> Kappa:
    low, high = _interval(lambda weights: _kappas(tables, weights), counts, rounds, seed)
    return Kappa(items, _one(_observed(tables, counts[None])), _one(_kappas(tables, counts[None])), low, high)


_MISSING = object()


def _tables(patterns: Sequence[tuple[object, ...]], pair: tuple[int, int]) -> _Tables:
    both = [
        (unit, pattern[pair[0]], pattern[pair[1]])
        for unit, pattern in enumerate(patterns)
        if pattern[pair[0]] is not _MISSING and pattern[pair[1]] is not _MISSING
    ]
    classes: dict[object, int] = {}
    for _, a, b in both:
        classes.setdefault(a, len(classes))
        classes.setdefault(b, len(classes))
    one_hot = np.eye(len(classes))
    return _Tables(
        units=np.array([unit for unit, _, _ in both], dtype=np.intp),
        size=np.ones(len(both)),
        alike=np.array([a == b for _, a, b in both], dtype=np.float64),
        first=one_hot[[classes[a] for _, a, _ in both]].reshape(len(both), len(classes)),
        second=one_hot[[classes[b] for _, _, b in both]].reshape(len(both), len(classes)),
    )


def _observed(tables: Sequence[_Tables], weights: Floats) -> Floats:
    found = [table.totals(weights) for table in tables]
    return _mean([_divided(alike, size) for size, alike, _ in found], len(weights))


def _kappas(tables: Sequence[_Tables], weights: Floats) -> Floats:
    found = [table.totals(weights) for table in tables]
    return _mean([_divided(size * alike - chance, size**2 - chance) for size, alike, chance in found], len(weights))


def _entity_agreement(
    texts: Mapping[Hashable, str], said: Mapping[str, Mapping[Hashable, Sequence[Span]]], rounds: int, seed: int
) -> EntityAgreement:
    names = sorted(said)
    shared = _shared(said)
    counts = np.ones(len(shared))
    offsets = {item: words(texts[item]) for item in shared}
    kinds = sorted({span.type for values in said.values() for item in shared for span in values.get(item, ())})
    pairs = [(a, b) for a, b in combinations(names, 2) if not said[a].keys().isdisjoint(said[b])]
    tables = [_word_tables(shared, offsets, said[a], said[b], kinds) for a, b in pairs]
    matches = [_matches(shared, said[a], said[b], kinds) for a, b in pairs]
    low, high = _interval(lambda weights: _f1(matches, weights), counts, rounds, seed)
    return EntityAgreement(
        annotators=tuple(names),
        texts=len(shared),
        f1=_one(_f1(matches, counts[None])),
        low=low,
        high=high,
        by_type={kind: _one(_f1(matches, counts[None], number)) for number, kind in enumerate(kinds)},
        words=_kappa(tables, counts, sum(map(len, offsets.values())), rounds, seed),
        pairs={
            (a, b): _entity_agreement(texts, {a: said[a], b: said[b]}, rounds, seed)
            for a, b in (pairs if len(names) > 2 else ())
        },
    )


def _word_tables(
    shared: Sequence[Hashable],
    offsets: Mapping[Hashable, Sequence[tuple[int, int]]],
    a: Mapping[Hashable, Sequence[Span]],
    b: Mapping[Hashable, Sequence[Span]],
    kinds: Sequence[str],
) -> _Tables:
    number = {kind: at for at, kind in enumerate(kinds, 1)}
    units = [unit for unit, item in enumerate(shared) if item in a and item in b]
    first = [_types_of_words(a[shared[unit]], offsets[shared[unit]], number) for unit in units]
    second = [_types_of_words(b[shared[unit]], offsets[shared[unit]], number) for unit in units]
    width = len(kinds) + 1
    return _Tables(
        units=np.array(units, dtype=np.intp),
        size=np.array([len(found) for found in first], dtype=np.float64),
        alike=np.array([(x == y).sum() for x, y in zip(first, second, strict=True)], dtype=np.float64),
        first=np.array([np.bincount(x, minlength=width) for x in first], dtype=np.float64).reshape(-1, width),
        second=np.array([np.bincount(y, minlength=width) for y in second], dtype=np.float64).reshape(-1, width),
    )


def _types_of_words(
    spans: Sequence[Span], offsets: Sequence[tuple[int, int]], number: Mapping[str, int]
) -> NDArray[np.intp]:
    starts, ends = [start for start, _ in offsets], [end for _, end in offsets]
    found = np.zeros(len(offsets), dtype=np.intp)
    for span in spans:
        found[bisect_right(ends, span.start) : bisect_left(starts, span.end)] = number[span.type]
    return found


def _matches(
    shared: Sequence[Hashable],
    a: Mapping[Hashable, Sequence[Span]],
    b: Mapping[Hashable, Sequence[Span]],
    kinds: Sequence[str],
) -> NDArray[np.float64]:
    """Give how many entities both have and how many they have in all, [2, texts, types]; 0 for texts of one alone."""
    number = {kind: at for at, kind in enumerate(kinds)}
    found = np.zeros((2, len(shared), len(kinds)))
    for unit, item in enumerate(shared):
        if item in a and item in b:
            mine, theirs = ({(span.start, span.end, span.type) for span in said[item]} for said in (a, b))
            for *_, kind in mine & theirs:
                found[0, unit, number[kind]] += 1
            for *_, kind in [*mine, *theirs]:
                found[1, unit, number[kind]] += 1
    return found


def _f1(matches: Sequence[Floats], weights: Floats, kind: int | None = None) -> Floats:
    parts = [found.sum(axis=2) if kind is None else found[:, :, kind] for found in matches]
    return _mean([_divided(2 * (weights @ both), weights @ either) for both, either in parts], len(weights))


def _as_floats(counts: Iterable[int]) -> Floats:
    return np.array(list(counts), dtype=np.float64)


def _divided(above: Floats, below: Floats) -> Floats:
    """Divide, with NaN for what is not defined."""
    found: Floats = np.full(len(above), np.nan)
    return np.divide(above, below, out=found, where=below > 0)


def _mean(figures: Sequence[Floats], rounds: int) -> Floats:
    """Give the mean over pairs in each round, those that are not defined left out."""
    found = np.array(figures).reshape(len(figures), rounds)
    defined = ~np.isnan(found)
    return _divided(np.where(defined, found, 0).sum(axis=0), defined.sum(axis=0).astype(np.float64))


def _one(figures: Floats) -> float | None:
    return None if np.isnan(figures[0]) else float(figures[0])


def _interval(
    figure: Callable[[Floats], Floats], counts: Floats, rounds: int, seed: int
) -> tuple[float, float] | tuple[None, None]:
    """Draw as many units as there are, `counts` of each kind; rounds in which the figure is not defined don't count."""
    items = int(counts.sum())
    if not items:
        return None, None
    random = np.random.default_rng(seed)
    at_once = max(1, _DRAWS_AT_ONCE // len(counts))
    parts = []
    for start in range(0, rounds, at_once):
        drawn = random.multinomial(items, counts / items, size=min(at_once, rounds - start))
        parts.append(figure(drawn.astype(np.float64)))
    found = np.concatenate(parts)
    found = found[~np.isnan(found)]
    if not len(found):
        return None, None
    low, high = np.quantile(found, [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2])
    return float(low), float(high)
