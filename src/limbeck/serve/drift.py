"""Whether texts are still like those that a bundle was made with, and what to do if not.

Each way in which they can differ is a test; Holm's correction (1979) makes the chance of any false alarm, in a window
of texts that are like the reference's, at most the alarm rate. Windows that are looked at again and again as they move
on share most of their texts, but each new one is another chance.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from limbeck.runtime.manifest import Reference
from limbeck.serve.tails import chi_square_tail, kolmogorov_tail, rate_tail, rate_z, student_tail
from limbeck.serve.window import Doubles, Snapshot, length_edges

ALARM_RATE, LEAST = 0.01, 100
# Embeddings that a comparison needs: means of fewer are not normal enough where embeddings are skewed.
LEAST_EMBEDDINGS = 100
# Texts that the smaller sample must have in a bin, on average, for the chi-square distribution to hold in its tail.
IN_A_BIN = 10
# A reference's mean embedding has so many digits.
ROUNDED = 1e-5
FEWEST_LABELS, MOST_LABELS = 20, 500

Kind = Literal["category", "confidence", "lengths", "unknown", "embedding"]


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One comparison: `reference` and `live` are the values that `sentence` tells, `adjusted_p` is Holm's.

    `psi` is the population stability index of what has a histogram; below 0.1 is read as little, above 0.25 as much.
    """

    kind: Kind
    what: str
    statistic: str
    value: float
    p: float
    reference: float
    live: float
    sentence: str
    psi: float | None = None
    adjusted_p: float = 1.0
    moved: bool = False


@dataclass(frozen=True, kw_only=True)
class DriftReport:
    """All comparisons of a window; without any, `sentence` says why.

    `suggested_labels` has, for each category that moved, how many texts to label to see whether the world or the model
    changed.
    """

    moved: bool = False
    findings: tuple[Finding, ...] = ()
    texts: int = 0
    alarm_rate: float = ALARM_RATE
    suggested_labels: dict[str, int]
    sentence: str


def compare(
    reference: Reference | None, snapshot: Snapshot, alarm_rate: float = ALARM_RATE, least: int = LEAST
) -> DriftReport:
    """Compare a window with what texts were like when the bundle was made; fewer than `least` of them say nothing."""
    texts = snapshot.texts
    if reference is None or not reference.texts:
        why = "This bundle has no reference to compare texts with. Make it again with: limbeck compress"
        return DriftReport(texts=texts, alarm_rate=alarm_rate, suggested_labels={}, sentence=why)
    if texts < max(1, least):
        why = f"{texts:,} texts are too few to compare; {least:,} are enough."
        return DriftReport(texts=texts, alarm_rate=alarm_rate, suggested_labels={}, sentence=why)
    tests = [_rate(name, reference, snapshot) for name in reference.label_rates]
    tests += [_confidence(reference, snapshot), _lengths(reference, snapshot), _unknown(reference, snapshot)]
    tests += [_embedding(reference, snapshot)]
    findings = _judged([test for test in tests if test is not None], alarm_rate)
    suggested = {one.what: _labels(one) for one in findings if one.moved and one.kind == "category"}
    return DriftReport(
        moved=any(one.moved for one in findings),
        findings=findings,
        texts=texts,
        alarm_rate=alarm_rate,
        suggested_labels=suggested,
        sentence=_advice(findings, suggested, texts),
    )


def _judged(tests: Sequence[Finding], alarm_rate: float) -> tuple[Finding, ...]:
    """Adjust each p value by the number of tests that are not less likely, as Holm does."""
    adjusted, highest = dict[int, float](), 0.0
    for rank, place in enumerate(sorted(range(len(tests)), key=lambda place: tests[place].p)):
        highest = max(highest, min(1.0, tests[place].p * (len(tests) - rank)))
        adjusted[place] = highest
    return tuple(
        replace(test, adjusted_p=adjusted[place], moved=adjusted[place] <= alarm_rate)
        for place, test in enumerate(tests)
    )


def _rate(name: str, reference: Reference, snapshot: Snapshot) -> Finding | None:
    if name not in snapshot.given:
        return None
    was, texts = reference.label_rates[name], snapshot.texts
    some = min(snapshot.given[name], texts)
    counts = (some, texts, round(was * reference.texts), reference.texts)
    return Finding(
        kind="category",
        what=name,
        statistic="z",
        value=rate_z(*counts),
        p=rate_tail(*counts),
        reference=was,
        live=some / texts,
        sentence=f"{name} is given to {_percent(some / texts)} of texts, was {_percent(was)}.",
    )


