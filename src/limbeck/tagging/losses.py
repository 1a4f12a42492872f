"""What a tagger is told to be like, each way one function; the mean over words, so that weights mean the same."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from limbeck.distill.losses import EDGE, soft_classes
from limbeck.tagging.crf import UNKNOWN, Crf


def tag_loss(emissions: Tensor, tags: Tensor, mask: Tensor, crf: Crf | None) -> Tensor:
    """Give the negative log-likelihood of the tags that are known [sentences, words], by words that are."""
    known = tags != UNKNOWN
    if not known.any():
        return emissions.sum() * 0.0
    if crf is None:
        return functional.cross_entropy(emissions[known], tags[known])
    some = known.any(dim=1)
    return -crf.log_likelihood(emissions[some], tags[some], mask[some]).sum() / known.sum()


def soft_tags(emissions: Tensor, guesses: Tensor, temperature: float) -> Tensor:
    """KL divergence of the student's softmax from the teacher's, at a temperature, times its square."""
    return soft_classes(emissions.flatten(0, 1), guesses.flatten(0, 1), temperature)


def soft_marginals(emissions: Tensor, guesses: Tensor, mask: Tensor, crf: Crf) -> Tensor:
    """KL divergence of how likely each tag is over all of a student's sequences from the teacher's guesses."""
    given = ~torch.isnan(guesses).any(dim=2)
    if not given.any():
        return emissions.sum() * 0.0
    student = crf.marginals(emissions, mask)[given].clamp(min=EDGE).log()
    target = guesses[given].clamp(min=EDGE)
    return functional.kl_div(student, target / target.sum(dim=1, keepdim=True), reduction="batchmean")


def best_sequences(emissions: Tensor, sequences: Tensor, shares: Tensor, mask: Tensor, crf: Crf | None) -> Tensor:
    """Give the loss of the teacher's best sequences of tags [sentences, k, words], each by its share [sentences, k]."""
    total = emissions.sum() * 0.0
    given = shares.sum(dim=1) > 0
    if not given.any():
        return total
    for number in range(sequences.shape[1]):
        tags = sequences[:, number]
        if crf is None:
            cells = functional.cross_entropy(emissions.transpose(1, 2), tags.clamp(min=0), reduction="none")
            losses = (cells * mask).sum(dim=1)
        else:
            losses = -crf.log_likelihood(emissions, tags, mask)
        total = total + (losses * shares[:, number])[given].sum()
    return total / mask[given].sum()
