"""A narrower encoder: the dimensions and heads that texts use most are taken out of a trained one, as they are.

A dimension's importance is what it says to those that read it: the mean size of the states on real texts times the norm
of the weights that read them. A head's is the mean size of what it passes on (Extract-then-Distil, Chen et al., 2021).

The two shrink together, so that a head stays as wide as it was: plain configurations of BERT's kin derive the width of
a head from those two numbers, and what they can't tell could not be loaded again.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from limbeck.errors import BadSetting
from limbeck.students.observe import MULTIPLE, observe
from limbeck.teach.network import Encoder, blocks

ADVICE = "Set students.width = 1, and fewer students.layers."


@dataclass(frozen=True)
class Products:
    """The six products of a layer, in the order of their use."""

    query: nn.Linear
    key: nn.Linear
    value: nn.Linear
    out: nn.Linear
    wide: nn.Linear
    narrow: nn.Linear


@dataclass(frozen=True)
class Kept:
    """Which places along a parameter's first and second axis stay; None: all."""

    rows: Tensor | None = None
    columns: Tensor | None = None

    def of(self, parameter: Tensor) -> Tensor:
        """Give what stays; what has one axis alone has no columns."""
        found = parameter.detach()
        if self.rows is not None:
            found = found[self.rows]
        if self.columns is not None and found.dim() > 1:
            found = found[:, self.columns]
        return found.clone()


