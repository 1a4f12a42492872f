"""The chooser: shares of a mix, no two picks alike, and a pool that is seen in pieces."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from limbeck.annotate.strategies import NER_STRATEGIES, STRATEGIES, Chooser, Chunk, Known, TaggedChunk
from limbeck.annotate.strategies.chooser import KEPT
from limbeck.errors import BadSetting, MeasureError

WIDTH = 16


def pool(count, seed=0, members=3, labels=1):
    rng = np.random.default_rng(seed)
    vectors = rng.standard_normal((count, WIDTH))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return Chunk(np.arange(count), rng.random((members, count, labels)), np.full(labels, 0.3), vectors)


def part(chunk, rows):
    return Chunk(chunk.rows[rows], chunk.committee[:, rows], chunk.thresholds, chunk.vectors[rows])


def known(count=20, labels=1):
    rng = np.random.default_rng(99)
    return Known(rng.standard_normal((count, WIDTH)), rng.integers(0, 2, (count, labels)).astype(float))


def chosen(mix, *chunks, count=10, seed=0, about=None, **more):
    chooser = Chooser(mix, known() if about is None else about, count, seed, **more)
    for chunk in chunks:
        chooser.see(chunk)
    return chooser.choose()


def cosines(vectors):
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit @ unit.T - 2 * np.eye(len(unit))


ALL = dict.fromkeys(STRATEGIES, 1.0)


@settings(max_examples=25, deadline=None)
@given(
    cuts=st.lists(st.integers(0, 400), max_size=6),
    order=st.randoms(use_true_random=False),
    seed=st.integers(0, 2**40),
    name=st.sampled_from([*STRATEGIES, "all"]),
)
def test_the_picks_are_the_same_in_whatever_pieces_and_order_the_pool_comes(cuts, order, seed, name):
    whole = pool(400)
    rows = list(range(400))
    order.shuffle(rows)
    pieces = [part(whole, np.array(rows[a:b], dtype=int)) for a, b in pairwise([0, *sorted(cuts), 400])]
    mix = ALL if name == "all" else {name: 1.0}
    assert chosen(mix, *pieces, seed=seed) == chosen(mix, whole, seed=seed)


def test_pieces_do_not_matter_where_there_are_many_copies_and_ties():
    whole = pool(3000)
    whole.vectors[::2] = whole.vectors[0] + 0.05 * whole.vectors[::2]
    committee = np.round(whole.committee, 1)
    whole = Chunk(whole.rows, committee, whole.thresholds, whole.vectors)
    for size in (17, 256, 2999):
        pieces = [part(whole, np.arange(at, min(at + size, 3000))) for at in range(0, 3000, size)]
        assert chosen(ALL, *pieces, count=25) == chosen(ALL, whole, count=25)


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_seed_decides_and_another_decides_otherwise(name):
    # Equal scores, so that chance has a say.
    chunk = pool(300)
    even = Chunk(chunk.rows, np.full_like(chunk.committee, 0.5), chunk.thresholds, chunk.vectors)
    nothing = Known.nothing(WIDTH)
    first = chosen({name: 1.0}, even, about=nothing)
    assert first == chosen({name: 1.0}, even, about=nothing)
    assert first != chosen({name: 1.0}, even, about=nothing, seed=1)


@pytest.mark.parametrize("copies", [10, 5000])
@pytest.mark.parametrize("name", STRATEGIES)
def test_copies_of_one_complaint_are_asked_once(name, copies):
    rng = np.random.default_rng(1)
    others = pool(200, seed=5)
    vectors = np.concatenate([np.tile(others.vectors[0], (copies, 1)), others.vectors[1:]])
    vectors[:copies] += 0.02 * rng.standard_normal((copies, WIDTH))
    # All that strategies like best: uncertain, predicted positive, disputed.
    committee = np.full((2, len(vectors), 1), 0.9)
    committee[:, :copies, 0] = [[0.25], [0.45]]
    picks = chosen(
        {name: 1.0}, Chunk(np.arange(len(vectors)), committee, np.array([0.3]), vectors), count=20, about=known(5)
    )
    rows = [pick.row for pick in picks]
    assert sum(row < copies for row in rows) <= 1
    assert len(rows) == 20 and cosines(vectors[rows]).max() < 0.9


def test_nothing_like_what_is_labelled_is_asked_for():
    chunk = pool(50)
    labelled = Known(chunk.vectors[:20] + 1e-3, np.ones((20, 1)))
    picks = chosen(ALL, chunk, count=50, about=labelled)
    assert len(picks) == 30 and all(pick.row >= 20 for pick in picks)


def test_picks_among_the_uncertain_are_spread_over_topics():
    rng = np.random.default_rng(3)
    topics = np.linalg.qr(rng.standard_normal((WIDTH, WIDTH)))[0][:5]
    topic = np.repeat(np.arange(5), [160, 10, 10, 10, 10])
    vectors = topics[topic] + 0.25 * rng.standard_normal((200, WIDTH))
    # The large topic is a little less certain than the others.
    committee = np.where(topic == 0, 0.5, 0.52)[None, :, None] + 0.001 * rng.random((1, 200, 1))
    chunk = Chunk(np.arange(200), committee, np.array([0.5]), vectors)
    picks = chosen({"confidence": 1.0}, chunk, count=20, about=Known.nothing(WIDTH))
    assert len({topic[pick.row] for pick in picks}) == 5


@pytest.mark.parametrize(
    ("mix", "counts"),
    [
        ({"confidence": 0.6, "diversity": 0.2, "random": 0.2}, [12, 4, 4]),
        ({"confidence": 3, "random": 1}, [15, 5]),
        ({"confidence": 1, "entropy": 1, "random": 1}, [7, 7, 6]),
    ],
)
def test_shares_are_kept_and_at_any_time_about_so(mix, counts):
    picks = chosen(mix, pool(500), count=20)
    by = [pick.strategy for pick in picks]
    assert [by.count(name) for name in mix] == counts
    total = sum(mix.values())
    for asked in range(1, 21):
        assert all(abs(by[:asked].count(name) - asked * share / total) <= 1 for name, share in mix.items())


def test_the_best_of_a_strategy_are_among_its_picks_and_come_first():
    chunk = pool(500)
    score = STRATEGIES["confidence"](0).score(chunk, known())
    picks = chosen({"confidence": 1.0}, chunk, count=10)
    assert picks[0].row == np.argmax(score) and picks[0].score == pytest.approx(score.max(), abs=1e-4)
    assert all(score[pick.row] >= np.sort(score)[-KEPT * 10] for pick in picks)
    assert [pick.score for pick in picks] == sorted((pick.score for pick in picks), reverse=True)


def test_no_text_is_picked_by_two_strategies():
    rows = [pick.row for pick in chosen(ALL, pool(30), count=30)]
    assert len(rows) == len(set(rows)) == 30


def test_a_strategy_with_nothing_to_ask_hands_its_turns_on():
    chunk = pool(100)
    no_positive = Chunk(chunk.rows, chunk.committee * 0.2, chunk.thresholds, chunk.vectors)
    picks = chosen({"false-positives": 0.5, "random": 0.5}, no_positive)
    assert [pick.strategy for pick in picks] == ["random"] * 10
    assert chosen({"false-positives": 1.0}, no_positive) == []


def test_an_empty_pool_gives_no_pick():
    assert chosen(ALL) == [] == chosen(ALL, pool(0))


@pytest.mark.parametrize("texts", [1, 7])
def test_of_fewer_texts_than_asked_for_all_are_picked(texts):
    assert {pick.row for pick in chosen(ALL, pool(texts))} == set(range(texts))


def test_texts_without_vectors_are_all_different():
    chunk = pool(300)
    for nothing in (0.0, np.nan):
        blank = Chunk(chunk.rows, chunk.committee, chunk.thresholds, np.full_like(chunk.vectors, nothing))
        assert len(chosen({"confidence": 1.0}, blank, count=30)) == 30


def test_a_text_without_a_vector_is_picked_once_though_two_strategies_want_it():
    chunk = pool(12)
    blank = Chunk(chunk.rows, chunk.committee, chunk.thresholds, np.zeros_like(chunk.vectors))
    assert sorted(pick.row for pick in chosen(ALL, blank, count=20)) == list(range(12))


def test_of_equal_texts_the_last_is_as_likely_as_the_first():
    chunk = pool(1000)
    even = Chunk(chunk.rows, np.full_like(chunk.committee, 0.5), chunk.thresholds, np.zeros_like(chunk.vectors))
    rows = [pick.row for pick in chosen({"confidence": 1.0}, even, count=40)]
    assert 350 < np.mean(rows) < 650


def test_rows_without_an_answer_are_left_to_chance():
    chunk = pool(40)
    chunk.committee[:, :20] = np.nan
    assert {pick.row for pick in chosen({"confidence": 1.0}, chunk, count=40)} == set(range(20, 40))
    assert len(chosen({"confidence": 0.5, "random": 0.5}, chunk, count=40)) == 40


def test_several_labels_and_one_member():
    chunk = pool(100, members=1, labels=3)
    assert len(chosen(ALL, chunk, about=known(labels=3))) == 10


def test_what_is_kept_hangs_on_the_count_and_not_on_the_pool():
    chooser = Chooser(ALL, known(), 5, 0)
    for seed in range(30):
        chunk = pool(400, seed)
        chooser.see(Chunk(chunk.rows + 400 * seed, chunk.committee, chunk.thresholds, chunk.vectors))
        assert all(len(kept.best()) <= KEPT * 5 for kept in chooser._best.values())
    assert len(chooser.choose()) == 5


def tagged(count, seed=0):
    rng = np.random.default_rng(seed)
    tags = [rng.dirichlet(np.ones(5), rng.integers(0, 12)) for _ in range(count)]
    return TaggedChunk(np.arange(count), tags, rng.standard_normal((count, WIDTH)))


def test_sentences_are_chosen_in_whatever_pieces_they_come():
    whole = tagged(300)
    pieces = [
        TaggedChunk(whole.rows[a : a + 70], whole.tags[a : a + 70], whole.vectors[a : a + 70])
        for a in range(0, 300, 70)
    ]
    mix = dict.fromkeys(NER_STRATEGIES, 1.0)
    picks = chosen(mix, whole, count=20, strategies=NER_STRATEGIES)
    assert picks == chosen(mix, *pieces, count=20, strategies=NER_STRATEGIES)
    assert len(picks) == 20 and {pick.strategy for pick in picks} == set(NER_STRATEGIES)


def test_what_cannot_be_asked_for_is_told():
    with pytest.raises(BadSetting, match="0 texts can't be picked"):
        Chooser({"random": 1.0}, known(), 0, 0)
    with pytest.raises(BadSetting, match="no query strategy 'span'"):
        Chooser({"span": 1.0}, known(), 5, 0)
    with pytest.raises(MeasureError, match="16 numbers, those of what is known 3"):
        chosen({"random": 1.0}, pool(5), about=Known.nothing(3))
