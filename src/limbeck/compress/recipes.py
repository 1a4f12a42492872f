"""Ways to make a graph smaller and faster; a new one is a function and a line here, and its name in the settings.

A recipe of token tables and one of weights may be joined by a plus: 'tables-products+int8-channels'. What runs the
graph may be named behind an at sign: 'float@openvino' is the graph of float.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from limbeck.compress.eight_bits import quantise, quantise_tables
from limbeck.compress.four_bits import quantise_weights
from limbeck.compress.recentre import recentred
from limbeck.compress.rows import scale_rows
from limbeck.compress.sensitivity import guilty_products, is_large, spare_until
from limbeck.compress.small_tables import by_products, factorised, in_four_bits
from limbeck.compress.static import Range, quantise_static
from limbeck.errors import ExtraMissing
from limbeck.runtime.manifest import Backend


@dataclass(frozen=True)
class Circumstances:
    """What a recipe may know: whether this processor's sums of 8-bit products saturate, and inputs of real texts.

    `within` says of a graph whether it loses little enough on labelled rows that judge nothing.
    """

    saturates: bool
    samples: Sequence[Mapping[str, Any]] = ()
    within: Callable[[bytes], bool] | None = None


# A graph and the circumstances; the smaller graph.
Recipe = Callable[[bytes, Circumstances], bytes]

FLOAT = "float"
JOINED, RUN_BY = "+", "@"


def as_it_is(graph: bytes, circumstances: Circumstances) -> bytes:
    """Change nothing."""
    return graph


def tables(graph: bytes, circumstances: Circumstances) -> bytes:
    """Turn token tables into 8 bits, and nothing else: next to no loss, most of a small model's bytes."""
    return quantise_tables(graph)


def tables_of_four_bits(graph: bytes, circumstances: Circumstances) -> bytes:
    """Turn token tables into 4 bits, a scale for 32 numbers."""
    return recentred(in_four_bits(graph), graph, circumstances.samples)


def tables_of_low_rank(graph: bytes, circumstances: Circumstances) -> bytes:
    """Hold half of a token table's width, in 8 bits, and a matrix that widens it."""
    return recentred(quantise_tables(factorised(graph, circumstances.samples, 0.5)), graph, circumstances.samples)


def _products(numbers: int) -> Recipe:
    def recipe(graph: bytes, circumstances: Circumstances) -> bytes:
        return recentred(by_products(graph, circumstances.samples, numbers), graph, circumstances.samples)

    return recipe


def four_bits(graph: bytes, circumstances: Circumstances) -> bytes:
    """Turn weights into 4 bits and tables into 8."""
    return recentred(quantise_weights(quantise_tables(graph)), graph, circumstances.samples)


def mixed(graph: bytes, circumstances: Circumstances) -> bytes:
    """Turn tables and weights into 8 bits, a scale a token, but for the few products that lose most, as texts show."""
    scaled = scale_rows(quantise_tables(graph))
    spared = guilty_products(scaled, circumstances.samples, circumstances.saturates)
    small = quantise(scaled, per_channel=True, symmetric=True, reduce_range=circumstances.saturates, spared=spared)
    return _in_place(small, graph, circumstances)


def within_budget(graph: bytes, circumstances: Circumstances) -> bytes:
    """Turn tables and weights into 8 bits, but for as many products as have to stay in float for F1 to hold."""
    if circumstances.within is None:
        raise ValueError("there are no labelled rows to see what is lost")
    plain = quantise_tables(graph)

    def small(spared: Sequence[str]) -> bytes:
        made = quantise(plain, per_channel=True, symmetric=True, reduce_range=circumstances.saturates, spared=spared)
        return _in_place(made, graph, circumstances)

    return spare_until(plain, circumstances.samples, circumstances.saturates, small, circumstances.within)


def _whole(per_channel: bool, symmetric: bool) -> Recipe:
    def recipe(graph: bytes, circumstances: Circumstances) -> bytes:
        small = quantise(quantise_tables(graph), per_channel, symmetric, reduce_range=circumstances.saturates)
        return _in_place(small, graph, circumstances)

    return recipe


def _scaled(normed: bool) -> Recipe:
    def recipe(graph: bytes, circumstances: Circumstances) -> bytes:
        scaled = scale_rows(quantise_tables(graph), normed)
        small = quantise(scaled, per_channel=True, symmetric=True, reduce_range=circumstances.saturates)
        return _in_place(small, graph, circumstances)

    return recipe


