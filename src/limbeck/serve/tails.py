"""Probabilities of results at least as far out as one that was seen, if nothing changed.

scipy has them all, but takes longer to load than a bundle.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

# Where even the smallest of a table's sums has more than so many texts, the normal distribution is as good as exact.
EXACT = 10_000
# Probabilities that differ by less are taken for equal: they are sums of many logarithms.
_SAME = 1e-7


def normal_tail(z: float) -> float:
    """Give the probability that a standard normal variable is further from 0 than `z`, on either side."""
    return math.erfc(abs(z) / math.sqrt(2))


def student_tail(t: float, degrees: int) -> float:
    """Give the same for Student's t, by Wallace's transformation to a normal variable (1959).

    With 30 degrees of freedom and more it is right to 1 %, down to probabilities of one in a million.
    """
    if degrees < 1:
        return 1.0
    scale = (8 * degrees + 1) / (8 * degrees + 3)
    return normal_tail(scale * math.sqrt(degrees * math.log1p(t * t / degrees)))


def chi_square_tail(value: float, degrees: int) -> float:
    """Give the probability that a chi-square variable is larger than `value`.

    It is the regularised incomplete gamma function Q(degrees / 2, value / 2). For whole degrees its recurrence,
    Q(a + 1, x) = Q(a, x) + x^a e^-x / Γ(a + 1), adds nothing but positive terms.
    """
    if degrees < 1 or value <= 0:
        return 1.0
    x = value / 2
    tail = math.erfc(math.sqrt(x)) if degrees % 2 else math.exp(-x)
    for step in range((degrees - 1) // 2):
        a = step + (0.5 if degrees % 2 else 1.0)
        tail += math.exp(a * math.log(x) - x - math.lgamma(a + 1))
    return min(1.0, tail)


def kolmogorov_tail(distance: float, size: float) -> float:
    """Give the probability of a larger distance between two distribution functions.

    `size` is n·m / (n + m) for samples of n and m; Stephens' correction (1970) makes the limit right for small ones.
    """
    root = math.sqrt(max(size, 0.0))
    if distance <= 0 or root == 0:
        return 1.0
    return kolmogorov_limit((root + 0.12 + 0.11 / root) * distance)


def kolmogorov_limit(value: float) -> float:
    """Give the probability that the supremum of a Brownian bridge is larger than `value`."""
    if value < 0.1:
        return 1.0
    if value < 1:
        # This series is exact where the other one converges slowly.
        powers = (math.exp(-((2 * k - 1) ** 2) * math.pi**2 / (8 * value**2)) for k in range(1, 5))
        return 1 - math.sqrt(2 * math.pi) / value * sum(powers)
    return 2 * sum((1 if k % 2 else -1) * math.exp(-2 * (k * value) ** 2) for k in range(1, 7))


def rate_z(some: int, of: int, others: int, of_others: int) -> float:
    """Give how many standard errors the rate some / of lies above others / of_others; 0 where there is no error."""
    if of < 1 or of_others < 1:
        return 0.0
    pooled = (some + others) / (of + of_others)
    error = math.sqrt(pooled * (1 - pooled) * (1 / of + 1 / of_others))
    return (some / of - others / of_others) / error if error > 0 else 0.0


def rate_tail(some: int, of: int, others: int, of_others: int, only_more: bool = False) -> float:
    """Give the probability that two rates differ so much if they are the same in truth.

    Fisher's exact test, which holds for any rates and sizes; the z test where all sums are large. With `only_more`,
    only a higher rate of the first counts as different.
    """
    both, total = some + others, of + of_others
    if min(of, of_others, both, total - both) < 1:
        return 1.0
    if min(of, of_others, both, total - both) > EXACT:
        z = rate_z(some, of, others, of_others)
        return math.erfc(z / math.sqrt(2)) / 2 if only_more else normal_tail(z)
    lowest = max(0, both - of_others)
    logs = _hypergeometric(lowest, min(of, both), of, of_others, both)
    here = some - lowest
    chosen = logs[here:] if only_more else logs[logs <= logs[here] + _SAME]
    return min(1.0, float(np.exp(chosen).sum() / np.exp(logs).sum()))


def _hypergeometric(lowest: int, highest: int, of: int, of_others: int, both: int) -> NDArray[np.float64]:
    """Give the logarithms of the probabilities of each possible count, less the highest of them."""
    at = np.arange(lowest, highest, dtype=np.float64)
    steps = np.log(of - at) + np.log(both - at) - np.log(at + 1) - np.log(of_others - both + at + 1)
    logs = np.concatenate([[0.0], np.cumsum(steps)])
    less: NDArray[np.float64] = logs - logs.max()
    return less