def keep_width(encoder: Encoder, share: float, batches: Sequence[tuple[Tensor, Tensor]]) -> int:
    """Keep a share of the states' dimensions and of each layer's heads, the most important ones; give the width.

    `batches` are ids and masks [texts, tokens] of real texts.
    """
    width, heads = encoder.width, int(encoder.model.config.num_attention_heads)
    unit = math.lcm(MULTIPLE, width // heads)
    wanted = max(unit, round(width * share / unit) * unit)
    if wanted >= width:
        return width
    layers = [_products(layer, width) for layer in encoder.layers]
    dimensions, of_heads = _importance(encoder, layers, batches)
    left = wanted * heads // width
    model = _narrower(encoder, layers, _most(dimensions, wanted), [_most(one, left) for one in of_heads])
    encoder.model, encoder.layers, encoder.width = model, blocks(model), wanted
    return wanted


def _products(layer: nn.Module, width: int) -> Products:
    """Find a layer's products by their order and shapes, which are the same whatever their names are."""
    linear = [module for module in layer.modules() if isinstance(module, nn.Linear)]
    shapes = [(module.in_features, module.out_features) for module in linear]
    if len(linear) == 6 and shapes[:4] == [(width, width)] * 4 and shapes[4] == shapes[5][::-1]:
        return Products(*linear)
    raise BadSetting("This encoder's layers aren't built as BERT's are, and can't be made narrower.", ADVICE)


def _importance(
    encoder: Encoder, layers: Sequence[Products], batches: Sequence[tuple[Tensor, Tensor]]
) -> tuple[Tensor, Tensor]:
    """Give the importance of dimensions [width], and of heads [layers, heads]."""
    width, heads = encoder.width, int(encoder.model.config.num_attention_heads)
    watched = [product for layer in layers for product in (layer.query, layer.wide, layer.out)]
    used = torch.zeros(len(watched) + 1, width)
    passed = torch.zeros(len(layers), heads)

    def see(number: int, states: Tensor) -> None:
        layer, place = divmod(number, 3)
        if place == 2:
            weight = layers[layer].out.weight
            passed[layer] += _passed_on(states, weight, heads).cpu()
        else:
            used[number] += states.abs().sum(dim=0).cpu()

    observe(encoder, watched, batches, see)
    # What reads the last states is not there yet; it may need each of them as much.
    said = [used[-1]]
    for number, layer in enumerate(layers):
        attending = torch.cat([layer.query.weight, layer.key.weight, layer.value.weight]).detach()
        said.append(used[3 * number] * attending.norm(dim=0).cpu())
        said.append(used[3 * number + 1] * layer.wide.weight.detach().norm(dim=0).cpu())
    # All that read have the same say, however large their weights are.
    dimensions = torch.stack([one / one.sum() for one in said]).mean(dim=0)
    if _biases_of_heads(encoder.model):
        # A head's bias is the same in all layers, so the same heads stay in all of them.
        passed = (passed / passed.sum(dim=1, keepdim=True)).mean(dim=0).expand_as(passed)
    return dimensions, passed


def _passed_on(states: Tensor, weight: Tensor, heads: int) -> Tensor:
    """Add up the sizes of what each head adds to tokens [tokens, width] through the projection that follows."""
    parts = states.view(len(states), heads, -1).transpose(0, 1)
    by_head = weight.view(len(weight), heads, -1).permute(1, 2, 0)
    sizes: Tensor = (parts @ by_head).norm(dim=2)
    return sizes.sum(dim=1)


def _biases_of_heads(model: nn.Module) -> list[nn.Module]:
    """Find tables of distances between tokens, with a bias for each head (MPNet)."""
    return [module for name, module in model.named_modules() if name.endswith("relative_attention_bias")]


def _most(importance: Tensor, wanted: int) -> Tensor:
    """Give the places of the most important ones, in order."""
    return importance.topk(wanted).indices.sort().values


def _narrower(encoder: Encoder, layers: Sequence[Products], dimensions: Tensor, heads: Sequence[Tensor]) -> nn.Module:
    """Build the model anew from a narrower configuration, with the weights that stay.

    So what is saved is sure to be loaded again.
    """
    kept = _kept(encoder, layers, dimensions, heads)
    weights = encoder.model.state_dict()
    for name, module in encoder.model.named_modules():
        for part, parameter in module.named_parameters(recurse=False):
            weights[f"{name}.{part}"] = kept.get(module, Kept()).of(parameter)
    config = copy.deepcopy(encoder.model.config)
    if getattr(config, "embedding_size", None) == config.hidden_size:
        config.embedding_size = len(dimensions)
    config.hidden_size, config.num_attention_heads = len(dimensions), len(heads[0])
    try:
        model: nn.Module = type(encoder.model)(config)
        model.load_state_dict(weights)
    except (RuntimeError, ValueError) as error:
        reason = " ".join(str(error).split())[:200]
        raise BadSetting(
            f"A {config.model_type} encoder can't be {len(dimensions)} wide: {reason}",
            f"Set another students.width, or none. {ADVICE}",
        ) from None
    return model.to(encoder.model.device)


def _kept(
    encoder: Encoder, layers: Sequence[Products], dimensions: Tensor, heads: Sequence[Tensor]
) -> dict[nn.Module, Kept]:
    """Say what stays of each module: dimensions wherever states are read or written, heads inside of layers."""
    width, size = encoder.width, encoder.width // int(encoder.model.config.num_attention_heads)
    kept: dict[nn.Module, Kept] = {}
    for module in encoder.model.modules():
        if isinstance(module, nn.LayerNorm) and module.normalized_shape == (width,):
            kept[module] = Kept(rows=dimensions)
        elif isinstance(module, nn.Embedding) and module.embedding_dim == width:
            kept[module] = Kept(columns=dimensions)
        elif isinstance(module, nn.Linear):
            writes, reads = module.out_features == width, module.in_features == width
            kept[module] = Kept(dimensions if writes else None, dimensions if reads else None)
    for module in _biases_of_heads(encoder.model):
        kept[module] = Kept(columns=heads[0])
    for layer, left in zip(layers, heads, strict=True):
        inside = (left.unsqueeze(1) * size + torch.arange(size)).flatten()
        for product in (layer.query, layer.key, layer.value):
            kept[product] = Kept(inside, dimensions)
        kept[layer.out] = Kept(dimensions, inside)
        # As many inner columns as dimensions are possible, so these are told by their place.
        kept[layer.wide], kept[layer.narrow] = Kept(columns=dimensions), Kept(rows=dimensions)
    return kept