def _static(ranges: Range) -> Recipe:
    def recipe(graph: bytes, circumstances: Circumstances) -> bytes:
        small = quantise_static(quantise_tables(graph), circumstances.samples, ranges, circumstances.saturates)
        return _in_place(small, graph, circumstances)

    return recipe


def _in_place(small: bytes, plain: bytes, circumstances: Circumstances) -> bytes:
    """Move the log-odds of a large graph back to where they were; small ones hardly move, and every step counts."""
    return recentred(small, plain, circumstances.samples) if is_large(plain) else small


def recipe_of(name: str) -> Recipe:
    """Give a recipe by its name; of two that are joined, the second works on what the first made."""
    parts = [RECIPES[part] for part in graph_of(name).split(JOINED)]

    def recipe(graph: bytes, circumstances: Circumstances) -> bytes:
        for part in parts:
            graph = part(graph, circumstances)
        return graph

    return recipe


def about(name: str) -> str:
    """Say what a recipe does."""
    told = "; ".join(ABOUT[part] for part in graph_of(name).split(JOINED))
    return told + BY_BACKEND[backend_of(name)]


def graph_of(name: str) -> str:
    """Give the recipe that makes the graph, whatever runs it."""
    return name.partition(RUN_BY)[0]


def backend_of(name: str) -> Backend:
    """Give what runs a recipe's graph."""
    return cast(Backend, name.partition(RUN_BY)[2] or "onnxruntime")


def need_backends(names: Iterable[str]) -> None:
    """Refuse recipes whose backend is not installed."""
    from limbeck.runtime.openvino_session import NotInstalled, import_openvino

    wanting = [name for name in names if backend_of(name) != "onnxruntime"]
    if wanting:
        try:
            import_openvino()
        except NotInstalled:
            raise ExtraMissing("openvino", f"The recipe {wanting[0]}") from None


RECIPES: dict[str, Recipe] = {
    FLOAT: as_it_is,
    "tables": tables,
    "tables-4bit": tables_of_four_bits,
    "tables-products": _products(4),
    "tables-long-products": _products(6),
    "tables-low-rank": tables_of_low_rank,
    "int8": _whole(per_channel=False, symmetric=True),
    "int8-channels": _whole(per_channel=True, symmetric=True),
    "int8-some-rows": _scaled(normed=False),
    "int8-rows": _scaled(normed=True),
    "int8-mixed": mixed,
    "int8-budget": within_budget,
    "uint8": _whole(per_channel=False, symmetric=False),
    "uint8-channels": _whole(per_channel=True, symmetric=False),
    "static-minmax": _static("minmax"),
    "static-percentile": _static("percentile"),
    "static-entropy": _static("entropy"),
    "int4": four_bits,
}

BY_BACKEND: dict[Backend, str] = {
    "onnxruntime": "",
    "openvino": "; run by OpenVINO",
    "openvino-bf16": "; run by OpenVINO in 16-bit floats",
}

ABOUT: dict[str, str] = {
    FLOAT: "32-bit numbers",
    "tables": "token tables in 8 bits",
    "tables-4bit": "token tables in 4 bits, a scale for 32 numbers",
    "tables-products": "a byte for every 4 numbers of a token table (product quantisation)",
    "tables-long-products": "a byte for every 6 numbers of a token table",
    "tables-low-rank": "half of a token table's width, in 8 bits, and a matrix that widens it",
    "int8": "tables and weights in 8 bits, a scale a matrix, around 0",
    "int8-channels": "the same, a scale a column",
    "int8-some-rows": "the same, and a scale a token for what meets them, but for what comes from a norm",
    "int8-rows": "the same, and a scale a token for all that meets them",
    "int8-mixed": "the same, but for the few products that lose most by it",
    "int8-budget": "a scale a column, but for as many products as stay in float for F1 on dev's tuning half to hold",
    "uint8": "tables and weights in 8 bits, a scale and an offset a matrix",
    "uint8-channels": "the same, a scale and an offset a column",
    "static-minmax": "8 bits, activations by ranges seen beforehand (all of it), but for what can't bear it",
    "static-percentile": "the same, by ranges that leave outliers out",
    "static-entropy": "the same, by ranges that keep most of the distribution",
    "int4": "weights in 4 bits, a scale for 32 of them; tables in 8 bits",
}
