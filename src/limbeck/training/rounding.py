"""Training that knows of rounding: each step sees a part of the weights as 8 or 4 bits will have them.

The gradient goes straight through to the weights as they are (Bengio et al., 2013). With a share below 1, another
random part of the weights is rounded in each step, and the others still learn exactly (Quant-Noise, Fan et al., 2021).
Scales are those of the recipes: one a row, in 4 bits one for 32 numbers.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from limbeck.config import DistillSettings

# Numbers that share a scale in 4 bits.
BLOCK = 32


@dataclass(frozen=True)
class Rounding:
    """How many bits, and which share of the weights is rounded in a step."""

    bits: int
    share: float

    @contextlib.contextmanager
    def around(self, model: nn.Module, whole: bool = False) -> Iterator[None]:
        """Round the weights of matrices and tables as long as the block lasts; all of them if `whole`."""
        before: list[tuple[nn.Parameter, Tensor]] = []
        with torch.no_grad():
            for parameter in model.parameters():
                if parameter.requires_grad and parameter.ndim >= 2:
                    kept = parameter.detach().clone()
                    near = rounded(kept, self.bits)
                    if not whole and self.share < 1:
                        near = torch.where(torch.rand_like(kept) < self.share, near, kept)
                    parameter.copy_(near)
                    before.append((parameter, kept))
        try:
            yield
        finally:
            with torch.no_grad():
                for parameter, kept in before:
                    parameter.copy_(kept)


def rounding_of(settings: DistillSettings) -> Rounding | None:
    """Give what the settings ask for, if they do."""
    return Rounding(settings.rounded_bits, settings.rounded) if settings.rounded else None


def rounded(weights: Tensor, bits: int) -> Tensor:
    """Give weights as integers of so many bits with a scale have them."""
    most = 2 ** (bits - 1) - 1
    rows = weights.reshape(weights.shape[0], -1)
    in_blocks = bits < 8 and rows.shape[1] % BLOCK == 0
    parts = rows.reshape(-1, BLOCK) if in_blocks else rows
    scales = parts.abs().amax(dim=1, keepdim=True) / most
    scales = torch.where(scales > 0, scales, torch.ones_like(scales))
    near: Tensor = (torch.round(parts / scales) * scales).reshape(weights.shape)
    return near
