"""The HTTP application: what can be asked, and what is answered."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import partial
from heapq import nlargest
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import TypeAdapter
from starlette.exceptions import HTTPException

from limbeck import __version__
from limbeck.errors import LimbeckError
from limbeck.runtime.manifest import Manifest
from limbeck.serve import inference, pages
from limbeck.serve.feedback import FEEDBACK, answered
from limbeck.serve.guard import Scope, Short
from limbeck.serve.refusals import CODES, Refusal
from limbeck.serve.server import Server
from limbeck.serve.shelf import Loaded
from limbeck.serve.wire import (
    ErrorAnswer,
    FeedbackAnswer,
    FeedbackRequest,
    Health,
    Prediction,
    PredictRequest,
    ReloadAnswer,
    ReloadRequest,
    VoteAnswer,
    VoteRequest,
    body_schema,
    parsed,
)

PREDICT = TypeAdapter(PredictRequest)
VOTE = TypeAdapter(VoteRequest)
RELOAD = TypeAdapter(ReloadRequest)
ABOUT = "Texts in; categories or entities, and contextual replies out."
# What any question may meet.
REFUSED: dict[int | str, dict[str, Any]] = {
    status: {"model": ErrorAnswer, "description": CODES[status]}
    for status in (400, 401, 403, 404, 408, 413, 422, 429, 503)
}


def make_app(server: Server) -> FastAPI:
    """Make the application of a worker."""
    app = FastAPI(title="Limbeck", version=__version__, description=ABOUT, redoc_url=None)
    for add in (_predicting, _feedback, _models, _admin, _health):
        add(app, server)
    inference.add(app, server)
    pages.add(app, server)
    _errors(app)
    return app


def as_json(told: object, status: int = 200) -> Response:
    """Answer with plain values, which need no checking: they are ours."""
    return Response(_dumped(told), status, media_type="application/json")


def _dumped(told: object) -> bytes:
    return json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def _predicting(app: FastAPI, server: Server) -> None:
    @app.post(
        "/v1/predict",
        response_model=Prediction,
        responses=REFUSED,
        openapi_extra=body_schema(PredictRequest),
        tags=["answers"],
    )
    async def predict(request: Request) -> Response:
        """Give each text's labels with probabilities and thresholds, or its entities."""
        return Response(await predicted(server, request.scope, await request.body()), media_type="application/json")


async def predicted(server: Server, scope: Scope, body: bytes) -> bytes:
    """Answer texts; the answer is made of pieces that are JSON already."""
    asked = parsed(PREDICT, body)
    served = server.model(asked.model)
    texts = asked.all_texts
    found = await server.answer(scope, served, texts)
    if server.recorder is not None:
        server.recorder.sample(texts, found)
    model, told = found[0].model, [one.told for one in found]
    if asked.top is None or "probabilities" not in told[0]:
        return b"%s[%s]}" % (model.head, b",".join(map(_dumped, told)))
    told = [likeliest(one, asked.top) for one in told]
    return _dumped(model.about({name for one in told for name in one["probabilities"]}) | {"answers": told})


def likeliest(told: dict[str, Any], top: int) -> dict[str, Any]:
    """Leave the probabilities of so many of the likeliest categories, falling, and of those that are given."""
    proba = told["probabilities"]
    some = dict.fromkeys([*nlargest(top, proba, key=proba.__getitem__), *told["labels"]])
    return {**told, "probabilities": {name: proba[name] for name in some}}


def short_ways(server: Server) -> dict[str, Short]:
    """Give the paths that are asked most, to be answered without the application around them."""
    return {"/v1/predict": partial(predicted, server), "/v1/feedback": partial(fed_back, server)}


def _feedback(app: FastAPI, server: Server) -> None:
    @app.post(
        "/v1/feedback",
        response_model=FeedbackAnswer,
        responses=REFUSED,
        openapi_extra=body_schema(FeedbackRequest),
        tags=["answers"],
    )
    async def feedback(request: Request) -> Response:
        """Give the categories of what somebody wrote, and a fitting reply."""
        return Response(await fed_back(server, request.scope, await request.body()), media_type="application/json")

    @app.post(
        "/v1/feedback/vote",
        response_model=VoteAnswer,
        responses=REFUSED,
        openapi_extra=body_schema(VoteRequest),
        tags=["answers"],
    )
    async def vote(request: Request) -> Response:
        """Say whether a reply helped."""
        asked = parsed(VOTE, await request.body())
        word = "yes" if asked.helped else "no"
        server.live.votes[word] += 1
        server.metrics.of(server.metrics.votes, word).inc()
        stored = False
        if server.recorder is not None:
            stored = bool(asked.id) and await server.recorder.vote(asked.id or "", asked.helped)
            if not stored and not asked.helped and asked.text.strip():
                [answer] = await server.answer(request.scope, server.model(None), [asked.text])
                stored = await server.recorder.did_not_help(asked.text, answer, asked.language) is not None
        return as_json({"stored": stored})


