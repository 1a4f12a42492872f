"""What every request passes before it is understood: its key, its size, its rate; and what is counted of it."""

from __future__ import annotations

import logging
import time
import traceback
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from limbeck.serve.keys import ADMIN, Keys, Rates
from limbeck.serve.limits import Limits
from limbeck.serve.metrics import Metrics
from limbeck.serve.refusals import Refusal

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
# What answers a path straight from a request's body, with the bytes of a JSON.
Short = Callable[[Scope, bytes], Awaitable[bytes]]

# Who may ask for what begins so: anyone, whoever has a key, or an admin alone. The longest beginning counts.
OPEN, KEY, ADMIN_ONLY = "open", "key", "admin"
RIGHTS = {
    "/": OPEN,
    "/v1/": KEY,
    "/v1/feedback": OPEN,
    "/v1/admin": ADMIN_ONLY,
    "/v2": KEY,
    "/v2/health": OPEN,
    "/metrics": ADMIN_ONLY,
}
_BY_LENGTH = sorted(RIGHTS.items(), key=lambda item: -len(item[0]))
# What is counted by its whole path; all else by the beginning that it has.
COUNTED = frozenset(
    "/ /owner /healthz /readyz /metrics /docs /openapi.json /v1/predict /v1/model /v1/models /v1/feedback "
    "/v1/feedback/vote /v1/admin/reload /v1/admin/live".split()
)
BODILESS = frozenset(("GET", "HEAD", "OPTIONS"))
SAFE_HEADERS = [(b"x-content-type-options", b"nosniff"), (b"referrer-policy", b"no-referrer")]
# What pages are made of may be kept by browsers for a while, answers never.
KEPT, CACHES = "/pages/", ([(b"cache-control", b"max-age=300")], [(b"cache-control", b"no-store")])

log = logging.getLogger("limbeck.serve")


@lru_cache(1024)
def right_of(path: str) -> str:
    """Say who may ask for a path."""
    return next((right for start, right in _BY_LENGTH if path.startswith(start)), OPEN)


@lru_cache(1024)
def route_of(path: str) -> str:
    """Give the name under which a path is counted, so that made-up paths don't fill the memory."""
    if path in COUNTED:
        return path
    if path.startswith("/v2"):
        return "/v2/infer" if path.endswith("/infer") else "/v2"
    return "other"


