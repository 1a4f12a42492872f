"""Which products of a graph lose most by 8 bits: each is turned alone, and the answers to real texts are compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import ModelProto

from limbeck.compress.eight_bits import QUANTISED, quantise

# So much of all that is lost (squared differences) may stay, and so much of the weights may be spared.
LEFT, SPARED = 0.3, 0.15
# A graph of fewer weights gains little by 8 bits, and nothing by sparing some of them.
FEWEST = 1_000_000
# Texts that each product is tried on.
TRIED = 100


def guilty_products(graph: bytes, samples: Sequence[Mapping[str, Any]], saturates: bool) -> list[str]:
    """Name the products to leave in float: those that lose most for their size, until little is lost by the others."""
    sizes = products(onnx.load_from_string(graph))
    whole = sum(sizes.values())
    if not samples or not is_large(graph):
        return []
    return worst(losses(graph, samples[:TRIED], saturates), sizes, SPARED * whole)


def worst(lost: Mapping[str, float], sizes: Mapping[str, int], room: float) -> list[str]:
    """Name the products that lose most for their size, as far as there is room, until little is lost by the others."""
    left = total = sum(lost.values())
    spared: list[str] = []
    for name in sorted(sizes, key=lambda name: lost[name] / sizes[name], reverse=True):
        if left <= LEFT * total:
            break
        if sizes[name] <= room:
            spared.append(name)
            left, room = left - lost[name], room - sizes[name]
    return spared


def spare_until(
    graph: bytes,
    samples: Sequence[Mapping[str, Any]],
    saturates: bool,
    small: Callable[[Sequence[str]], bytes],
    within: Callable[[bytes], bool],
) -> bytes:
    """Leave the products that lose most for their size in float, one after the other, until what is lost is little.

    `small` makes the graph of the products that stay in float, `within` says whether it loses little enough.
    """
    made = small([])
    if within(made):
        return made
    sizes, lost = products(onnx.load_from_string(graph)), losses(graph, samples[:TRIED], saturates)
    guilty = sorted(sizes, key=lambda name: lost[name] / sizes[name], reverse=True)
    for number in range(1, len(guilty)):
        made = small(guilty[:number])
        if within(made):
            return made
    raise ValueError("as long as one product is in 8 bits, too much is lost")


def is_large(graph: bytes) -> bool:
    """Say whether a graph has so many weights that rounding them is worth a closer look."""
    return sum(products(onnx.load_from_string(graph)).values()) >= FEWEST


def losses(graph: bytes, samples: Sequence[Mapping[str, Any]], saturates: bool) -> dict[str, float]:
    """Turn each product alone into 8 bits; give the mean squared difference that it makes to the answers."""
    plain = answers(graph, samples)
    names = list(products(onnx.load_from_string(graph)))
    found = {}
    for name in names:
        others = [other for other in names if other != name]
        alone = quantise(graph, per_channel=True, symmetric=True, reduce_range=saturates, spared=others)
        found[name] = float(((answers(alone, samples) - plain) ** 2).mean())
    return found


def products(model: ModelProto) -> dict[str, int]:
    """Give the products that 8 bits would turn, by name, and how many weights each has."""
    weights = {tensor.name: int(np.prod(tensor.dims)) for tensor in model.graph.initializer}
    found = {}
    for node in model.graph.node:
        if node.op_type in QUANTISED and len(node.input) > 1 and node.input[1] in weights:
            found[node.name] = weights[node.input[1]]
    return found


def answers(graph: bytes, samples: Sequence[Mapping[str, Any]], output: str = "") -> Any:  # noqa: ANN401 - an array
    """Give an output of a graph for all samples [rows, …]; without a name the first one, as a single row of numbers."""
    import onnxruntime  # type: ignore[import-untyped]

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
    wanted = output or session.get_outputs()[0].name
    found = [session.run([wanted], dict(sample))[0] for sample in samples]
    return np.concatenate(found if output else [np.ravel(one) for one in found])
