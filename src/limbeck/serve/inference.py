"""The Open Inference Protocol, version 2, so that clients of other servers (Triton, KServe) work here as well.

A model takes one tensor `text` of BYTES, [texts] or [texts, 1]. Categories come back as `probabilities`
[texts, labels], `labels` (a JSON list a text) and `confidence` [texts]; entities as `entities` (a JSON list a text).
Tensors may follow the JSON as bytes (the binary extension), in both directions.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import numpy as np
from fastapi import FastAPI, Request, Response
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from limbeck import __version__
from limbeck.serve.refusals import Refusal
from limbeck.serve.server import Server
from limbeck.serve.shelf import Answered, Loaded
from limbeck.serve.wire import parsed

HEADER = "inference-header-content-length"
TEXT = "text"


class InferenceError(BaseModel):
    """What was wrong, as the protocol tells it."""

    error: str


REFUSED: dict[int | str, dict[str, Any]] = {
    status: {"model": InferenceError} for status in (400, 401, 403, 404, 408, 413, 422, 429, 503)
}
Size = Annotated[int, Field(ge=0)]


class _Loose(BaseModel):
    """What others send: fields that nobody knows here are passed over."""

    model_config = ConfigDict(extra="ignore")


class Tensor(_Loose):
    """An input; its numbers stand in `data`, or follow the JSON as `parameters.binary_data_size` bytes."""

    name: Annotated[str, Field(min_length=1, max_length=200)]
    shape: Annotated[list[Size], Field(min_length=1, max_length=2)]
    datatype: str
    parameters: dict[str, Any] = {}
    data: list[str] | list[list[str]] | None = None


class Wanted(_Loose):
    """An output that is asked for."""

    name: str
    parameters: dict[str, Any] = {}


class InferRequest(_Loose):
    """A question to a model."""

    id: str = ""
    parameters: dict[str, Any] = {}
    inputs: Annotated[list[Tensor], Field(min_length=1, max_length=8)]
    outputs: Annotated[list[Wanted], Field(max_length=16)] = []


INFER: TypeAdapter[Any] = TypeAdapter(InferRequest)


def add(app: FastAPI, server: Server) -> None:
    """Add the protocol's paths."""
    _about(app, server)

    schema = InferRequest.model_json_schema(ref_template="#/components/schemas/{model}")
    schema.pop("$defs", None)
    tensor = {"type": "object", "required": ["name", "shape", "datatype"]}
    schema["properties"]["inputs"]["items"] = tensor
    schema["properties"]["outputs"]["items"] = {"type": "object", "required": ["name"]}
    described = {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}

    @app.post("/v2/models/{name}/infer", responses=REFUSED, openapi_extra=described, tags=["inference protocol"])
    @app.post(
        "/v2/models/{name}/versions/{version}/infer",
        responses=REFUSED,
        openapi_extra=described,
        tags=["inference protocol"],
    )
    async def infer(request: Request, name: str, version: str = "") -> Response:
        """Answer the texts of a tensor."""
        asked, rest = _split(await request.body(), request.headers.get(HEADER))
        texts = _texts(asked, rest)
        served = server.model(name)
        _right_version(served.model, version)
        found = await server.answer(request.scope, served, texts) if texts else []
        return _answer(asked, found[0].model if found else served.model, found)


def _about(app: FastAPI, server: Server) -> None:
    @app.get("/v2", tags=["inference protocol"])
    async def about() -> dict[str, Any]:
        """Tell of the server."""
        return {"name": "limbeck", "version": __version__, "extensions": ["binary_tensor_data"]}

    @app.get("/v2/health/live", tags=["inference protocol"])
    async def live() -> dict[str, bool]:
        """Say that the process is alive."""
        return {"live": True}

    @app.get("/v2/health/ready", responses=REFUSED, tags=["inference protocol"])
    async def ready() -> dict[str, bool]:
        """Say whether to send requests here."""
        if server.draining:
            raise Refusal(503, "The server ends.", code="draining")
        return {"ready": True}

    @app.get("/v2/models/{name}/ready", responses=REFUSED, tags=["inference protocol"])
    @app.get("/v2/models/{name}/versions/{version}/ready", responses=REFUSED, tags=["inference protocol"])
    async def model_ready(name: str, version: str = "") -> dict[str, Any]:
        """Say whether a model answers."""
        _right_version(server.model(name).model, version)
        return {"name": name, "ready": True}

    @app.get("/v2/models/{name}", responses=REFUSED, tags=["inference protocol"])
    @app.get("/v2/models/{name}/versions/{version}", responses=REFUSED, tags=["inference protocol"])
    async def model(name: str, version: str = "") -> dict[str, Any]:
        """Tell of a model's tensors."""
        loaded = server.model(name).model
        _right_version(loaded, version)
        return {
            "name": name,
            "versions": [loaded.version],
            "platform": "onnxruntime_limbeck",
            "inputs": [{"name": TEXT, "datatype": "BYTES", "shape": [-1]}],
            "outputs": [
                {"name": output, "datatype": kind, "shape": shape} for output, (kind, shape) in _kinds(loaded).items()
            ],
        }


