"""A recurrent network that reads each text forwards and backwards."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from limbeck.students.network import AttentionAndMax, Plan, Reading, Student, TokenVectors


class BiLstm(Student):
    """Token vectors, one recurrent layer each way, attention and max pooling."""

    def __init__(self, plan: Plan) -> None:
        """Build the network."""
        super().__init__()
        self.tokens = TokenVectors(plan)
        # Half as wide each way: steps can't run in parallel, so width costs more time here than in other students.
        each = plan.width // 2
        self.forwards = nn.LSTM(plan.vectors, each, batch_first=True)
        self.backwards = nn.LSTM(plan.vectors, each, batch_first=True)
        self.pool = AttentionAndMax(2 * each)
        self.dropout = nn.Dropout(plan.dropout)
        self.head = nn.Linear(4 * each, plan.labels)

    def read(self, ids: Tensor, mask: Tensor, attention: bool = False) -> Reading:
        """Give logits and the pooled states."""
        vectors = self.tokens(ids)
        order = reversed_order(mask)
        there, _ = self.forwards(vectors)
        back, _ = self.backwards(take_in_order(vectors, order))
        vector = self.pool(torch.cat([there, take_in_order(back, order)], dim=2), mask)
        return Reading(self.head(self.dropout(vector)), vector)


def reversed_order(mask: Tensor) -> Tensor:
    """Give positions [texts, tokens] that turn each text round within its own length; padding stays where it is.

    So the backward pass starts at a text's last token, whatever it is padded to.
    """
    positions = torch.arange(mask.shape[1], device=mask.device).expand_as(mask)
    turned = mask.sum(dim=1, keepdim=True) - 1 - positions
    return torch.where(turned >= 0, turned, positions)


def take_in_order(states: Tensor, order: Tensor) -> Tensor:
    """Give states [texts, tokens, width] in another order of the tokens."""
    return states.gather(1, order.unsqueeze(-1).expand(-1, -1, states.shape[2]))
