"""Looking into an ONNX file without the onnx package: whether it wants other files."""

from __future__ import annotations

from collections.abc import Iterator

# Field numbers of onnx.proto3. A message's fields that hold further messages in which a tensor may stand.
_MODEL = {7: "graph", 20: "training", 25: "function"}
_INSIDE: dict[str, dict[int, str]] = {
    "model": _MODEL,
    "training": {1: "graph", 2: "graph"},
    "function": {7: "node", 11: "attribute"},
    "graph": {1: "node", 5: "tensor", 15: "sparse"},
    "node": {5: "attribute"},
    "attribute": {5: "tensor", 6: "graph", 10: "tensor", 11: "graph", 22: "sparse", 23: "sparse"},
    "sparse": {1: "tensor", 2: "tensor"},
    "tensor": {},
}
_EXTERNAL_DATA, _DATA_LOCATION = 13, 14
_VARINT, _EIGHT_BYTES, _LENGTH, _FOUR_BYTES = 0, 1, 2, 5


class NoGraph(ValueError):
    """Bytes that are no ONNX model."""


def wants_other_files(graph: bytes) -> bool:
    """Say whether any tensor of a model keeps its numbers in another file."""
    waiting: list[tuple[str, memoryview]] = [("model", memoryview(graph))]
    seen_graph = False
    while waiting:
        kind, message = waiting.pop()
        for number, wire, value in _fields(message):
            if kind == "tensor" and number in (_EXTERNAL_DATA, _DATA_LOCATION) and value:
                return True
            inside = _INSIDE[kind].get(number)
            if inside and wire == _LENGTH and isinstance(value, memoryview):
                seen_graph |= inside == "graph"
                waiting.append((inside, value))
    if not seen_graph:
        raise NoGraph("it holds no graph")
    return False


def _fields(message: memoryview) -> Iterator[tuple[int, int, int | memoryview]]:
    """Give field number, wire type and value of every field; a group or a field past the end is an error."""
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        number, wire = key >> 3, key & 7
        value: int | memoryview
        if wire == _VARINT:
            value, at = _varint(message, at)
        elif wire in (_LENGTH, _EIGHT_BYTES, _FOUR_BYTES):
            size = 8 if wire == _EIGHT_BYTES else 4
            if wire == _LENGTH:
                size, at = _varint(message, at)
            if at + size > len(message):
                raise NoGraph("it ends too early")
            value, at = message[at : at + size], at + size
        else:
            raise NoGraph("it is damaged")
        yield number, wire, value


def _varint(message: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(message) and shift < 64:
        byte = message[at]
        value |= (byte & 0x7F) << shift
        at += 1
        if byte < 0x80:
            return value, at
        shift += 7
    raise NoGraph("it ends too early")