def _kinds(model: Loaded) -> dict[str, tuple[str, list[int]]]:
    if model.manifest.task == "ner":
        return {"entities": ("BYTES", [-1])}
    return {
        "probabilities": ("FP32", [-1, len(model.manifest.labels)]),
        "labels": ("BYTES", [-1]),
        "confidence": ("FP32", [-1]),
    }


def _right_version(model: Loaded, version: str) -> None:
    if version and version not in (model.version, "1"):
        raise Refusal(404, f"The model {model.name} has the version {model.version}, not {version}.", code="no_model")


def _split(body: bytes, header: str | None) -> tuple[InferRequest, bytes]:
    """Part the JSON from the bytes that follow it."""
    if header is None:
        return parsed(INFER, body), b""
    if not header.isdigit() or int(header) > len(body):
        raise Refusal(400, f"The header {HEADER} doesn't fit the body.")
    return parsed(INFER, body[: int(header)]), body[int(header) :]


def _texts(asked: InferRequest, rest: bytes) -> list[str]:
    tensors = {}
    for tensor in asked.inputs:
        size = tensor.parameters.get("binary_data_size")
        own = b""
        if size is not None:
            if not isinstance(size, int) or size < 0 or size > len(rest):
                raise Refusal(400, f"{tensor.name}: binary_data_size doesn't fit the body.")
            own, rest = rest[:size], rest[size:]
        tensors[tensor.name] = (tensor, own, size is not None)
    if TEXT not in tensors or tensors[TEXT][0].datatype != "BYTES":
        raise Refusal(422, f"A tensor '{TEXT}' of the datatype BYTES is needed.")
    tensor, own, binary = tensors[TEXT]
    found = _strings(own) if binary else _flat(tensor.data)
    expected = int(np.prod(tensor.shape, dtype=object))
    if expected != len(found) or (len(tensor.shape) == 2 and tensor.shape[1] != 1 and expected):
        raise Refusal(422, f"{TEXT}: {len(found)} texts don't fit the shape {tensor.shape}; it must be [n] or [n, 1].")
    return found


def _flat(data: list[str] | list[list[str]] | None) -> list[str]:
    if data is None:
        raise Refusal(422, f"{TEXT}: there is no data.")
    return [text for one in data for text in (one if isinstance(one, list) else [one])]


def _strings(raw: bytes) -> list[str]:
    """Read texts that each stand behind their length in four bytes."""
    found, at = [], 0
    while at < len(raw):
        if at + 4 > len(raw):
            raise Refusal(400, f"{TEXT}: the bytes end within a length.")
        (size,) = struct.unpack_from("<I", raw, at)
        at += 4
        if at + size > len(raw):
            raise Refusal(400, f"{TEXT}: the bytes end within a text.")
        try:
            found.append(raw[at : at + size].decode("utf-8"))
        except UnicodeDecodeError:
            raise Refusal(400, f"{TEXT}: text {len(found)} is not UTF-8.") from None
        at += size
    return found


def _answer(asked: InferRequest, model: Loaded, found: Sequence[Answered]) -> Response:
    kinds = _kinds(model)
    wanted = asked.outputs or [Wanted(name=name) for name in kinds]
    everything_binary = asked.parameters.get("binary_data_output") is True
    outputs: list[dict[str, Any]] = []
    behind: list[bytes] = []
    for one in wanted:
        if one.name not in kinds:
            raise Refusal(422, f"There is no output '{one.name}'. Outputs: {', '.join(kinds)}.")
        kind, shape = kinds[one.name]
        values = _VALUES[one.name](model, found)
        told: dict[str, Any] = {"name": one.name, "datatype": kind, "shape": [len(found), *shape[1:]]}
        if one.parameters.get("binary_data", everything_binary) is True:
            raw = _bytes(values) if kind == "BYTES" else np.array(values, dtype="<f4").tobytes()
            told["parameters"] = {"binary_data_size": len(raw)}
            behind.append(raw)
        else:
            told["data"] = values
        outputs.append(told)
    about = {"model_name": model.name, "model_version": model.version, "outputs": outputs}
    head = json.dumps({"id": asked.id, **about} if asked.id else about, separators=(",", ":")).encode()
    if not behind:
        return Response(head, media_type="application/json")
    headers = {HEADER: str(len(head))}
    return Response(b"".join([head, *behind]), headers=headers, media_type="application/octet-stream")


def _bytes(values: Sequence[str]) -> bytes:
    raw = [value.encode("utf-8", "replace") for value in values]
    return b"".join(struct.pack("<I", len(one)) + one for one in raw)


_VALUES: dict[str, Callable[[Loaded, Sequence[Answered]], list[Any]]] = {
    "probabilities": lambda model, found: [value for one in found for value in one.told["probabilities"].values()],
    "labels": lambda model, found: [json.dumps(one.labels, ensure_ascii=False) for one in found],
    "confidence": lambda model, found: [one.told["confidence"] for one in found],
    "entities": lambda model, found: [json.dumps(one.told["entities"], ensure_ascii=False) for one in found],
}
