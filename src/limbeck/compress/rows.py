"""A scale of its own for every token where states meet a matrix of weights."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import ModelProto, NodeProto, helper, numpy_helper

# Added to the largest number of a row, which may be 0.
TINY = 1e-6
# What leaves tokens of about one size, so that one scale fits them all.
NORMS = ("LayerNormalization", "SkipLayerNormalization", "EmbedLayerNormalization")


def scale_rows(graph: bytes, normed: bool = True) -> bytes:
    """Give every token a scale of its own where states meet a matrix of weights.

    A row is divided by its largest number before the product and multiplied by it afterwards, which changes nothing but
    the rounding: one scale for all tokens of a text is made for the largest, and too coarse for the others. Without
    `normed`, states that come from a norm are left alone: there tokens differ little, and every step takes its time.
    """
    model = onnx.load_from_string(graph)
    weights = {tensor.name for tensor in model.graph.initializer}
    even = {found for node in model.graph.node if node.op_type in NORMS for found in node.output}
    model.graph.initializer.append(numpy_helper.from_array(np.array(TINY, dtype=np.float32), "tiny"))
    for node in [node for node in model.graph.node if node.op_type == "MatMul" and node.input[1] in weights]:
        if normed or node.input[0] not in even:
            _scale_row(model, node)
    return bytes(model.SerializeToString())


def _scale_row(model: ModelProto, product: NodeProto) -> None:
    states, found = product.input[0], product.output[0]
    name = product.name or found
    before = [
        helper.make_node("Abs", [states], [f"{name}.sizes"], f"{name}.abs"),
        helper.make_node("ReduceMax", [f"{name}.sizes"], [f"{name}.largest"], f"{name}.max", axes=[-1], keepdims=1),
        helper.make_node("Add", [f"{name}.largest", "tiny"], [f"{name}.scale"], f"{name}.add"),
        helper.make_node("Div", [states, f"{name}.scale"], [f"{name}.scaled"], f"{name}.div"),
    ]
    at = list(model.graph.node).index(product)
    product.input[0], product.output[0] = f"{name}.scaled", f"{name}.product"
    back = helper.make_node("Mul", [f"{name}.product", f"{name}.scale"], [found], f"{name}.back")
    model.graph.node.insert(at + 1, back)
    for offset, node in enumerate(before):
        model.graph.node.insert(at + offset, node)
