"""Token tables in less than 8 bits a number: most of a small bundle is its table.

Product quantisation cuts each row into short pieces and keeps, for every piece, the number of the nearest of 256
(Jégou et al., 2011): a lookup by token, and one by code. Factorising keeps a narrower table and a matrix that widens
its rows again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from limbeck.compress.tables import IDS, NARROWEST, Table, replace_numbers, tables_of

# One byte a code.
CENTRES = 256
ROUNDS = 12
# A token that no text has still counts so much beside one that is met once.
UNMET = 0.1

Floats = NDArray[np.float32]


def by_products(graph: bytes, samples: Sequence[Mapping[str, Any]], numbers: int, seed: int = 0) -> bytes:
    """Hold every `numbers` numbers of a token's row as one byte, and a scale a token in half precision."""
    model = onnx.load_from_string(graph)
    for table in _wide(model):
        rows = table.rows
        width = rows.shape[1]
        pieces = -(-width // numbers)
        scales = np.abs(rows).max(axis=1, keepdims=True)
        even = np.zeros((len(rows), pieces * numbers), dtype=np.float32)
        even[:, :width] = rows / np.where(scales > 0, scales, 1)
        weights = met(samples, len(rows)) * np.square(scales[:, 0])
        codes = np.empty((len(rows), pieces), dtype=np.uint8)
        books = np.empty((pieces, CENTRES, numbers), dtype=np.float32)
        for piece in range(pieces):
            part = even[:, piece * numbers : (piece + 1) * numbers]
            books[piece], codes[:, piece] = nearest_of_few(part, weights, seed + piece)
        replace_numbers(model, table.name, codes)
        _add(model, f"{table.name}.books", books.reshape(-1, numbers).astype(np.float16))
        _add(model, f"{table.name}.starts", (np.arange(pieces) * CENTRES).astype(np.int32))
        _add(model, f"{table.name}.scales", scales.astype(np.float16))
        for lookup in table.lookups:
            _by_code(model, lookup, table.name, pieces * numbers, width)
    return bytes(model.SerializeToString())


def factorised(graph: bytes, samples: Sequence[Mapping[str, Any]], share: float) -> bytes:
    """Hold a share of the width of every table, and a matrix that widens it; rows that texts use count most."""
    model = onnx.load_from_string(graph)
    for table in _wide(model):
        rows = table.rows.astype(np.float64)
        rank = max(NARROWEST, round(rows.shape[1] * share))
        roots = np.sqrt(met(samples, len(rows)))[:, None]
        _, _, across = np.linalg.svd(rows * roots, full_matrices=False)
        narrow = (rows @ across[:rank].T).astype(np.float32)
        replace_numbers(model, table.name, narrow)
        _add(model, f"{table.name}.widen", across[:rank].astype(np.float32))
        for lookup in table.lookups:
            output = lookup.output[0]
            lookup.output[0] = f"{output}.narrow"
            widen = helper.make_node("MatMul", [f"{output}.narrow", f"{table.name}.widen"], [output], f"{output}.widen")
            _after(model, lookup, [widen])
    return bytes(model.SerializeToString())


def in_four_bits(graph: bytes, block: int = 32) -> bytes:
    """Hold a table's numbers in 4 bits, a scale for every `block` of them; the runtime has a lookup for that."""
    model = onnx.load_from_string(graph)
    for table in _wide(model):
        tokens, width = table.rows.shape
        if width % block:
            continue
        parts = table.rows.reshape(tokens, -1, block)
        scales = np.abs(parts).max(axis=2) / 7
        whole = np.round(parts / np.where(scales > 0, scales, 1)[..., None]).astype(np.int8).reshape(tokens, width)
        offset = (whole + 8).astype(np.uint8)
        replace_numbers(model, table.name, offset[:, 0::2] | (offset[:, 1::2] << 4))
        _add(model, f"{table.name}.scales", scales.astype(np.float32))
        for lookup in table.lookups:
            given = [table.name, lookup.input[1], f"{table.name}.scales"]
            settings: dict[str, Any] = {"gather_axis": 0, "quantize_axis": 1, "block_size": block, "bits": 4}
            short = helper.make_node(
                "GatherBlockQuantized", given, list(lookup.output), lookup.name, domain="com.microsoft", **settings
            )
            lookup.CopyFrom(short)
    if all(told.domain != "com.microsoft" for told in model.opset_import):
        model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    return bytes(model.SerializeToString())


def met(samples: Sequence[Mapping[str, Any]], tokens: int) -> NDArray[np.float64]:
    """Count how often texts have each token; those that none has count a little."""
    found = np.full(tokens, UNMET)
    for sample in samples:
        ids = np.ravel(sample[IDS[0]]) if IDS[0] in sample else np.zeros(0, np.int64)
        np.add.at(found, ids[ids < tokens], 1)
    return found


def nearest_of_few(rows: Floats, weights: NDArray[np.float64], seed: int) -> tuple[Floats, NDArray[np.uint8]]:
    """Give at most 256 centres by weighted k-means, and the number of each row's nearest."""
    rng = np.random.default_rng(seed)
    chance = weights + 1e-12
    drawn = rng.choice(len(rows), size=CENTRES, replace=len(rows) < CENTRES, p=chance / chance.sum())
    centres = rows[drawn].copy()
    codes = _codes(rows, centres)
    for _ in range(ROUNDS):
        total = np.bincount(codes, weights=chance, minlength=CENTRES)
        for number in range(rows.shape[1]):
            sums = np.bincount(codes, weights=chance * rows[:, number], minlength=CENTRES)
            centres[:, number] = np.where(total > 0, sums / np.where(total > 0, total, 1), centres[:, number])
        codes = _codes(rows, centres)
    return centres, codes.astype(np.uint8)


def _codes(rows: Floats, centres: Floats) -> NDArray[np.intp]:
    far = (centres * centres).sum(axis=1) - 2 * (rows @ centres.T)
    return np.asarray(far.argmin(axis=1))


def _by_code(model: ModelProto, lookup: NodeProto, name: str, even: int, width: int) -> None:
    """Follow a lookup of codes by one of what they stand for, put together and scaled."""
    output, ids = lookup.output[0], lookup.input[1]
    lookup.output[0] = f"{output}.codes"
    _add(model, f"{output}.whole", np.array([0, 0, even], dtype=np.int64))
    nodes = [
        helper.make_node("Cast", [f"{output}.codes"], [f"{output}.numbers"], f"{output}.cast", to=TensorProto.INT32),
        helper.make_node("Add", [f"{output}.numbers", f"{name}.starts"], [f"{output}.places"], f"{output}.place"),
        helper.make_node("Gather", [f"{name}.books", f"{output}.places"], [f"{output}.pieces"], f"{output}.piece"),
        helper.make_node("Reshape", [f"{output}.pieces", f"{output}.whole"], [f"{output}.halves"], f"{output}.join"),
        helper.make_node("Gather", [f"{name}.scales", ids], [f"{output}.scales"], f"{output}.scale"),
        helper.make_node("Mul", [f"{output}.floats", f"{output}.sizes"], [f"{output}.rows"], f"{output}.product"),
    ]
    casts = [
        helper.make_node("Cast", [f"{output}.{was}"], [f"{output}.{now}"], f"{output}.{now}", to=TensorProto.FLOAT)
        for was, now in (("halves", "floats"), ("scales", "sizes"))
    ]
    nodes[5:5] = casts
    if even == width:
        nodes[-1].output[0] = output
    else:
        for part, value in (("from", 0), ("to", width), ("axis", 2)):
            _add(model, f"{output}.{part}", np.array([value], dtype=np.int64))
        cut = [f"{output}.rows", f"{output}.from", f"{output}.to", f"{output}.axis"]
        nodes.append(helper.make_node("Slice", cut, [output], f"{output}.slice"))
    _after(model, lookup, nodes)


def _wide(model: ModelProto) -> list[Table]:
    """Give the tables whose rows are long enough to be worth it."""
    return [t for t in tables_of(model) if t.rows.dtype == np.float32 and t.rows.shape[1] >= 2 * NARROWEST]


def _after(model: ModelProto, node: NodeProto, others: Sequence[NodeProto]) -> None:
    at = list(model.graph.node).index(node)
    for offset, other in enumerate(others, start=1):
        model.graph.node.insert(at + offset, other)


def _add(model: ModelProto, name: str, numbers: NDArray[np.generic]) -> None:
    model.graph.initializer.append(numpy_helper.from_array(np.ascontiguousarray(numbers), name))
