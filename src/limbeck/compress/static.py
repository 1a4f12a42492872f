"""Activations rounded by ranges that real texts showed beforehand (static quantisation), not as they come.

A range may be what was seen at most, what nearly all numbers lie in, or what keeps most of their distribution. Some
products can't bear it: they are found by trying each alone, and stay in float.
"""

from __future__ import annotations

import contextlib
import io
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import onnx
from onnx import TensorProto, helper

from limbeck.compress.sensitivity import answers, products, worst
from limbeck.compress.silent import silent

Range = Literal["minmax", "percentile", "entropy"]

# What the runtime has kernels for with given ranges; recurrent layers and fused attention are not among them.
OPERATIONS = ["MatMul"]
# Texts that ranges are taken from, and those that each product is tried on.
SHOWN, TRIED = 200, 60
PERCENTILE = 99.99
# At most so much of the weights may stay in float for the others' sake.
SPARED = 0.5


def quantise_static(graph: bytes, samples: Sequence[Mapping[str, Any]], ranges: Range, reduce_range: bool) -> bytes:
    """Round weights and activations; products whose rounding moves answers most stay in float."""
    model = onnx.load_from_string(graph)
    sizes = {name: size for name, size in products(model).items() if _operation(model, name) in OPERATIONS}
    if not sizes:
        raise ValueError("there is no product that the runtime multiplies with ranges known beforehand")
    seen = _ranges(graph, samples[:SHOWN], ranges)
    spared = _guilty(graph, seen, sizes, samples[:TRIED], reduce_range)
    if len(spared) == len(sizes):
        raise ValueError("every product loses too much with ranges known beforehand")
    return _rounded(graph, seen, spared, reduce_range)


def _guilty(
    graph: bytes,
    seen: Any,  # noqa: ANN401 - the runtime's own
    sizes: Mapping[str, int],
    samples: Sequence[Mapping[str, Any]],
    reduce_range: bool,
) -> list[str]:
    """Name the products that lose most for their size, until little is lost by the others."""
    plain = answers(graph, samples)
    lost = {}
    for name in sizes:
        alone = _rounded(graph, seen, [other for other in sizes if other != name], reduce_range)
        lost[name] = float(((answers(alone, samples) - plain) ** 2).mean())
    return worst(lost, sizes, SPARED * sum(sizes.values()))


def _ranges(graph: bytes, samples: Sequence[Mapping[str, Any]], ranges: Range) -> Any:  # noqa: ANN401 - the runtime's own
    from onnxruntime.quantization.calibrate import CalibrationMethod, create_calibrator  # type: ignore[import-untyped]

    methods = {
        "minmax": CalibrationMethod.MinMax,
        "percentile": CalibrationMethod.Percentile,
        "entropy": CalibrationMethod.Entropy,
    }
    options = {"percentile": PERCENTILE} if ranges == "percentile" else {}
    with tempfile.TemporaryDirectory() as folder, silent(), contextlib.redirect_stdout(io.StringIO()):
        file = Path(folder) / "plain.onnx"
        file.write_bytes(_with_types(graph))
        shown = create_calibrator(
            file,
            OPERATIONS,
            augmented_model_path=str(Path(folder) / "seen.onnx"),
            calibrate_method=methods[ranges],
            extra_options=options,
        )
        for sample in samples:  # one by one: their lengths differ
            shown.collect_data(_Texts([sample]))
        return shown.compute_data()


def _with_types(graph: bytes) -> bytes:
    """Say of the numbers that meet weights that they are floats: past fused operations nothing else tells it."""
    model = onnx.load_from_string(graph)
    known = {told.name for told in (*model.graph.value_info, *model.graph.input, *model.graph.output)}
    names = [
        name for node in model.graph.node if node.op_type in OPERATIONS for name in (node.input[0], node.output[0])
    ]
    for name in dict.fromkeys(names):
        if name not in known:
            model.graph.value_info.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, None))
    return bytes(model.SerializeToString())


def _rounded(graph: bytes, seen: Any, spared: Sequence[str], reduce_range: bool) -> bytes:  # noqa: ANN401
    from onnxruntime.quantization import QuantType  # type: ignore[import-untyped]
    from onnxruntime.quantization.qdq_quantizer import QDQQuantizer  # type: ignore[import-untyped]

    with silent():
        made = QDQQuantizer(
            onnx.load_from_string(graph),
            per_channel=True,
            reduce_range=reduce_range,
            weight_qType=QuantType.QInt8,
            activation_qType=QuantType.QUInt8,
            tensors_range=seen,
            nodes_to_quantize=[],
            nodes_to_exclude=list(spared),
            op_types_to_quantize=OPERATIONS,
            extra_options={
                "WeightSymmetric": True,
                "MatMulConstBOnly": True,
                "DefaultTensorType": 1,
                # What a product gives stays in float: rounding it costs, and saves nothing.
                "OpTypesToExcludeOutputQuantization": OPERATIONS,
            },
        )
        made.quantize_model()
        return bytes(made.model.model.SerializeToString())


def _operation(model: onnx.ModelProto, name: str) -> str:
    return str(next(node.op_type for node in model.graph.node if node.name == name))


class _Texts:
    """Hands out inputs one by one, as the runtime's calibration asks for them."""

    def __init__(self, samples: Sequence[Mapping[str, Any]]) -> None:
        self.left = iter(samples)

    def get_next(self) -> dict[str, Any] | None:
        return dict(found) if (found := next(self.left, None)) is not None else None
