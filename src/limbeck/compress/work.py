"""How much a graph computes: multiply-adds for one text of a given length."""

from __future__ import annotations

import math

import numpy as np
import onnx
from onnx import NodeProto, helper

Shape = tuple[int, ...]

COUNTED = ("MatMul", "Gemm", "LSTM")


def multiply_adds(graph: bytes, tokens: int) -> int:
    """Count the multiplications of matrices and recurrent layers; all else is small beside them.

    The graph must be one of plain operations, as it was before fusion. It is run once, to see the shapes.
    """
    import onnxruntime  # type: ignore[import-untyped]

    model = onnx.load_from_string(graph)
    counted = [node for node in model.graph.node if node.op_type in COUNTED]
    known = {tensor.name: tuple(tensor.dims) for tensor in model.graph.initializer}
    wanted = {name for node in counted for name in (*node.input, node.output[0]) if name and name not in known}
    there = {told.name for told in model.graph.output}
    for name in sorted(wanted - there):
        model.graph.output.append(helper.make_empty_tensor_value_info(name))
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    ones = np.ones((1, tokens), dtype=np.int64)
    names = sorted(wanted)
    found = session.run(names, {given.name: ones for given in session.get_inputs()})
    shapes: dict[str, Shape] = known | {name: array.shape for name, array in zip(names, found, strict=True)}
    return sum(_of_node(node, shapes) for node in counted)


def _of_node(node: NodeProto, shapes: dict[str, Shape]) -> int:
    if node.op_type == "LSTM":
        # X [tokens, texts, width], W [directions, 4 * hidden, width], R [directions, 4 * hidden, hidden]
        given, inwards, across = (shapes[name] for name in node.input[:3])
        return math.prod(given[:2]) * (math.prod(inwards) + math.prod(across))
    return math.prod(shapes[node.output[0]]) * shapes[node.input[0]][-1]
