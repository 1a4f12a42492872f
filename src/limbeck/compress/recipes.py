"""Ways to make a graph smaller and faster; a new one is a function and a line here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from limbeck.compress.eight_bits import quantise, quantise_tables
from limbeck.compress.recentre import recentred
from limbeck.compress.rows import scale_rows
from limbeck.compress.sensitivity import guilty_products, is_large


@dataclass(frozen=True)
class Circumstances:
    """What a recipe may know: whether this processor's sums of 8-bit products saturate, and inputs of real texts."""

    saturates: bool
    samples: Sequence[Mapping[str, Any]] = ()


# A graph and the circumstances; the smaller graph.
Recipe = Callable[[bytes, Circumstances], bytes]

FLOAT = "float"


def as_it_is(graph: bytes, circumstances: Circumstances) -> bytes:
    """Change nothing."""
    return graph


def tables(graph: bytes, circumstances: Circumstances) -> bytes:
    """Turn token tables into 8 bits, and nothing else: next to no loss, most of a small model's bytes."""
    return quantise_tables(graph)


def mixed(graph: bytes, circumstances: Circumstances) -> bytes:
    """Turn tables and weights into 8 bits, a scale a token, but for the few products that lose most, as texts show."""
    scaled = scale_rows(quantise_tables(graph))
    spared = guilty_products(scaled, circumstances.samples, circumstances.saturates)
    small = quantise(scaled, per_channel=True, symmetric=True, reduce_range=circumstances.saturates, spared=spared)
    return _in_place(small, graph, circumstances)


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


def _in_place(small: bytes, plain: bytes, circumstances: Circumstances) -> bytes:
    """Move the log-odds of a large graph back to where they were; small ones hardly move, and every step counts."""
    return recentred(small, plain, circumstances.samples) if is_large(plain) else small


RECIPES: dict[str, Recipe] = {
    FLOAT: as_it_is,
    "tables": tables,
    "int8": _whole(per_channel=False, symmetric=True),
    "int8-channels": _whole(per_channel=True, symmetric=True),
    "int8-some-rows": _scaled(normed=False),
    "int8-rows": _scaled(normed=True),
    "int8-mixed": mixed,
    "uint8": _whole(per_channel=False, symmetric=False),
    "uint8-channels": _whole(per_channel=True, symmetric=False),
}

ABOUT: dict[str, str] = {
    FLOAT: "32-bit numbers",
    "tables": "token tables in 8 bits",
    "int8": "tables and weights in 8 bits, a scale a matrix, around 0",
    "int8-channels": "the same, a scale a column",
    "int8-some-rows": "the same, and a scale a token for what meets them, but for what comes from a norm",
    "int8-rows": "the same, and a scale a token for all that meets them",
    "int8-mixed": "the same, but for the few products that lose most by it",
    "uint8": "tables and weights in 8 bits, a scale and an offset a matrix",
    "uint8-channels": "the same, a scale and an offset a column",
}
