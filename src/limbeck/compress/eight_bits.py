"""Weights as 8-bit integers, activations turned as they come (dynamic quantisation)."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
from onnx import ModelProto, NodeProto, helper, numpy_helper

from limbeck.compress.silent import silent
from limbeck.compress.tables import to_eight_bits

# What onnxruntime has integer kernels for; token tables are turned apart.
QUANTISED = ["MatMul", "Attention", "LSTM"]
# Added to the largest number of a row, which may be 0.
TINY = 1e-6


def quantise(graph: bytes, per_channel: bool, symmetric: bool, reduce_range: bool, spared: Sequence[str] = ()) -> bytes:
    """Turn weights into integers: a scale a matrix or a column; signed around 0, or unsigned with an offset.

    Products that are `spared`, by name, stay as they are.

    Without VNNI, AVX2 adds two products of 8 bits in 16 and saturates; `reduce_range` leaves a bit free, so it can't.
    """
    from onnxruntime.quantization import QuantType, quantize_dynamic  # type: ignore[import-untyped]

    model = onnx.load_from_string(graph)
    with tempfile.TemporaryDirectory() as folder, silent():
        file = Path(folder) / "quantised.onnx"
        quantize_dynamic(
            model,
            file,
            op_types_to_quantize=QUANTISED,
            nodes_to_exclude=list(spared),
            per_channel=per_channel,
            reduce_range=reduce_range,
            weight_type=QuantType.QInt8 if symmetric else QuantType.QUInt8,
            extra_options={"WeightSymmetric": symmetric, "MatMulConstBOnly": True, "DefaultTensorType": 1},
        )
        return file.read_bytes()


def scale_rows(graph: bytes) -> bytes:
    """Give every token a scale of its own where states meet a matrix of weights.

    A row is divided by its largest number before the product and multiplied by it afterwards, which changes nothing but
    the rounding: one scale for all tokens of a text is made for the largest, and too coarse for the others.
    """
    model = onnx.load_from_string(graph)
    weights = {tensor.name for tensor in model.graph.initializer}
    model.graph.initializer.append(numpy_helper.from_array(np.array(TINY, dtype=np.float32), "tiny"))
    for node in [node for node in model.graph.node if node.op_type == "MatMul" and node.input[1] in weights]:
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


def quantise_tables(graph: bytes) -> bytes:
    """Turn the token tables alone into integers."""
    model = onnx.load_from_string(graph)
    to_eight_bits(model)
    return bytes(model.SerializeToString())
