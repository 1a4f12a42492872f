"""Graph optimisation with ONNX Runtime's own tools: fused attention and norms for transformers, general passes else."""

from __future__ import annotations

import tempfile
from pathlib import Path

import onnx

from limbeck.compress.silent import silent


def fuse_transformer(graph: bytes, heads: int, width: int) -> bytes:
    """Fuse attention, layer norm, GELU and skip connections; token tables stay as they are, to be cut or quantised."""
    from onnxruntime.transformers.fusion_options import FusionOptions  # type: ignore[import-untyped]
    from onnxruntime.transformers.optimizer import optimize_model  # type: ignore[import-untyped]

    options = FusionOptions("bert")
    options.enable_embed_layer_norm = False
    # General passes first: they fold what the export spelt out, so that the patterns of attention are found.
    folded = onnx.load_from_string(fold(graph, "basic"))
    with silent():
        fused = optimize_model(folded, "bert", heads, width, options, opt_level=0)
    return bytes(fused.model.SerializeToString())


def fold(graph: bytes, level: str = "extended") -> bytes:
    """Run ONNX Runtime's general passes: `basic` folds constants, `extended` also fuses what any CPU can run."""
    import onnxruntime  # type: ignore[import-untyped]

    levels = onnxruntime.GraphOptimizationLevel
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = levels.ORT_ENABLE_BASIC if level == "basic" else levels.ORT_ENABLE_EXTENDED
    options.log_severity_level = 3
    with tempfile.TemporaryDirectory() as folder:
        options.optimized_model_filepath = str(Path(folder) / "folded.onnx")
        onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
        return (Path(folder) / "folded.onnx").read_bytes()


def fused_operations(graph: bytes) -> dict[str, int]:
    """Count the operations that exist only through fusion."""
    counts: dict[str, int] = {}
    for node in onnx.load_from_string(graph).graph.node:
        if node.domain == "com.microsoft":
            counts[node.op_type] = counts.get(node.op_type, 0) + 1
    return counts
