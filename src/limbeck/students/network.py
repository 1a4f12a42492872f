"""What all students have in common: ids and mask in, logits out, and what was seen on the way."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

# How wide the networks are, by size.
WIDTHS = {"small": 64, "medium": 128, "large": 256}


@dataclass(frozen=True)
class Plan:
    """What a network is built from: its outputs, its vocabulary, how wide its token vectors and its own layers are."""

    labels: int
    vocabulary: int
    vectors: int
    width: int
    dropout: float
    pad_id: int


@dataclass(frozen=True)
class Reading:
    """A network's view of some texts: logits [texts, labels] and the vector [texts, width] that they are made from.

    `attention` holds maps [texts, heads, tokens, tokens], one a layer, of networks that have such.
    """

    logits: Tensor
    vector: Tensor
    attention: tuple[Tensor, ...] = ()


class Student(nn.Module):
    """A network that reads token ids [texts, tokens] where `mask` is 1."""

    def read(self, ids: Tensor, mask: Tensor, attention: bool = False) -> Reading:
        """Give logits and what they are made from; attention maps only if asked for."""
        raise NotImplementedError

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Give logits [texts, labels]."""
        return self.read(ids, mask).logits

    def learn_projection(self, width: int, teacher: int) -> None:
        """Make room for a projection of vectors to the teacher's width; it is of use in training alone."""
        self.projection = nn.Linear(width, teacher)

    def project(self, vectors: Tensor) -> Tensor:
        """Project vectors [texts, width] to the teacher's width."""
        projected: Tensor = self.projection(vectors)
        return projected


class TokenVectors(nn.Module):
    """A vector a token of the vocabulary, with dropout."""

    def __init__(self, plan: Plan) -> None:
        """Make room for the vectors; `start` fills them."""
        super().__init__()
        self.table = nn.Embedding(plan.vocabulary, plan.vectors, padding_idx=plan.pad_id)
        self.dropout = nn.Dropout(plan.dropout)

    def forward(self, ids: Tensor) -> Tensor:
        """Give [texts, tokens, vectors]."""
        found: Tensor = self.dropout(self.table(ids))
        return found

    @torch.no_grad()
    def start(self, vectors: Tensor) -> None:
        """Begin with these vectors [vocabulary, vectors] instead of random ones."""
        self.table.weight.copy_(vectors)


class AttentionAndMax(nn.Module):
    """Pools token vectors [texts, tokens, width] into [texts, 2 * width]: a weighed mean, and the highest values."""

    def __init__(self, width: int) -> None:
        """Learn the weights from the vectors."""
        super().__init__()
        self.weight = nn.Linear(width, 1)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        """Pool where `mask` is 1."""
        inside = mask.unsqueeze(-1).bool()
        shares = self.weight(states).masked_fill(~inside, _LOW).softmax(dim=1)
        highest = states.masked_fill(~inside, _LOW).amax(dim=1)
        return torch.cat([(shares * states).sum(dim=1), highest], dim=1)


# Below any value that matters; an infinity would make gradients of all-padding rows NaN.
_LOW = -1e4


def weighed_mean(vectors: Tensor, weights: Tensor, mask: Tensor) -> Tensor:
    """Give the mean of [texts, tokens, width] by the softmax of `weights` [texts, tokens] where `mask` is 1."""
    shares = weights.masked_fill(mask == 0, _LOW).softmax(dim=1)
    return (shares.unsqueeze(-1) * vectors).sum(dim=1)