def _confidence(reference: Reference, snapshot: Snapshot) -> Finding | None:
    """Compare histograms; entities of one text are alike, so each text counts but once."""
    counts, shares = np.array(snapshot.confidence, dtype=np.float64), np.array(reference.confidence, dtype=np.float64)
    if len(counts) != len(shares) or not counts.sum() or not shares.sum():
        return None
    live, was = counts / counts.sum(), shares / shares.sum()
    size, others = float(counts.sum()), float(reference.texts)
    if snapshot.with_entities is not None:
        # How many texts of the reference had an entity isn't known, but at least as many as had one of any one type.
        size = min(size, float(max(1, snapshot.with_entities)))
        others = max(1.0, others * max(reference.label_rates.values(), default=0.0))
    psi, bins = _stability(live, was, size, others)
    middles = 0.5 + 0.5 * (np.arange(len(was)) + 0.5) / len(was)
    now, before = float(live @ middles), float(was @ middles)
    return Finding(
        kind="confidence",
        what="confidence",
        statistic="chi-square",
        value=psi / (1 / size + 1 / others),
        psi=psi,
        p=chi_square_tail(psi / (1 / size + 1 / others), bins - 1),
        reference=before,
        live=now,
        sentence=f"The mean confidence is {now:.3f}, was {before:.3f}.",
    )


def _stability(live: Doubles, was: Doubles, size: float, others: float) -> tuple[float, int]:
    """Give the population stability index of two histograms' shares, and in how many bins it was taken.

    Neighbouring bins with few texts are one. If nothing changed, the index is distributed as (1/size + 1/others) times
    chi-square with one degree of freedom less than bins (Yurdakul 2018).
    """
    both = (live * size + was * others) / (size + others) * min(size, others)
    groups, filled = [0], 0.0
    for place, expected in enumerate(both):
        if filled >= IN_A_BIN and both[place:].sum() >= IN_A_BIN:
            groups.append(place)
            filled = 0.0
        filled += float(expected)
    bins = len(groups)
    # Half a text in each keeps logarithms finite.
    now = (np.add.reduceat(live, groups) * size + 0.5) / (size + 0.5 * bins)
    before = (np.add.reduceat(was, groups) * others + 0.5) / (others + 0.5 * bins)
    return float(((now - before) * np.log(now / before)).sum()), bins


def _lengths(reference: Reference, snapshot: Snapshot) -> Finding | None:
    """Compare distribution functions where the reference's is known: a lower bound of Kolmogorov's distance."""
    edges, counts = length_edges(reference), np.array(snapshot.lengths, dtype=np.float64)
    if len(edges) < 2 or len(counts) != 2 * len(edges) + 1 or not counts.sum():
        return None
    texts, others = float(counts.sum()), float(reference.texts)
    # The share of texts that are shorter than the first edge, at most as long, shorter than the second, and so on.
    live = np.cumsum(counts)[:-1] / texts
    lowest, highest = _known_shares(reference, edges)
    was = np.clip(live, lowest, highest)
    far = int(np.abs(live - was).argmax())
    distance = abs(float(live[far] - was[far]))
    # Bins that hold nothing but an edge would make much of little: each ends with its edge.
    bins, bins_before = (np.diff(shares[1::2], prepend=0, append=1) for shares in (live, was))
    psi, _ = _stability(bins, bins_before, texts, others)
    now, before = 1 - float(live[far]), 1 - float(was[far])
    than = f"more than {edges[far // 2]:g} tokens" if far % 2 else f"{edges[far // 2]:g} tokens or more"
    return Finding(
        kind="lengths",
        what="lengths",
        statistic="Kolmogorov-Smirnov",
        value=distance,
        psi=psi,
        p=kolmogorov_tail(distance, texts * others / (texts + others)),
        reference=before,
        live=now,
        sentence=f"{_percent(now)} of texts have {than}, was {_percent(before)}.",
    )


