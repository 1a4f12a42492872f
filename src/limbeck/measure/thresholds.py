"""One threshold a label: the line search for F1 (the sCut method), and a steadier one for small dev sets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from limbeck.measure.checks import as_proba, as_thresholds, as_truth
from limbeck.measure.curves import cumulative_counts
from limbeck.measure.scaling import EDGE, fit_calibration

Floats = NDArray[np.float64]

# A label with so many positives in the tuning half heeds them as much as the pool.
HEARD = 100


@dataclass(frozen=True)
class Unlabelled:
    """Texts without labels: the scores of the model in question, and a calibrated teacher's guesses; NaN is none."""

    scores: NDArray[np.float32]
    guesses: NDArray[np.float32]


def tune_thresholds(
    truth: ArrayLike, proba: ArrayLike, min_positives: int = 5, fallback: float = 0.5
) -> NDArray[np.float64]:
    """Give the threshold with the highest F1 for each label, over every cut between distinct probabilities.

    A threshold stands midway between its neighbours (the lowest cut midway to 0); of equally good cuts the one closest
    to 0.5 wins. A label with fewer than `min_positives` known positives, or with no known negative, gets `fallback`.
    Tune on the tuning half of dev, never on test.
    """
    answers = as_truth(truth)
    scores = as_proba(proba, answers.shape)
    thresholds = as_thresholds(np.full(answers.shape[1], fallback), answers.shape[1])
    for label, column in enumerate(answers.T):
        positives = int((column == 1).sum())
        if positives >= max(min_positives, 1) and (column == 0).any():
            known = ~np.isnan(column)
            thresholds[label] = _best_cut(column[known] == 1, scores[known, label])
    return thresholds


def steady_thresholds(
    truth: ArrayLike,
    proba: ArrayLike,
    min_positives: int = 5,
    fallback: float = 0.5,
    rounds: int = 30,
    seed: int = 0,
) -> NDArray[np.float64]:
    """Give thresholds for F1 that hang less on single rows than those of the line search.

    Midway, on the logit scale, between two estimates: the mean of line searches on resampled rows, and the threshold
    with the highest expected F1 if the probabilities followed a Platt curve. A label with fewer than `min_positives`
    gets the second alone, one without a known positive or negative `fallback`.
    """
    answers = as_truth(truth)
    scores = as_proba(proba, answers.shape)
    thresholds = as_thresholds(np.full(answers.shape[1], fallback), answers.shape[1])
    rng = np.random.default_rng(seed)
    for label, column in enumerate(answers.T):
        known = ~np.isnan(column)
        yes, mine = column[known] == 1, scores[known, label]
        if not yes.any() or yes.all():
            continue
        found = [_logit(_expected_cut(yes, mine, min_positives))]
        if yes.sum() >= min_positives:
            found.append(float(np.mean([_logit(_best_cut(*draw)) for draw in _draws(yes, mine, rounds, rng)])))
        thresholds[label] = 1 / (1 + np.exp(-np.mean(found)))
    return thresholds


def leaning_thresholds(
    truth: ArrayLike, proba: ArrayLike, unlabelled: Unlabelled, min_positives: int = 5
) -> NDArray[np.float64]:
    """Give steady thresholds that lean, the more the fewer positives a label has, on texts that nobody labelled.

    There the best cut is the one with the highest F1 to be expected if the guesses are right: a handful of positives
    in dev says less than thousands of texts that a calibrated teacher has read.
    """
    answers = as_truth(truth)
    steady = steady_thresholds(answers, proba, min_positives)
    for label, (scores, guesses) in enumerate(zip(unlabelled.scores.T, unlabelled.guesses.T, strict=True)):
        given = ~np.isnan(guesses)
        if not given.any():
            continue
        positives = int((answers[:, label] == 1).sum())
        share = positives / (positives + HEARD)
        there = _likeliest_cut(guesses[given].astype(np.float64), scores[given].astype(np.float64))
        steady[label] = 1 / (1 + np.exp(-(share * _logit(steady[label]) + (1 - share) * _logit(there))))
    return steady


def choose_thresholds(
    truth: ArrayLike, proba: ArrayLike, how: str, min_positives: int, unlabelled: Unlabelled | None = None
) -> NDArray[np.float64]:
    """Tune in the way that `how` (`measure.thresholds`) names."""
    if how == "line-search":
        return tune_thresholds(truth, proba, min_positives)
    if how == "pool" and unlabelled is not None:
        return leaning_thresholds(truth, proba, unlabelled, min_positives)
    return steady_thresholds(truth, proba, min_positives)


def _draws(
    yes: NDArray[np.bool_], scores: Floats, rounds: int, rng: np.random.Generator
) -> Iterator[tuple[NDArray[np.bool_], Floats]]:
    """Give resampled rows, those with a positive among them."""
    for _ in range(rounds):
        rows = rng.integers(0, len(yes), len(yes))
        if yes[rows].any():
            yield yes[rows], scores[rows]


def _expected_cut(yes: NDArray[np.bool_], scores: Floats, least: int) -> float:
    curve = fit_calibration(yes[:, None].astype(np.float64), scores[:, None], "platt", one_class=False, least=least)
    return _likeliest_cut(curve(scores[:, None].astype(np.float32))[:, 0].astype(np.float64), scores)


def _likeliest_cut(likely: Floats, scores: Floats) -> float:
    """Give the cut of `scores` with the highest F1 to be expected if the labels have these probabilities."""
    order = np.argsort(-scores, kind="stable")
    falling, likely = scores[order], likely[order]
    f1 = 2 * np.cumsum(likely) / (np.arange(1, len(likely) + 1) + likely.sum())
    # Equal scores fall on one side together.
    f1[:-1][falling[:-1] == falling[1:]] = -1.0
    best = int(f1.argmax())
    below = falling[best + 1] if best + 1 < len(falling) else 0.0
    return float(_between(np.array([below]), falling[[best]])[0])


def _logit(share: float) -> float:
    inside = min(max(share, EDGE), 1 - EDGE)
    return float(np.log(inside / (1 - inside)))


def _best_cut(yes: NDArray[np.bool_], scores: Floats) -> float:
    falling, tp, fp = cumulative_counts(yes, scores)
    # 2tp + fp + fn is the number of predictions plus the number of positives.
    f1 = 2 * tp / (tp + fp + tp[-1])
    cuts = _between(np.append(falling[1:], 0.0), falling)
    best = np.flatnonzero(f1 == f1.max())
    return float(cuts[best[np.argmin(np.abs(cuts[best] - 0.5))]])


def _between(below: Floats, at: Floats) -> Floats:
    """Give the midpoints, or the upper neighbour where a midpoint would not separate the two, also in float32."""
    middle = (below + at) / 2
    served = middle.astype(np.float32).astype(np.float64)
    separates = (middle > below) & (served > below) & (served <= at)
    return np.where(separates, middle, at)
