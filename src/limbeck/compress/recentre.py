"""Rounding moves some labels' log-odds one way; a slope and an offset a label, fitted to float's, move them back.

They are fitted on texts without their labels, and cost next to nothing when the graph runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from limbeck.compress.sensitivity import answers

LOGITS = "logits"
# Fewer texts say too little of a label.
FEWEST = 100
# Logits that spread less than this are all but one number, and tell no slope.
LEAST_SPREAD = 1e-3


def recentred(small: bytes, plain: bytes, samples: Sequence[Mapping[str, Any]]) -> bytes:
    """Give the smaller graph with its logits [texts, labels] moved to where those of the plain one are."""
    model = onnx.load_from_string(small)
    maker = next((node for node in model.graph.node if LOGITS in node.output), None)
    if maker is None or len(samples) < FEWEST:
        return small
    mine, theirs = (answers(graph, samples, LOGITS) for graph in (small, plain))
    slopes, offsets = fit(mine, theirs)
    # A recipe that is joined to another may find what that one has moved.
    mark, taken = LOGITS, {name for node in model.graph.node for name in node.output}
    while f"{mark}.rounded" in taken:
        mark += ".again"
    maker.output[list(maker.output).index(LOGITS)] = f"{mark}.rounded"
    for name, numbers in (("slopes", slopes), ("offsets", offsets)):
        model.graph.initializer.append(numpy_helper.from_array(numbers.astype(np.float32), f"{mark}.{name}"))
    at = list(model.graph.node).index(maker) + 1
    scale = helper.make_node("Mul", [f"{mark}.rounded", f"{mark}.slopes"], [f"{mark}.scaled"], f"{mark}.mul")
    move = helper.make_node("Add", [f"{mark}.scaled", f"{mark}.offsets"], [LOGITS], f"{mark}.add")
    model.graph.node.insert(at, scale)
    model.graph.node.insert(at + 1, move)
    return bytes(model.SerializeToString())


def fit(mine: Any, theirs: Any) -> tuple[Any, Any]:  # noqa: ANN401 - arrays
    """Give the slope and the offset of each column by least squares."""
    around, target = mine - mine.mean(axis=0), theirs - theirs.mean(axis=0)
    spread = (around**2).sum(axis=0)
    tells = spread > LEAST_SPREAD**2 * len(mine)
    slopes = np.where(tells, (around * target).sum(axis=0) / np.where(tells, spread, 1), 1.0)
    return slopes, theirs.mean(axis=0) - slopes * mine.mean(axis=0)
