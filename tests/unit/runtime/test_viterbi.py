"""The best tags: the same as trying all of them, and never what BIO forbids."""

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from limbeck.runtime.viterbi import Moves, allowed_moves, decode, tag_names, viterbi


def score(tags, scores, moves):
    total = moves.first[tags[0]] + moves.last[tags[-1]] + sum(scores[at, tag] for at, tag in enumerate(tags))
    return total + sum(moves.between[a, b] for a, b in pairwise(tags))


def learnt(rng, tags):
    return Moves(*(rng.normal(size=shape).astype(np.float32) for shape in ((tags, tags), tags, tags)))


@pytest.mark.parametrize("types", [1, 2])
@pytest.mark.parametrize("seed", range(8))
def test_it_finds_what_trying_all_finds(types, seed):
    rng = np.random.default_rng(seed)
    tags = 2 * types + 1
    moves = Moves.bio(types, learnt(rng, tags))
    lengths = np.array([4, 1, 3, 2])
    scores = rng.normal(scale=2, size=(4, 4, tags)).astype(np.float32)
    for row, found in enumerate(viterbi(scores, lengths, moves)):
        best = max(product(range(tags), repeat=int(lengths[row])), key=lambda t: score(t, scores[row], moves))
        assert tuple(found) == best


@given(st.integers(1, 4), st.integers(0, 6), st.integers(0, 2**32 - 1))
def test_what_it_gives_is_bio(types, words, seed):
    rng = np.random.default_rng(seed)
    names = tag_names([f"T{n}" for n in range(types)])
    # Scores that love I-.
    scores = rng.normal(scale=10, size=(3, words, len(names))).astype(np.float32)
    scores[:, :, 2::2] += 20
    lengths = np.minimum([words, max(words - 1, 0), words], words)
    for found in viterbi(scores, lengths, Moves.bio(types)):
        before = "O"
        for tag in (names[t] for t in found):
            assert not tag.startswith("I-") or before[2:] == tag[2:]
            before = tag


def test_padding_is_not_read():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(1, 3, 3)).astype(np.float32)
    wide = np.concatenate([scores, np.full((1, 5, 3), 99, dtype=np.float32)], axis=1)
    moves = Moves.bio(1, learnt(rng, 3))
    [short], [padded] = viterbi(scores, np.array([3]), moves), viterbi(wide, np.array([3]), moves)
    assert short.tolist() == padded.tolist()


def test_inside_follows_its_own_type():
    names = tag_names(["LOC", "PER"])
    assert names == ("O", "B-LOC", "I-LOC", "B-PER", "I-PER")
    allowed = allowed_moves(2)
    assert allowed[names.index("B-LOC"), names.index("I-LOC")] and allowed[names.index("I-PER"), names.index("I-PER")]
    assert not allowed[names.index("B-PER"), names.index("I-LOC")] and not allowed[0, names.index("I-PER")]
    assert allowed[:, [0, 1, 3]].all()


@given(st.integers(1, 3), st.integers(1, 4), st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_plain_decoding_is_the_same_as_searching(types, sentences, words, seed):
    rng = np.random.default_rng(seed)
    scores = rng.normal(scale=3, size=(sentences, words, 2 * types + 1)).astype(np.float32)
    lengths = rng.integers(1, words + 1, sentences)
    moves = Moves.bio(types)
    for mine, searched in zip(decode(scores, lengths, moves, True), viterbi(scores, lengths, moves), strict=True):
        assert mine.tolist() == searched.tolist()