def _known_shares(reference: Reference, edges: Doubles) -> tuple[Doubles, Doubles]:
    """Give the least and the largest share of the reference's texts below and up to each edge [2 edges].

    A percentile lies at a rank among the sorted lengths, or between two: as many texts are at most as long as it, and
    the others at least. Of lengths that many texts have, several percentiles tell.
    """
    lengths, last = np.round(np.array(reference.lengths), 6), len(reference.lengths) - 1
    ranks = np.arange(last + 1) * (reference.texts - 1)
    below, up_to = -(-ranks // last) / reference.texts, (ranks // last + 1) / reference.texts
    least = np.array([up_to[lengths == edge].max() for edge in edges])
    most = np.array([below[lengths == edge].min() for edge in edges])
    lowest = np.ravel(np.column_stack([np.append(0.0, least[:-1]), least]))
    highest = np.ravel(np.column_stack([most, np.append(most[1:], 1.0)]))
    return lowest, np.maximum(lowest, highest)


def _unknown(reference: Reference, snapshot: Snapshot) -> Finding | None:
    """Compare rates of unknown tokens. Only a higher one is drift: fewer unknown words do no harm.

    Unknown tokens come in bursts, so texts are counted, not tokens: the variance of the ratio over texts, divided by
    that of independent tokens, says how many tokens count as one (Rao and Scott 1992).
    """
    texts, unknown, tokens = snapshot.texts, snapshot.unknown, snapshot.tokens
    if not tokens or len(snapshot.squared) != 3:
        return None
    rate, was = min(1.0, unknown / tokens), reference.unknown_rate
    own, cross, whole = snapshot.squared
    spread = max(0.0, own - 2 * rate * cross + rate**2 * whole) / max(1, texts - 1)
    independent = tokens / texts * rate * (1 - rate)
    together = max(1.0, spread / independent) if independent > 0 else 1.0
    # The reference doesn't tell its tokens; if nothing changed, its texts were as long.
    others = reference.texts * tokens / texts
    some, of = math.floor(rate * tokens / together), math.ceil(tokens / together)
    some_others, of_others = math.ceil(was * others / together), math.ceil(others / together)
    return Finding(
        kind="unknown",
        what="unknown words",
        statistic="z",
        value=rate_z(some, of, some_others, of_others),
        p=rate_tail(some, of, some_others, of_others, only_more=True),
        reference=was,
        live=rate,
        sentence=f"{_percent(rate)} of tokens are unknown words, was {_percent(was)}.",
    )


def _embedding(reference: Reference, snapshot: Snapshot) -> Finding | None:
    """Compare means along each direction; the reference's spread isn't known, so the window's stands for both.

    With a hundred embeddings this holds up to a skewness of 2 or so along a direction; far more needs thousands.
    """
    count, along = snapshot.embeddings, np.array(snapshot.along)
    squares, total = np.array(snapshot.along_squared), np.array(snapshot.embedding)
    if count < LEAST_EMBEDDINGS or not len(along) or len(along) != len(squares):
        return None
    if len(total) != len(reference.embedding):
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        mean = along / count
        spread = np.maximum(0, squares / count - mean**2) * count / (count - 1)
        scores = mean / np.sqrt(spread * (1 / count + 1 / reference.texts) + ROUNDED**2)
        apart = _cosine_distance(total / count, np.array(reference.embedding))
    if not (np.isfinite(scores).all() and math.isfinite(apart)):
        return None
    furthest = float(scores[np.abs(scores).argmax()])
    return Finding(
        kind="embedding",
        what="mean embedding",
        statistic="t",
        value=furthest,
        p=min(1.0, len(along) * student_tail(furthest, count - 1)),
        reference=0.0,
        live=apart,
        sentence=f"The mean embedding is {abs(furthest):.1f} standard errors from where it was, along the worst of "
        f"{len(along)} directions; its cosine distance is {apart:.3f}.",
    )


def _cosine_distance(one: Doubles, other: Doubles) -> float:
    """Give 1 less the cosine; 0 if either has no direction."""
    sizes = float(np.linalg.norm(one) * np.linalg.norm(other))
    return 1 - float(one @ other) / sizes if sizes > 0 else 0.0


def _labels(moved: Finding) -> int:
    """Give how many labelled texts measure a rate to half its shift, with 95 % certainty."""
    half = abs(moved.live - moved.reference) / 2
    needed = 1.96**2 * moved.live * (1 - moved.live) / half**2 if half > 0 else math.inf
    return math.ceil(min(MOST_LABELS, max(FEWEST_LABELS, needed)))


def _advice(findings: Sequence[Finding], suggested: Mapping[str, int], texts: int) -> str:
    moved = [one for one in findings if one.moved]
    if not moved:
        return f"Nothing moved: {texts:,} texts are like those that the model was made with. Nothing is to be done."
    names = ", ".join(one.what for one in moved)
    most = max(suggested.values(), default=100)
    each = ", ".join(f"{count} for {name}" for name, count in suggested.items())
    for_what = f" ({each})" if len(suggested) > 1 else ""
    return (
        f"Moved: {names}. Label {most} of the new texts{for_what}, drawn at random, and measure the model on them: if "
        "it is as good as before, the world changed and the model copes; if not, add them to its training and make it "
        "again."
    )


def _percent(share: float) -> str:
    percent = 100 * share
    return f"{percent:.0f} %" if percent >= 10 or percent == 0 else f"{percent:.2g} %"
