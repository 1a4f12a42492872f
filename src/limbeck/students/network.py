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
    """A network that reads token ids [texts, tokens] where `mask` is 1; its last layer is `head`."""

    head: nn.Linear

    def read(self, ids: Tensor, mask: Tensor, attention: bool = False) -> Reading:
        """Give logits and what they are made from; attention maps only if asked for."""
        raise NotImplementedError

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Give logits [texts, labels]."""
        return self.read(ids, mask).logits

    @torch.no_grad()
    def lower(self, by: Tensor) -> None:
        """Lower the logits of each label by a number, for all texts."""
        self.head.bias.sub_(by.to(self.head.bias))

    def learn_projection(self, width: int, teacher: int) -> None:
        """Make room for a projection of vectors to the teacher's width; it is of use in training alone."""
        self.projection = nn.Linear(width, teacher)

    def project(self, vectors: Tensor) -> Tensor:
        """Project vectors [texts, width] to the teacher's width."""
        projected: Tensor = self.projection(vectors)
        return projected


class TokenVectors(nn.Module):
    """A vector a token of the vocabulary, with dropout."""

    places: Tensor

    def __init__(self, plan: Plan) -> None:
        """Make room for the vectors; `start` fills them."""
        super().__init__()
        self.table = nn.Embedding(plan.vocabulary, plan.vectors, padding_idx=plan.pad_id)
        self.dropout = nn.Dropout(plan.dropout)
        self.whole: Tensor | None = None

    def forward(self, ids: Tensor) -> Tensor:
        """Give [texts, tokens, vectors]."""
        found: Tensor = self.dropout(self.table(ids if self.whole is None else self.places[ids]))
        return found

    @torch.no_grad()
    def narrow(self, used: Tensor) -> None:
        """Hold the vectors of these tokens alone, until `widen`: a step needn't touch those that no text has."""
        whole, pad_id = self.table.weight.detach().clone(), self.table.padding_idx
        self.whole, self.used = whole, used
        self.register_buffer("places", torch.zeros(len(whole), dtype=torch.long), persistent=False)
        self.places[used] = torch.arange(len(used))
        self.table = nn.Embedding(len(used), whole.shape[1], padding_idx=int(self.places[pad_id]))
        self.table.weight.copy_(whole[used])

    @torch.no_grad()
    def widen(self) -> None:
        """Hold all vectors again; what wasn't used is as it was."""
        if self.whole is None:
            return
        whole, pad_id = self.whole, int(self.used[self.table.padding_idx])
        whole[self.used] = self.table.weight.detach().cpu()
        self.table, self.whole = nn.Embedding(whole.shape[0], whole.shape[1], padding_idx=pad_id), None
        self.table.weight.copy_(whole)

    @torch.no_grad()
    def start(self, vectors: Tensor) -> None:
        """Begin with these vectors [vocabulary, vectors] instead of random ones."""
        self.table.weight.copy_(vectors)


def token_vectors_of(network: nn.Module) -> list[TokenVectors]:
    """Give a network's tables of token vectors; a transformer has none of this kind."""
    return [module for module in network.modules() if isinstance(module, TokenVectors)]


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
