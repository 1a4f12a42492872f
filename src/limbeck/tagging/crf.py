"""A linear-chain conditional random field over BIO tags: what sequences of tags score, and how likely they are."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from limbeck.runtime.viterbi import NEVER, Moves, allowed_moves

UNKNOWN = -1


class Crf(nn.Module):
    """Learns what moves from tag to tag score; what BIO doesn't allow never happens."""

    forbidden: Tensor
    inside: Tensor

    def __init__(self, types: int) -> None:
        """Let all moves that are allowed score the same at first."""
        super().__init__()
        tags = 2 * types + 1
        self.types = types
        self.between = nn.Parameter(torch.zeros(tags, tags))
        self.first = nn.Parameter(torch.zeros(tags))
        self.last = nn.Parameter(torch.zeros(tags))
        inside = torch.zeros(tags, dtype=torch.bool)
        inside[2::2] = True
        self.register_buffer("forbidden", torch.from_numpy(~allowed_moves(types)), persistent=False)
        self.register_buffer("inside", inside, persistent=False)

    def log_likelihood(self, emissions: Tensor, tags: Tensor, mask: Tensor) -> Tensor:
        """Give the log-probability of each sentence's tags [sentences]; over what is `UNKNOWN` it is summed.

        Emissions are [sentences, words, tags], tags [sentences, words]; `mask` is true where there is a word.
        """
        numbers = torch.arange(emissions.shape[2], device=emissions.device)
        other = (tags.unsqueeze(-1) != numbers) & (tags != UNKNOWN).unsqueeze(-1)
        # Both totals at once: the steps from word to word cost time by their number, not by their size.
        both = torch.cat([emissions.masked_fill(other, float(NEVER)), emissions])
        given, total = self.log_total(both, mask.repeat(2, 1)).chunk(2)
        return given - total

    def log_total(self, emissions: Tensor, mask: Tensor) -> Tensor:
        """Give the log of the summed scores of all sequences of tags [sentences]: the forward algorithm."""
        between = self.between.masked_fill(self.forbidden, float(NEVER))
        total = emissions[:, 0] + self.first.masked_fill(self.inside, float(NEVER))
        for at in range(1, emissions.shape[1]):
            grown = torch.logsumexp(total.unsqueeze(2) + between, dim=1) + emissions[:, at]
            total = torch.where(mask[:, at].unsqueeze(1), grown, total)
        return torch.logsumexp(total + self.last, dim=1)

    def marginals(self, emissions: Tensor, mask: Tensor) -> Tensor:
        """Give how likely each tag of each word is over all sequences [sentences, words, tags].

        They are the derivatives of the log of the total by the emissions, and can be learnt from in turn.
        """
        with torch.enable_grad():
            given = emissions if emissions.requires_grad else emissions.detach().requires_grad_()
            total = self.log_total(given, mask).sum()
            [found] = torch.autograd.grad(total, given, create_graph=torch.is_grad_enabled())
        return found

    def moves(self) -> Moves:
        """Give what was learnt, for decoding."""
        told = (p.detach().float().cpu().numpy() for p in (self.between, self.first, self.last))
        return Moves.bio(self.types, Moves(*told))
