"""The tables of a graph that are looked up by token id: most of a small model's bytes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

# Narrower tables stay as they are: with a scale a token they would be about as large, and slower.
NARROWEST = 8
# Inputs whose numbers are looked up: tokens or words, and the marks of words.
IDS = ("input_ids", "marks")


@dataclass(frozen=True)
class Table:
    """A table [tokens, width] and the nodes that look tokens up in it."""

    name: str
    rows: NDArray[np.float32]
    lookups: tuple[NodeProto, ...]


def tables_of(model: ModelProto) -> list[Table]:
    """Find the tables that token ids are looked up in."""
    numbers = {tensor.name: tensor for tensor in model.graph.initializer}
    found: dict[str, list[NodeProto]] = {}
    for node in model.graph.node:
        if node.op_type == "Gather" and node.input[1] in IDS and node.input[0] in numbers:
            found.setdefault(node.input[0], []).append(node)
    return [Table(name, numpy_helper.to_array(numbers[name]), tuple(nodes)) for name, nodes in found.items()]


def keep_rows(model: ModelProto, kept: NDArray[np.intp]) -> None:
    """Leave these tokens' rows alone in every table, in this order."""
    for table in tables_of(model):
        replace_numbers(model, table.name, table.rows[kept])


def to_eight_bits(model: ModelProto) -> None:
    """Hold the tables as 8-bit integers, with a scale a token; only the rows of a text's tokens are turned back."""
    for table in tables_of(model):
        if table.rows.dtype != np.float32 or table.rows.shape[1] < NARROWEST:
            continue
        scales = np.abs(table.rows).max(axis=1, keepdims=True) / 127
        whole = np.round(table.rows / np.where(scales > 0, scales, 1)).astype(np.int8)
        replace_numbers(model, table.name, whole)
        model.graph.initializer.append(numpy_helper.from_array(scales.astype(np.float32), f"{table.name}.scales"))
        for node in table.lookups:
            _scale_up(model, node, f"{table.name}.scales")


def replace_numbers(model: ModelProto, name: str, numbers: NDArray[np.generic]) -> None:
    """Put other numbers under a name."""
    for tensor in model.graph.initializer:
        if tensor.name == name:
            tensor.CopyFrom(numpy_helper.from_array(np.ascontiguousarray(numbers), name))


def _scale_up(model: ModelProto, lookup: NodeProto, scales: str) -> None:
    """Follow a lookup of integers by a lookup of their scales and the product."""
    at = list(model.graph.node).index(lookup)
    output, raw = lookup.output[0], f"{lookup.output[0]}.integers"
    lookup.output[0] = raw
    nodes = [
        helper.make_node("Cast", [raw], [f"{output}.floats"], f"{output}.cast", to=TensorProto.FLOAT),
        helper.make_node("Gather", [scales, lookup.input[1]], [f"{output}.scales"], f"{output}.scale", axis=0),
        helper.make_node("Mul", [f"{output}.floats", f"{output}.scales"], [output], f"{output}.product"),
    ]
    for offset, node in enumerate(nodes, start=1):
        model.graph.node.insert(at + offset, node)
