"""Budgets as people write them."""

import math

import pytest

from limbeck.budget.limits import Budget, parse_bytes, parse_seconds
from limbeck.errors import BadSetting


@pytest.mark.parametrize(("written", "microseconds"), [("1ms", 1000), ("250us", 250), ("0.5 s", 500_000), ("80µs", 80)])
def test_times(written, microseconds):
    assert parse_seconds(written) == pytest.approx(microseconds)


@pytest.mark.parametrize(("written", "size"), [("5MB", 5_000_000), ("800kB", 800_000), ("1.5MiB", 1_572_864)])
def test_sizes(written, size):
    assert parse_bytes(written) == size


@pytest.mark.parametrize("written", ["", "5", "fast", "-1ms", "0ms", "1 parsec", "nan ms", "1e3ms"])
def test_what_is_no_time_says_how_to_write_one(written):
    with pytest.raises(BadSetting, match="no number with a unit"):
        parse_seconds(written)


def test_how_far_past_the_limits_something_is():
    budget = Budget(latency_us=1000, size=2_000_000, f1=0.5)
    assert budget.excess(900, 1_900_000, 0.6) == 0
    assert budget.excess(900, 4_000_000, 0.6) == pytest.approx(1)
    assert budget.excess(3800, 4_000_000, 0.6) == pytest.approx(3)
    assert budget.excess(980, 1, 0.6) > 0  # so near to the limit that another run may be past it
    assert budget.excess(1, 1, 0.4) == pytest.approx(0.25) and budget.excess(1, 1, 0) == math.inf
    assert Budget().excess(1e9, 1e9, 0) == 0
    assert str(budget) == "at most 1 ms a text, at most 2 MB, F1 of at least 0.5"
