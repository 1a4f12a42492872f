"""Drawing from a stream: exactly as many as wanted, the same ones every time, each row as likely as another."""

import numpy as np
import pytest

from limbeck.pseudo.draw import rank_limit, ranks

ROWS = np.arange(20_000, dtype=np.int64)


def drawn(rows, wanted, seed=0, purpose="rows", batch=700):
    found = ranks(rows, seed, purpose)
    limit = rank_limit(lambda: (found[at : at + batch] for at in range(0, len(found), batch)), wanted)
    return rows if limit is None else rows[found < np.uint64(limit)]


@pytest.mark.parametrize("wanted", [0, 1, 999, 19_999])
def test_exactly_as_many_are_drawn_as_are_wanted(wanted):
    assert len(drawn(ROWS, wanted)) == wanted


@pytest.mark.parametrize("wanted", [20_000, 30_000])
def test_no_limit_where_there_are_not_too_many(wanted):
    assert len(drawn(ROWS, wanted)) == len(ROWS)


def test_no_two_rows_share_a_rank():
    assert len(set(ranks(ROWS, 3, "rows").tolist())) == len(ROWS)


def test_a_draw_is_repeatable_and_blind_to_order_and_batches():
    shuffled = np.random.default_rng(0).permutation(ROWS)
    assert sorted(drawn(shuffled, 500, batch=33).tolist()) == drawn(ROWS, 500).tolist()


def test_seeds_and_purposes_draw_independently():
    some = set(drawn(ROWS, 5_000).tolist())
    for other in (drawn(ROWS, 5_000, seed=1), drawn(ROWS, 5_000, purpose="empty")):
        assert 1_100 < len(some.intersection(other.tolist())) < 1_400  # a quarter of 5,000


def test_every_part_of_the_pool_is_drawn_from_alike():
    counts = np.bincount(drawn(ROWS, 5_000) // 2_000)
    assert counts.min() > 420 and counts.max() < 580