async def fed_back(server: Server, scope: Scope, body: bytes) -> bytes:
    """Answer somebody's feedback."""
    accepted = next((value for name, value in scope["headers"] if name == b"accept-language"), b"").decode("latin-1")
    told, _ = await answered(server, scope, parsed(FEEDBACK, body), accepted)
    return _dumped(told)


def _models(app: FastAPI, server: Server) -> None:
    @app.get("/v1/model", responses=REFUSED, tags=["models"])
    async def model(name: str | None = None) -> dict[str, Any]:
        """Tell of a model: its labels, how it reads, its figures, where it comes from, and its card."""
        return about(server.model(name).model)

    @app.get("/v1/models", responses=REFUSED, tags=["models"])
    async def models() -> dict[str, Any]:
        """Name all models and their versions; the first answers if none is named."""
        told = {name: served.model.version for name, served in server.shelf.models.items()}
        return {"first": server.shelf.first, "models": told}


def about(model: Loaded) -> dict[str, Any]:
    """Tell of a model."""
    manifest: Manifest = model.manifest
    return {
        "name": model.name,
        "version": model.version,
        "task": manifest.task,
        "kind": manifest.model.kind,
        "recipe": manifest.model.recipe,
        "parameters": manifest.model.parameters,
        "labels": [{"name": one.name, "title": one.title, "threshold": one.threshold} for one in manifest.labels],
        "max_tokens": manifest.reading.max_tokens,
        "long_texts": manifest.reading.long_texts,
        "figures": manifest.figures,
        "made_with": manifest.made_with,
        "made_at": manifest.made_at,
        "card": model.card,
    }


def _admin(app: FastAPI, server: Server) -> None:
    @app.post(
        "/v1/admin/reload",
        response_model=ReloadAnswer,
        responses=REFUSED,
        openapi_extra=body_schema(ReloadRequest),
        tags=["owner"],
    )
    async def reload(request: Request) -> Response:
        """Load models anew in all workers; a bad bundle changes nothing."""
        asked = parsed(RELOAD, await request.body() or b"{}")
        try:
            versions, workers = await server.reload(asked.models, asked.folder)
        except LimbeckError as error:
            raise Refusal(422, str(error), code="bad_bundle") from None
        return as_json({"versions": versions, "workers": workers})

    @app.get("/v1/admin/live", responses=REFUSED, tags=["owner"])
    async def live() -> dict[str, Any]:
        """Give what the owner's page shows."""
        told = server.live.page()
        told["uncertain"] = await server.recorder.uncertain() if server.recorder and server.owner_sees_texts else None
        return told


def _health(app: FastAPI, server: Server) -> None:
    @app.get("/healthz", tags=["health"])
    async def healthz() -> Health:
        """Say that the process is alive."""
        return Health(status="ok")

    @app.get("/readyz", tags=["health"], responses={503: {"model": Health}})
    async def readyz() -> Response:
        """Say whether to send requests here."""
        if server.draining:
            return JSONResponse({"status": "draining"}, 503)
        return JSONResponse({"status": "ok"})

    @app.get("/metrics", tags=["health"], responses=REFUSED)
    async def metrics() -> Response:
        """Give all counters as Prometheus reads them."""
        return Response(server.metrics.page(), media_type="text/plain; version=0.0.4; charset=utf-8")


def _errors(app: FastAPI) -> None:
    async def refused(request: Request, error: Exception) -> Response:
        assert isinstance(error, Refusal)
        return Response(error.body(request.url.path), error.status, error.headers, "application/json")

    async def by_starlette(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        refusal = Refusal(error.status_code, str(error.detail), headers=dict(error.headers or {}))
        return Response(refusal.body(request.url.path), refusal.status, refusal.headers, "application/json")

    async def invalid(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"][1:])
        refusal = Refusal(422, f"{where}: {first['msg']}.")
        return Response(refusal.body(request.url.path), refusal.status, None, "application/json")

    handlers: Sequence[tuple[type[Exception], Callable[..., Any]]] = (
        (Refusal, refused),
        (HTTPException, by_starlette),
        (RequestValidationError, invalid),
    )
    for kind, handler in handlers:
        app.add_exception_handler(kind, handler)
