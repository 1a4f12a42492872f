"""Weights as 8-bit integers, activations turned as they come (dynamic quantisation)."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import onnx

from limbeck.compress.silent import silent
from limbeck.compress.tables import to_eight_bits

# What onnxruntime has integer kernels for; token tables are turned apart.
QUANTISED = ["MatMul", "Attention", "LSTM"]


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


def quantise_tables(graph: bytes) -> bytes:
    """Turn the token tables alone into integers."""
    model = onnx.load_from_string(graph)
    to_eight_bits(model)
    return bytes(model.SerializeToString())
