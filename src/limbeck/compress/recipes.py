"""Ways to make a graph smaller and faster; a new one is a function and a line here."""

from __future__ import annotations

from collections.abc import Callable

from limbeck.compress.eight_bits import quantise, quantise_tables, scale_rows

# A graph, and whether this processor's sums of 8-bit products saturate; the smaller graph.
Recipe = Callable[[bytes, bool], bytes]

FLOAT = "float"


def as_it_is(graph: bytes, saturates: bool) -> bytes:
    """Change nothing."""
    return graph


def tables(graph: bytes, saturates: bool) -> bytes:
    """Turn token tables into 8 bits, and nothing else: next to no loss, most of a small model's bytes."""
    return quantise_tables(graph)


def rows(graph: bytes, saturates: bool) -> bytes:
    """Turn tables and weights into 8 bits, and give the states of every token their own scale: half the rounding."""
    return quantise(scale_rows(quantise_tables(graph)), per_channel=True, symmetric=True, reduce_range=saturates)


def _whole(per_channel: bool, symmetric: bool) -> Recipe:
    def recipe(graph: bytes, saturates: bool) -> bytes:
        return quantise(quantise_tables(graph), per_channel, symmetric, reduce_range=saturates)

    return recipe


RECIPES: dict[str, Recipe] = {
    FLOAT: as_it_is,
    "tables": tables,
    "int8": _whole(per_channel=False, symmetric=True),
    "int8-channels": _whole(per_channel=True, symmetric=True),
    "int8-rows": rows,
    "uint8": _whole(per_channel=False, symmetric=False),
    "uint8-channels": _whole(per_channel=True, symmetric=False),
}

ABOUT: dict[str, str] = {
    FLOAT: "32-bit numbers",
    "tables": "token tables in 8 bits",
    "int8": "tables and weights in 8 bits, a scale a matrix, around 0",
    "int8-channels": "the same, a scale a column",
    "int8-rows": "the same, and a scale a token for what meets them",
    "uint8": "tables and weights in 8 bits, a scale and an offset a matrix",
    "uint8-channels": "the same, a scale and an offset a column",
}
