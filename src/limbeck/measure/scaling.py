"""Make probabilities mean what they say: Platt scaling, temperature, and labels that are rarer or more frequent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from limbeck.measure.calibration import Bin, expected_calibration_error, reliability
from limbeck.measure.checks import as_names, as_proba, as_truth
from limbeck.measure.counts import mean_over
from limbeck.scorer import Floats

Method = Literal["platt", "temperature", "none"]
Doubles = NDArray[np.float64]

# Probabilities and rates closer than this to 0 or 1 are treated as this close: their logit would be endless.
EDGE = 1e-6
# A score that needs a flatter curve than this says next to nothing, or the opposite of what it should.
LEAST_SLOPE = 0.01
# Logits that spread less than this are one constant and rounding; a slope fitted to them would blow up elsewhere.
LEAST_SPREAD = 1e-3
# In rows: an offset of 1 costs as much as half a unit of log loss on one row.
OFFSET_PENALTY = 1.0


@dataclass(frozen=True)
class Calibration:
    """A curve a label: sigmoid(slope * logit(p) + offset), or with `one_class` the softmax of slope * log(p) + offset.

    A slope of 1 and an offset of 0 leave a label exactly as it is. Every slope is positive, so a label's curve never
    reverses the order of two texts. With `one_class` all slopes are equal (1 / temperature), and unequal offsets can
    move the most probable class.
    """

    slopes: tuple[float, ...]
    offsets: tuple[float, ...]
    one_class: bool

    @classmethod
    def identity(cls, labels: int, one_class: bool) -> Calibration:
        """Give the calibration that changes nothing."""
        return cls((1.0,) * labels, (0.0,) * labels, one_class)

    def __call__(self, proba: Floats) -> Floats:
        """Give calibrated probabilities [texts, labels]; NaN stays NaN, with `one_class` in the whole row."""
        given = np.asarray(proba, dtype=np.float64)
        slopes, offsets = np.array(self.slopes), np.array(self.offsets)
        unchanged = (slopes == 1) & (offsets == 0)
        inner = np.clip(given, EDGE, 1 - EDGE)
        if self.one_class:
            unchanged = unchanged.all()
            curve = np.exp(_log_softmax(slopes * np.log(inner) + offsets))
        else:
            curve = 0.5 * (1 + np.tanh(0.5 * (slopes * _logit(inner) + offsets)))
        return np.where(unchanged, given, curve).astype(np.float32)

    def thresholds(self, thresholds: Doubles) -> Doubles:
        """Give the thresholds at which calibrated probabilities decide as the given ones did before.

        They are values that float32 holds exactly. A curve must put some float32 neighbours on one value, most of all
        near 0 and 1. Where a threshold parts such neighbours, all of them say yes; but at the low end, where the curve
        is flat down to 0, all of them say no. With `one_class` thresholds play no part and come back as they are.
        """
        given = np.array(thresholds, dtype=np.float64)
        if self.one_class:
            return given
        # The lowest float32 that said yes: through the same rounding as every probability, it must say yes again.
        lowest = given.astype(np.float32)
        lowest = np.where(lowest < given, np.nextafter(lowest, np.float32(2)), lowest)
        reached, half = self(np.stack([lowest, lowest / 2]))
        drowned = (lowest > 0) & (half == reached)
        return np.asarray(np.where(drowned, np.nextafter(reached, np.float32(1)), reached), dtype=np.float64)

    def as_dict(self) -> dict[str, Any]:
        """Give plain values for JSON."""
        return {"slopes": list(self.slopes), "offsets": list(self.offsets), "one_class": self.one_class}

    @classmethod
    def from_dict(cls, about: Mapping[str, Any]) -> Calibration:
        """Read what `as_dict` gave."""
        return cls(tuple(map(float, about["slopes"])), tuple(map(float, about["offsets"])), bool(about["one_class"]))


def fit_calibration(truth: ArrayLike, proba: ArrayLike, method: Method, one_class: bool, least: int) -> Calibration:
    """Fit the curves by maximum likelihood on the known cells of [texts, labels]; NaN is unknown.

    Targets are smoothed as in Platt (1999), which keeps slopes finite where a score separates perfectly. "platt" fits
    slope and offset, "temperature" the slope alone. A label with fewer than `least` known positives or negatives, with
    a constant score or with one that points the wrong way keeps the slope 1; one without any positive or any negative
    keeps the identity. With `one_class` there is one slope, a row is known if its class is, and fewer than `least`
    known rows give the identity.
    """
    answers, scores = np.asarray(truth, dtype=np.float64), np.asarray(proba, dtype=np.float64)
    inner = np.clip(scores, EDGE, 1 - EDGE)
    if method == "none":
        return Calibration.identity(scores.shape[1], one_class)
    if one_class:
        rows = (answers == 1).any(axis=1) & ~np.isnan(scores).any(axis=1)
        return _fit_classes((answers[rows] == 1).argmax(axis=1), np.log(inner[rows]), method, least)
    lines = []
    for column, logits in zip(answers.T, _logit(inner).T, strict=True):
        known = ~np.isnan(column) & ~np.isnan(logits)
        lines.append(_fit_label(column[known] == 1, logits[known], method, least))
    return Calibration(tuple(slope for slope, _ in lines), tuple(offset for _, offset in lines), one_class=False)


def _fit_label(yes: NDArray[np.bool_], logits: Doubles, method: Method, least: int) -> tuple[float, float]:
    positives, negatives = int(yes.sum()), int((~yes).sum())
    if not positives or not negatives:
        return 1.0, 0.0
    targets = np.where(yes, (positives + 1) / (positives + 2), 1 / (negatives + 2))
    slope, offset = _fit_line(logits, targets, min(positives, negatives) >= least, method == "platt")
    return (slope, offset) if slope >= LEAST_SLOPE else _fit_line(logits, targets, False, method == "platt")


def _fit_line(logits: Doubles, targets: Doubles, fit_slope: bool, fit_offset: bool) -> tuple[float, float]:
    """Give slope and offset; what is not fitted stays 1 or 0."""
    middle = float(logits.mean()) if fit_offset else 0.0
    spread = float(np.sqrt(np.mean((logits - middle) ** 2)))
    fit_slope = fit_slope and spread >= LEAST_SPREAD
    spread = spread if fit_slope else 1.0
    # Two classes are a softmax over 0 and the logit; centred and scaled, the search is well conditioned.
    scores = np.stack([np.zeros_like(logits), (logits - middle) / spread], axis=1)
    start, free = np.array([spread, 0.0, middle]), np.array([fit_slope, False, fit_offset])
    steepness, _, height = _most_likely(scores, np.stack([1 - targets, targets], axis=1), start, free)
    slope = float(steepness / spread)
    return slope, float(height - slope * middle)


def _fit_classes(classes: NDArray[np.int64], logs: Doubles, method: Method, least: int) -> Calibration:
    rows, labels = logs.shape
    if rows < max(least, 1) or labels < 2:
        return Calibration.identity(labels, one_class=True)
    # Smoothed over all rows, not a class's own: they share the slope, and a rare class would flatten it for everyone.
    targets = np.full((rows, labels), 1 / (rows + 2) / (labels - 1))
    targets[np.arange(rows), classes] = (rows + 1) / (rows + 2)
    start, free = np.array([1.0] + [0.0] * labels), np.array([True] + [method == "platt"] * labels)
    # The softmax is the same when all offsets rise together, and a class without rows would sink for ever: the penalty
    # settles the first and stops the second.
    found = _most_likely(logs, targets, start, free, OFFSET_PENALTY)
    if found[0] < LEAST_SLOPE:
        free[0] = False
        found = _most_likely(logs, targets, start, free, OFFSET_PENALTY)
    return Calibration((float(found[0]),) * labels, tuple(map(float, found[1:])), one_class=True)


def _most_likely(
    scores: Doubles, targets: Doubles, start: Doubles, free: NDArray[np.bool_], penalty: float = 0.0
) -> Doubles:
    """Give the slope, then an offset a class, of the softmax nearest to `targets`; what is not `free` keeps `start`."""
    from scipy.optimize import minimize

    def loss(at: Doubles) -> tuple[float, Doubles]:
        slope, offsets = at[0], at[1:]
        logs = _log_softmax(slope * scores + offsets)
        gaps = np.exp(logs) - targets
        value = penalty / 2 * (offsets @ offsets) - (targets * logs).sum()
        slant = np.concatenate([[(gaps * scores).sum()], gaps.sum(axis=0) + penalty * offsets])
        return float(value / len(scores)), np.where(free, slant / len(scores), 0.0)

    return np.asarray(minimize(loss, start, jac=True, method="L-BFGS-B", tol=1e-12).x, dtype=np.float64)


def _logit(share: Doubles) -> Doubles:
    return np.asarray(np.log(share / (1 - share)))


def _log_softmax(scores: Doubles) -> Doubles:
    level = scores - scores.max(axis=1, keepdims=True)
    return np.asarray(level - np.log(np.exp(level).sum(axis=1, keepdims=True)))


def estimate_rates(
    proba: ArrayLike, rates: ArrayLike, one_class: bool, rounds: int = 1000, tolerance: float = 1e-7
) -> Doubles:
    """Estimate the labels' rates in an unlabelled sample by EM (Saerens, Latinne & Decaestecker, 2002).

    `proba` [texts, labels] must be right where the rates are `rates`: calibrate first, and pass the rates of the rows
    that the calibration was fitted on, or the estimate runs off. NaN is skipped; a label without a probability keeps
    its rate. Estimates stay half a row of the sample away from 0 and 1.
    """
    given, old = np.asarray(proba, dtype=np.float64), np.asarray(rates, dtype=np.float64)
    if not one_class:
        pairs = ((np.stack([1 - p, p], axis=1), (1 - rate, rate)) for p, rate in zip(given.T, old, strict=True))
        return np.array([estimate_rates(p, both, True, rounds, tolerance)[1] for p, both in pairs])
    rows = given[~np.isnan(given).any(axis=1)]
    if not len(rows):
        return old.copy()
    before = now = _inside(old, 0.5 / len(rows))
    for _ in range(rounds):
        weighted = rows * (now / before)
        last, now = now, (weighted / weighted.sum(axis=1, keepdims=True)).mean(axis=0)
        if np.abs(now - last).max() <= tolerance:
            break
    return _inside(now, 0.5 / len(rows))


def _inside(rates: Doubles, margin: float) -> Doubles:
    clipped = np.clip(rates, margin, 1 - margin)
    return np.asarray(clipped / clipped.sum())


def shifted(calibration: Calibration, rates_before: ArrayLike, rates_after: ArrayLike) -> Calibration:
    """Give the calibration for texts among which the labels have other rates but otherwise look the same.

    Rates are kept `EDGE` away from 0 and 1. Thresholds mapped through the result decide as before the shift; mapped
    through the unshifted calibration, they let more texts of a label pass where it has become more frequent.
    """
    before, after = (np.clip(np.asarray(r, dtype=np.float64), EDGE, 1 - EDGE) for r in (rates_before, rates_after))
    step = np.log(after / before) if calibration.one_class else _logit(after) - _logit(before)
    return replace(calibration, offsets=tuple((np.array(calibration.offsets) + step).tolist()))


def calibration_figures(truth: ArrayLike, before: ArrayLike, after: ArrayLike) -> dict[str, float]:
    """Give `ece`, `brier` and `log_loss`, each with `_before` and `_after`.

    A figure is the mean over a label's known cells, then over the labels that have any. Log loss keeps probabilities
    `EDGE` away from 0 and 1.
    """
    answers = as_truth(truth)
    known = ~np.isnan(answers)
    figures = {}
    for when, proba in (("before", before), ("after", after)):
        scores = as_proba(proba, answers.shape)
        inner = np.clip(scores, EDGE, 1 - EDGE)
        figures[f"ece_{when}"] = expected_calibration_error(answers, scores)
        cells = {"brier": (scores - answers) ** 2, "log_loss": -np.log(np.where(answers == 1, inner, 1 - inner))}
        for name, costs in cells.items():
            figures[f"{name}_{when}"] = float(np.nanmean(mean_over(costs.T, known.T)))
    return figures


def reliability_tables(
    names: Sequence[str], truth: ArrayLike, before: ArrayLike, after: ArrayLike, bins: int = 10
) -> dict[str, dict[str, list[dict[str, float | None]]]]:
    """Give each label's bins `before` and `after` as plain values for JSON; labels without a known cell are left out.

    What an empty bin has no value for is None.
    """
    answers = as_truth(truth)
    scores = {"before": as_proba(before, answers.shape), "after": as_proba(after, answers.shape)}
    return {
        name: {
            when: [_plain(b) for b in reliability(answers[:, label], proba[:, label], bins)]
            for when, proba in scores.items()
        }
        for label, name in enumerate(as_names(names, answers.shape[1]))
        if not np.isnan(answers[:, label]).all()
    }


def _plain(row: Bin) -> dict[str, float | None]:
    return {key: None if np.isnan(value) else value for key, value in asdict(row).items()}
