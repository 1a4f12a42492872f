"""Narrower feed-forward layers: the columns that texts use most are taken out of a trained encoder, as they are.

A column's importance is the mean size of what it passes on: its activation on real texts times the norm of the weights
that read it (Extract-then-Distil, Chen et al., 2021). What is lost is learnt again while the student is distilled.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor, nn

from limbeck.config import StudentSettings
from limbeck.errors import BadSetting
from limbeck.students.observe import MULTIPLE, batches_of, observe
from limbeck.students.width import keep_width
from limbeck.teach.network import Encoder
from limbeck.training.tokens import Tokens

# Texts that show which columns matter.
SHOWN = 512
# What configurations call the inner width.
NAMES = ("intermediate_size", "hidden_dim", "d_ff", "ffn_dim")


def shrink(encoder: Encoder, folder: Path, settings: StudentSettings, texts: Sequence[str]) -> None:
    """Make an encoder as narrow as the settings say; `folder` has its tokeniser.

    Columns go first: the states still are what they were when it is seen which columns texts use.
    """
    if settings.inner == 1 and settings.width == 1:
        return
    tokens = Tokens(folder, settings.max_tokens)
    batches = batches_of(tokens.encode(texts[:SHOWN]), tokens.pad_id)
    if settings.inner < 1:
        keep_inner(encoder, settings.inner, batches)
    if settings.width < 1:
        keep_width(encoder, settings.width, batches)


def keep_inner(encoder: Encoder, share: float, batches: Sequence[tuple[Tensor, Tensor]]) -> int:
    """Keep a share of each layer's feed-forward columns, the most important ones; give how many.

    `batches` are ids and masks [texts, tokens] of real texts.
    """
    pairs = [_pair(layer, encoder.width) for layer in encoder.layers]
    inner = pairs[0][0].out_features
    wanted = max(MULTIPLE, round(inner * share / MULTIPLE) * MULTIPLE)
    if wanted >= inner:
        return inner
    seen = _activations(encoder, [narrow for _, narrow in pairs], batches)
    with torch.no_grad():
        for (wide, narrow), used in zip(pairs, seen, strict=True):
            importance = used * narrow.weight.norm(dim=0)
            kept = importance.topk(wanted).indices.sort().values
            _cut(wide, rows=kept)
            _cut(narrow, columns=kept)
    for name in NAMES:
        if getattr(encoder.model.config, name, None) == inner:
            setattr(encoder.model.config, name, wanted)
    return wanted


def _pair(layer: nn.Module, width: int) -> tuple[nn.Linear, nn.Linear]:
    """Find the two products of a layer's feed-forward part: from the width to the inner one, and back."""
    linear = [module for module in layer.modules() if isinstance(module, nn.Linear)]
    for wide in linear:
        if wide.in_features == width and wide.out_features > width:
            for narrow in linear:
                if narrow.in_features == wide.out_features and narrow.out_features == width:
                    return wide, narrow
    raise BadSetting(
        "This encoder's feed-forward layers can't be told from the others.", "Set students.inner = 1, and fewer layers."
    )


def _activations(
    encoder: Encoder, narrow: Sequence[nn.Linear], batches: Sequence[tuple[Tensor, Tensor]]
) -> list[Tensor]:
    """Give the size of what each column of each layer holds, added up over the tokens of texts."""
    totals = [torch.zeros(module.in_features) for module in narrow]

    def see(number: int, states: Tensor) -> None:
        if number < len(totals):
            totals[number] += states.abs().float().sum(dim=0).cpu()

    observe(encoder, narrow, batches, see)
    return totals


def _cut(linear: nn.Linear, rows: Tensor | None = None, columns: Tensor | None = None) -> None:
    """Leave some outputs, or some inputs, of a product."""
    if rows is not None:
        linear.weight = nn.Parameter(linear.weight[rows].clone())
        if linear.bias is not None:
            linear.bias = nn.Parameter(linear.bias[rows].clone())
        linear.out_features = len(rows)
    if columns is not None:
        linear.weight = nn.Parameter(linear.weight[:, columns].clone())
        linear.in_features = len(columns)
