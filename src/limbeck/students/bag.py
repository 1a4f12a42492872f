"""The bag of tokens: a vector and a weight a token, pooled, and a small network on top. The fastest student."""

from __future__ import annotations

from torch import Tensor, nn

from limbeck.students.network import Plan, Reading, Student, TokenVectors, weighed_mean


class Bag(Student):
    """Word order is lost, so a text costs little more than looking up its tokens."""

    def __init__(self, plan: Plan) -> None:
        """Build the network; all tokens weigh the same at first."""
        super().__init__()
        self.tokens = TokenVectors(plan)
        self.weight = nn.Embedding(plan.vocabulary, 1, padding_idx=plan.pad_id)
        nn.init.zeros_(self.weight.weight)
        self.hidden = nn.Sequential(
            nn.LayerNorm(plan.vectors), nn.Linear(plan.vectors, 2 * plan.width), nn.GELU(), nn.Dropout(plan.dropout)
        )
        self.head = nn.Linear(2 * plan.width, plan.labels)

    def read(self, ids: Tensor, mask: Tensor, attention: bool = False) -> Reading:
        """Give logits and the hidden layer."""
        pooled = weighed_mean(self.tokens(ids), self.weight(ids).squeeze(-1), mask)
        vector = self.hidden(pooled)
        return Reading(self.head(vector), vector)
