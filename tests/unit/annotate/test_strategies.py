"""What each query strategy asks for first, on texts made by hand."""

import numpy as np
import pytest

from limbeck.annotate.strategies import DEFAULT, DEFAULT_NER, NER_STRATEGIES, STRATEGIES, Chunk, Known, TaggedChunk
from limbeck.annotate.strategies.strategy import Candidates, chance
from limbeck.errors import MeasureError
from limbeck.runtime.confidence import confidence

NOTHING = Known.nothing(2)
EAST, NORTH, WEST = (1.0, 0.0), (0.0, 1.0), (-1.0, 0.0)


def texts(*members, threshold=0.5, vectors=None, **more):
    """One label; each member's probabilities of the texts."""
    committee = np.array(members, dtype=float)[..., None]
    vectors = np.tile(EAST, (committee.shape[1], 1)) if vectors is None else np.array(vectors)
    return Chunk(np.arange(committee.shape[1]), committee, np.array([threshold]), vectors, **more)


def sentences(*best):
    """The probability of each word's best tag, a sequence a sentence; the rest is spread over two other tags."""
    tags = [np.array([[p, (1 - p) / 2, (1 - p) / 2] for p in words]).reshape(-1, 3) for words in best]
    return TaggedChunk(np.arange(len(tags)), tags, np.tile(EAST, (len(tags), 1)))


def scores(name, chunk, known=NOTHING, table=STRATEGIES):
    return table[name](7).score(chunk, known)


def ranking(name, chunk, known=NOTHING, table=STRATEGIES):
    found = scores(name, chunk, known, table)
    return [int(place) for place in np.argsort(-found) if not np.isnan(found[place])]


def test_least_confidence_is_scaled_by_the_threshold():
    chunk = texts([0.05, 0.19, 0.55, 0.5], threshold=0.2)
    assert ranking("confidence", chunk) == [1, 3, 2, 0]
    assert scores("confidence", chunk) == pytest.approx(1 - confidence([0.05, 0.19, 0.55, 0.5], [0.2]))


def test_the_margin_is_not_scaled():
    # 0.5 is farther from 0.2 than 0 is, but it is less of the way to 1.
    chunk = texts([0.0, 0.5], threshold=0.2)
    assert ranking("margin", chunk) == [0, 1] and ranking("confidence", chunk) == [1, 0]


def test_entropy_knows_no_threshold():
    assert ranking("entropy", texts([0.2, 0.5, 0.7], threshold=0.2)) == [1, 2, 0]
    assert scores("entropy", texts([0.5, 1.0, 0.0])) == pytest.approx([1, 0, 0], abs=1e-9)


def test_a_committee_that_is_unsure_together_does_not_disagree():
    assert ranking("committee", texts([0.5, 0.9, 0.4], [0.5, 0.1, 0.6]))[:2] == [1, 2]
    assert scores("committee", texts([0.5, 1.0], [0.5, 0.0])) == pytest.approx([0, 1], abs=1e-9)


def test_one_member_never_disagrees_with_itself():
    assert scores("committee", texts([0.1, 0.5, 0.9])) == pytest.approx(0, abs=1e-12)


def test_of_several_labels_the_most_askable_counts():
    committee = np.array([[[0.5, 0.99], [0.9, 0.2], [0.01, 0.02]]])
    chunk = Chunk(np.arange(3), committee, np.array([0.5, 0.5]), np.zeros((3, 2)))
    for name in ("confidence", "entropy", "margin"):
        assert ranking(name, chunk) == [0, 1, 2]


def test_where_one_class_is_right_classes_compete():
    committee = np.array([[[0.5, 0.5, 0.0], [0.4, 0.3, 0.3], [0.9, 0.05, 0.05]]])
    chunk = Chunk(np.arange(3), committee, np.full(3, 0.5), np.zeros((3, 2)), one_class=True)
    assert ranking("margin", chunk) == [0, 1, 2]
    assert ranking("confidence", chunk) == ranking("entropy", chunk) == [1, 0, 2]
    assert scores("margin", chunk) == pytest.approx([1, 0.9, 0.15])


def test_under_represented_is_far_from_all_that_is_labelled():
    chunk = texts([0.5] * 3, vectors=[EAST, NORTH, WEST])
    known = Known(np.array([EAST, (0.8, 0.6)]), np.array([[1.0], [0.0]]))
    assert ranking("under-represented", chunk, known) == [2, 1, 0]


def test_false_positives_are_predicted_disputed_and_near_negatives():
    known = Known(np.array([EAST, NORTH]), np.array([[1.0], [0.0]]))
    near_yes, near_no = (0.8, 0.6), (0.6, 0.8)
    chunk = texts(
        [0.8, 0.8, 0.9, 0.4],
        [0.8, 0.8, 0.7, 0.4],
        vectors=[near_yes, near_no, near_no, near_no],
    )
    # The last is not predicted positive, the third is disputed.
    assert ranking("false-positives", chunk, known) == [2, 1, 0]