class Guard:
    """Stands before an application. It reads bodies whole, so that nothing behind it meets half of one.

    The paths in `short` are answered here: all that an application does to find out what to call takes as long as a
    small model.
    """

    def __init__(
        self,
        app: App,
        keys: Keys,
        limits: Limits,
        metrics: Metrics,
        open_metrics: bool = False,
        short: Mapping[str, Short] | None = None,
    ) -> None:
        """Let pass what has the right key and isn't too large."""
        self._app, self._keys, self._limits, self._metrics = app, keys, limits, metrics
        self._open_metrics, self._short = open_metrics, dict(short or {})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = time.perf_counter()
        status = 500

        async def counted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                caches = CACHES[0 if scope["path"].startswith(KEPT) else 1]
                message["headers"] = [*message["headers"], *SAFE_HEADERS, *caches]
            await send(message)

        scope["limbeck.arrived"] = time.monotonic()
        try:
            scope["limbeck.who"] = self._who(scope)
            if scope["method"] in BODILESS:
                await self._app(scope, receive, counted)
                return
            body = await self._body(scope, receive)
            short = self._short.get(scope["path"]) if scope["method"] == "POST" else None
            if short is not None:
                await reply(200, await short(scope, body), counted)
            else:
                await self._app(scope, _again(body, receive), counted)
        except Refusal as refusal:
            await refuse(refusal, counted, scope["path"])
        except _Gone:
            return
        except Exception as error:
            log.error("a request failed: %s", _where(error))
            told = Refusal(500, "Something went wrong here. It was not your fault.")
            await refuse(told, counted, scope["path"])
        finally:
            self._metrics.answered(route_of(scope["path"]), status, time.perf_counter() - began)

    def _who(self, scope: Scope) -> str:
        """Say who asks: the name of a key, or an address."""
        path = scope["path"]
        right = right_of(path)
        if path == "/metrics" and self._open_metrics:
            right = OPEN
        key = _key(scope["headers"])
        name = self._keys.name_of(key) if key and self._keys.digests else None
        if key and self._keys.digests and name is None:
            raise Refusal(403, "This key is not known.")
        if right == ADMIN_ONLY and name != ADMIN:
            if not self._keys.digests.get(ADMIN):
                raise Refusal(403, "There is no admin key; make one with: limbeck key admin", code="no_admin")
            raise Refusal(403 if name else 401, "This needs the admin key.", headers={"www-authenticate": "Bearer"})
        if right == KEY and self._keys.asked and name is None:
            told = "This needs a key: Authorization: Bearer KEY"
            raise Refusal(401, told, headers={"www-authenticate": "Bearer"})
        if name:
            return f"key {name}"
        client = scope.get("client")
        return f"address {client[0]}" if client else "address"

    async def _body(self, scope: Scope, receive: Receive) -> bytes:
        """Read the whole body."""
        most = self._limits.body_bytes
        length = _length(scope["headers"])
        if length > most:
            raise _too_large(most)
        message = await receive()
        body: bytes = message.get("body", b"")
        if message.get("more_body"):
            parts, size = [body], len(body)
            while message.get("more_body"):
                message = await receive()
                parts.append(message.get("body", b""))
                size += len(parts[-1])
                if size > most:
                    raise _too_large(most)
            body = b"".join(parts)
        if message["type"] == "http.disconnect":
            raise _Gone
        if len(body) > most:
            raise _too_large(most)
        return body


def _again(body: bytes, receive: Receive) -> Receive:
    """Give what hands on a body that was read already."""
    whole: Message | None = {"type": "http.request", "body": body, "more_body": False}

    async def once() -> Message:
        nonlocal whole
        if whole is None:
            return await receive()
        given, whole = whole, None
        return given

    return once


def _where(error: Exception) -> str:
    """Say what kind of error it was, and where, but not its words: they may hold somebody's text."""
    frames = traceback.extract_tb(error.__traceback__)[-4:]
    return f"{type(error).__name__} at " + " < ".join(f"{Path(f.filename).name}:{f.lineno}" for f in reversed(frames))


class _Gone(Exception):
    """The client went away before its request was complete."""


def _too_large(most: int) -> Refusal:
    return Refusal(413, f"A request has {most:,} bytes at most.", headers={"connection": "close"})


def _length(headers: list[tuple[bytes, bytes]]) -> int:
    for name, value in headers:
        if name == b"content-length":
            return int(value) if value.isdigit() else 0
    return 0


def _key(headers: list[tuple[bytes, bytes]]) -> str:
    """Give the key of a request: a bearer's, or else that of x-api-key."""
    found = b""
    for name, value in headers:
        if name == b"authorization" and value[:7].lower() == b"bearer ":
            return value[7:].decode("latin-1").strip()
        if name == b"x-api-key":
            found = value
    return found.decode("latin-1").strip()


async def refuse(refusal: Refusal, send: Send, path: str) -> None:
    """Answer that there is no answer."""
    more = [(name.encode(), value.encode()) for name, value in refusal.headers.items()]
    await reply(refusal.status, refusal.body(path), send, more)


async def reply(status: int, body: bytes, send: Send, more: list[tuple[bytes, bytes]] | None = None) -> None:
    """Answer with a JSON."""
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body)), *(more or ())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def paced(rates: Rates, who: str, texts: int) -> None:
    """Refuse an asker who asks too often."""
    wait = rates.wait(who, texts)
    if wait:
        told = f"That is more than {rates.rate:g} texts a second."
        raise Refusal(429, told, headers={"retry-after": str(max(1, round(wait + 0.5)))})
