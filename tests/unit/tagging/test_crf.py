"""The chain of tags: the same as adding up all sequences, and never what BIO forbids."""

from itertools import pairwise, product

import numpy as np
import pytest
import torch

from limbeck.runtime.viterbi import Moves, allowed_moves, viterbi
from limbeck.tagging.crf import UNKNOWN, Crf
from limbeck.tagging.kbest import k_best, shares_of
from limbeck.tagging.losses import best_sequences, soft_marginals, soft_tags, tag_loss


def made(types=2, seed=0):
    torch.manual_seed(seed)
    crf = Crf(types)
    for parameter in crf.parameters():
        torch.nn.init.normal_(parameter)
    return crf


def legal(tags, types):
    allowed = allowed_moves(types)
    begins = tags[0] == 0 or tags[0] % 2 == 1
    return begins and all(allowed[a, b] for a, b in pairwise(tags))


def score(crf, emissions, tags):
    total = crf.first[tags[0]] + crf.last[tags[-1]] + sum(emissions[at, tag] for at, tag in enumerate(tags))
    return total + sum(crf.between[a, b] for a, b in pairwise(tags))


@pytest.mark.parametrize("seed", range(4))
def test_the_total_is_that_of_all_legal_sequences(seed):
    crf, types = made(seed=seed), 2
    emissions = torch.randn(3, 4, 5)
    lengths = [4, 2, 1]
    mask = torch.arange(4) < torch.tensor(lengths)[:, None]
    for row, found in enumerate(crf.log_total(emissions, mask)):
        sequences = [t for t in product(range(5), repeat=lengths[row]) if legal(t, types)]
        expected = torch.logsumexp(torch.stack([score(crf, emissions[row], t) for t in sequences]), 0)
        assert float(found.detach()) == pytest.approx(float(expected.detach()), abs=1e-4)


def test_likelihoods_of_all_legal_sequences_add_up_to_1():
    crf = made()
    emissions, mask = torch.randn(1, 3, 5), torch.ones(1, 3, dtype=torch.bool)
    sequences = [t for t in product(range(5), repeat=3) if legal(t, 2)]
    found = [float(crf.log_likelihood(emissions, torch.tensor([t]), mask).exp()) for t in sequences]
    assert sum(found) == pytest.approx(1, abs=1e-4)


def test_an_unknown_tag_is_summed_over():
    crf = made()
    emissions, mask = torch.randn(1, 3, 5), torch.ones(1, 3, dtype=torch.bool)
    whole = crf.log_likelihood(emissions, torch.tensor([[1, UNKNOWN, 0]]), mask).exp()
    parts = [
        crf.log_likelihood(emissions, torch.tensor([[1, t, 0]]), mask).exp() for t in range(5) if legal((1, t, 0), 2)
    ]
    assert float(whole) == pytest.approx(float(sum(parts)), abs=1e-5)


def test_marginals_are_sums_over_sequences():
    crf = made()
    emissions, mask = torch.randn(1, 3, 5), torch.ones(1, 3, dtype=torch.bool)
    expected = torch.zeros(3, 5)
    for tags in product(range(5), repeat=3):
        if legal(tags, 2):
            likely = crf.log_likelihood(emissions, torch.tensor([tags]), mask).exp()[0]
            for at, tag in enumerate(tags):
                expected[at, tag] += likely.detach()
    assert torch.allclose(crf.marginals(emissions, mask)[0].detach(), expected, atol=1e-4)


def test_the_best_sequence_is_the_one_that_decoding_finds():
    crf = made(seed=3)
    emissions = torch.randn(1, 4, 5)
    [found] = viterbi(emissions.numpy(), np.array([4]), crf.moves())
    best = max(
        (t for t in product(range(5), repeat=4) if legal(t, 2)), key=lambda t: float(score(crf, emissions[0], t))
    )
    assert tuple(found) == best


@pytest.mark.parametrize("seed", range(5))
def test_the_k_best_are_the_k_best(seed):
    rng = np.random.default_rng(seed)
    moves = Moves.bio(2, Moves(*(rng.normal(size=s).astype(np.float32) for s in ((5, 5), 5, 5))))
    scores = rng.normal(size=(4, 5)).astype(np.float32)
    found, of_found = k_best(scores, moves, 6)

    def total(tags):
        moved = sum(moves.between[a, b] for a, b in pairwise(tags))
        return moves.first[tags[0]] + moves.last[tags[-1]] + sum(scores[at, t] for at, t in enumerate(tags)) + moved

    ranked = sorted((t for t in product(range(5), repeat=4) if legal(t, 2)), key=total, reverse=True)[:6]
    assert [tuple(tags) for tags in found] == ranked
    assert of_found == pytest.approx([total(t) for t in ranked], abs=1e-4)
    assert shares_of(of_found).sum() == pytest.approx(1, abs=1e-5)


def test_there_are_no_more_than_there_are():
    found, _ = k_best(np.zeros((1, 3), dtype=np.float32), Moves.bio(1), 10)
    assert sorted(tuple(tags) for tags in found) == [(0,), (1,)]


def test_soft_tags_are_kl_from_teacher_to_student():
    emissions = torch.tensor([[[2.0, 0.0, -1.0], [0.5, 0.2, 0.1]]])
    guesses = torch.tensor([[[0.7, 0.2, 0.1], [float("nan")] * 3]])
    student = torch.log_softmax(emissions[0, 0] / 2, 0)
    teacher = torch.softmax(guesses[0, 0].log() / 2, 0)
    expected = 4 * (teacher * (teacher.log() - student)).sum()
    assert float(soft_tags(emissions, guesses, 2.0)) == pytest.approx(float(expected), abs=1e-5)


def test_a_student_like_its_teacher_costs_nothing():
    guesses = torch.softmax(torch.randn(2, 3, 5), dim=2)
    assert float(soft_tags(guesses.log(), guesses, 1.0)) == pytest.approx(0, abs=1e-5)
    crf = made()
    emissions, mask = torch.randn(2, 3, 5), torch.ones(2, 3, dtype=torch.bool)
    own = crf.marginals(emissions, mask).detach()
    assert float(soft_marginals(emissions, own, mask, crf).detach()) == pytest.approx(0, abs=2e-3)


def test_words_whose_tags_nobody_knows_cost_nothing():
    emissions = torch.randn(2, 3, 5, requires_grad=True)
    mask = torch.ones(2, 3, dtype=torch.bool)
    unknown = torch.full((2, 3), UNKNOWN)
    assert float(tag_loss(emissions, unknown, mask, None)) == 0
    assert float(tag_loss(emissions, unknown, mask, made())) == 0
    assert float(soft_tags(emissions, torch.full((2, 3, 5), float("nan")), 1.0)) == 0


@pytest.mark.parametrize("crf", [None, made(1)])
def test_one_best_sequence_is_the_same_as_its_tags(crf):
    emissions, mask = torch.randn(2, 3, 3), torch.tensor([[True] * 3, [True, True, False]])
    tags = torch.tensor([[1, 2, 0], [0, 1, UNKNOWN]])
    alone = best_sequences(emissions, tags.clamp(min=0).unsqueeze(1), torch.ones(2, 1), mask, crf)
    assert float(alone.detach()) == pytest.approx(float(tag_loss(emissions, tags, mask, crf).detach()), abs=1e-5)