def test_a_label_that_nobody_looked_at_makes_no_negative():
    chunk = texts([0.8, 0.8], vectors=[EAST, NORTH])
    unknown = Known(np.array([NORTH]), np.array([[np.nan]]))
    assert scores("false-positives", chunk, unknown) == pytest.approx([0, 0])


def test_likely_positives():
    assert ranking("likely-positives", texts([0.1, 0.9, 0.5])) == [1, 2, 0]


def test_random_hangs_on_number_and_seed_alone():
    rows = np.arange(20_000)
    mine = chance(rows, 3)
    assert (chance(rows[::-1], 3)[::-1] == mine).all() and (chance(rows, 4) != mine).all()
    assert np.histogram(mine, 10, (0, 1))[0] == pytest.approx(2000, abs=200)
    assert abs(np.corrcoef(mine[:-1], mine[1:])[0, 1]) < 0.03
    assert abs(np.corrcoef(mine, chance(rows, 4))[0, 1]) < 0.03


def test_diversity_takes_the_middle_of_each_cluster_large_ones_first():
    angles = np.deg2rad([180, 88, 90, 92, -4, -1, 0, 1, 4])
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    candidates = Candidates(np.arange(9), np.zeros(9), vectors)
    assert STRATEGIES["diversity"](0).order(candidates, 3)[:3].tolist() == [6, 2, 0]


def test_all_doubt_together_would_ask_for_long_sentences_and_its_mean_for_short_ones():
    long, short, middling = [0.8] * 30, [0.3], [0.5] * 9
    assert ranking("sentence", sentences(long, short, middling), table=NER_STRATEGIES) == [2, 0, 1]


def test_the_longest_uncertain_span_ends_where_a_word_is_certain_and_with_its_sentence():
    spread_out = [0.4, 0.9, 0.4, 0.9, 0.4, 0.9, 0.4]
    together = [0.9, 0.4, 0.4, 0.4]
    begins = [0.4, 0.9]
    certain = [0.9, 0.9]
    chunk = sentences(spread_out, together, begins, certain)
    assert scores("span", chunk, table=NER_STRATEGIES) == pytest.approx([0.6, 1.8, 0.6, np.nan], nan_ok=True)


@pytest.mark.parametrize("name", ["sentence", "span"])
def test_sentences_without_words_are_not_asked_for(name):
    found = scores(name, sentences([], [0.4], []), table=NER_STRATEGIES)
    assert np.isnan(found).tolist() == [True, False, True]
    assert len(scores(name, sentences(), table=NER_STRATEGIES)) == 0


@pytest.mark.parametrize("name", STRATEGIES)
@pytest.mark.parametrize("one_class", [False, True])
def test_what_is_not_finite_is_never_the_best(name, one_class):
    committee = np.array([[0.4, np.nan, np.inf, 0.9], [0.6, np.nan, -np.inf, 0.8]])[..., None]
    committee = np.concatenate([committee, committee], axis=2)
    vectors = np.array([EAST, NORTH, WEST, (np.nan, 1.0)])
    chunk = Chunk(np.arange(4), committee, np.array([0.5, 0.5]), vectors, one_class)
    found = STRATEGIES[name](0).score(chunk, Known.nothing(2, 2))
    assert not np.isinf(found).any()
    if name not in ("random", "diversity", "under-represented"):
        assert np.isnan(found[1:3]).all() and not np.isnan(found[0])
    if name == "under-represented":
        assert np.isnan(found[3])


def test_a_member_without_an_answer_does_not_count():
    chunk = texts([0.2, 0.5], [np.nan, 0.7])
    assert chunk.probabilities[:, 0] == pytest.approx([0.2, 0.6])


@pytest.mark.parametrize("table", [STRATEGIES, NER_STRATEGIES])
def test_every_strategy_has_a_name_and_says_what_it_asks_for(table):
    assert all(kind.name == name and kind.about for name, kind in table.items())


def test_the_defaults_are_mixes_of_known_strategies():
    assert DEFAULT.keys() <= STRATEGIES.keys() and sum(DEFAULT.values()) == pytest.approx(1)
    assert DEFAULT_NER.keys() <= NER_STRATEGIES.keys() and sum(DEFAULT_NER.values()) == pytest.approx(1)


@pytest.mark.parametrize(
    ("arrays", "told"),
    [
        ((np.zeros((3, 1)), np.zeros(1), np.zeros((3, 2))), "shape"),
        ((np.zeros((1, 2, 1)), np.zeros(1), np.zeros((3, 2))), "2 texts, of 3"),
        ((np.zeros((1, 3, 2)), np.zeros(1), np.zeros((3, 2))), "1 thresholds, 2 labels"),
        ((np.zeros((1, 3, 1)), np.zeros(1), np.zeros((2, 2))), "for 3 texts"),
    ],
)
def test_arrays_that_do_not_fit_are_told(arrays, told):
    with pytest.raises(MeasureError, match=told):
        Chunk(np.arange(3), *arrays)


def test_labels_that_known_texts_lack_are_told():
    chunk = Chunk(np.arange(1), np.full((1, 1, 2), 0.9), np.full(2, 0.5), np.array([EAST]))
    with pytest.raises(MeasureError, match="at least 2 labels, what is known 1"):
        scores("false-positives", chunk)
