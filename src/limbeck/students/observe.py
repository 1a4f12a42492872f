"""What the parts of an encoder are given when it reads real texts: by that it is known which of them matter."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor, nn

from limbeck.runtime.batches import batches_by_length
from limbeck.teach.network import Encoder
from limbeck.training.tokens import SCORED_AT_ONCE, Ids, pad

# Widths are multiples of this: products of other sizes are slower than the next larger one.
MULTIPLE = 32


def batches_of(ids: Sequence[Ids], pad_id: int) -> list[tuple[Tensor, Tensor]]:
    """Give ids and masks of texts, those of similar length together."""
    groups = batches_by_length(np.array([len(one) for one in ids], dtype=np.intp), SCORED_AT_ONCE)
    padded = [pad(ids, rows, pad_id) for rows in groups]
    return [(batch.ids, batch.mask) for batch in padded]


@torch.no_grad()
def observe(
    encoder: Encoder,
    modules: Sequence[nn.Module],
    batches: Sequence[tuple[Tensor, Tensor]],
    see: Callable[[int, Tensor], None],
) -> None:
    """Show `see` the number of a module and its inputs [tokens, inputs], batch by batch, without padding.

    After the modules' inputs it sees what the encoder gives, under the number that follows.
    """
    inside: list[Tensor] = []
    handles = [
        module.register_forward_pre_hook(lambda _, given, number=number: see(number, given[0][inside[0].bool()]))
        for number, module in enumerate(modules)
    ]
    try:
        encoder.eval()
        for ids, mask in batches:
            inside[:] = [mask]
            see(len(modules), encoder(ids, mask)[mask.bool()])
    finally:
        for handle in handles:
            handle.remove()
