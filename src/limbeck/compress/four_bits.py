"""Weights in 4 bits, a scale for a few of them; numbers that meet them stay in float."""

from __future__ import annotations

import onnx

from limbeck.compress.silent import silent

BLOCK = 32


def quantise_weights(graph: bytes, exact: bool = False) -> bytes:
    """Turn the weights of products into 4 bits; with `exact` sums are made in float, else in 8 bits."""
    from onnxruntime.quantization.matmul_nbits_quantizer import (  # type: ignore[import-untyped]
        DefaultWeightOnlyQuantConfig,
        MatMulNBitsQuantizer,
    )

    model = onnx.load_from_string(graph)
    if not any(node.op_type == "MatMul" for node in model.graph.node):
        raise ValueError("there is no product whose weights the runtime takes in 4 bits")
    settings = DefaultWeightOnlyQuantConfig(block_size=BLOCK, is_symmetric=True, accuracy_level=1 if exact else 4)
    with silent():
        made = MatMulNBitsQuantizer(model, algo_config=settings)
        made.process()
    small = bytes(made.model.model.SerializeToString())
    if not any(node.op_type == "MatMulNBits" for node in onnx.load_from_string(small).graph.node):
        raise ValueError("there is no product whose weights the runtime takes in 4 bits")
    return small
