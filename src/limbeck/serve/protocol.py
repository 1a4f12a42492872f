"""HTTP as uvicorn speaks it, with two things more: refusing costs next to nothing, and nobody may take all day."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from limbeck.serve.limits import Limits
from limbeck.serve.refusals import Refusal, overloaded

# What may be refused before it is looked at: whatever makes a model work.
COSTLY = (b"/v1/predict", b"/v1/feedback", b"/v2/models/")
# What stands for a request that is answered already: the rest of its body is skipped.
_ANSWERED = SimpleNamespace(response_complete=True, keep_alive=True, disconnected=False, message_event=asyncio.Event())


def plain(refusal: Refusal, close: bool = False) -> bytes:
    """Write a refusal as the bytes of an HTTP answer."""
    body = refusal.body()
    told = refusal.headers | {"content-type": "application/json", "content-length": str(len(body))}
    told |= {"connection": "close"} if close else {}
    reason = {400: "Bad Request", 408: "Request Timeout", 503: "Service Unavailable"}.get(refusal.status, "Refused")
    head = f"HTTP/1.1 {refusal.status} {reason}\r\n" + "".join(f"{k}: {v}\r\n" for k, v in told.items())
    return head.encode() + b"\r\n" + body


OVERLOADED = plain(overloaded(0))
NO_HTTP = plain(Refusal(400, "This is no HTTP request that the server understands.", code="no_http"), close=True)
TOO_SLOW = plain(Refusal(408, "The request took too long to arrive."), close=True)


class Connection(HttpToolsProtocol):
    """One connection to a worker; see `protocol`."""

    limits: Limits
    waiting: Callable[[], int]
    on_shed: Callable[[], None]
    _arriving = False
    _patience: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:  # noqa: ANN401 - asyncio's
        """Wait for a first request."""
        super().connection_made(transport)
        self._wait_for(self.limits.head_seconds)

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        self._wait_for(None)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read what came; what is only begun must go on soon."""
        super().data_received(data)
        # A request in one piece, as most are, needs no timer.
        if not self._arriving:
            self._wait_for(None)
        elif self._patience is None:
            self._wait_for(self.limits.body_seconds)

    def on_message_begin(self) -> None:
        """Note that a request arrives."""
        self._arriving = True
        super().on_message_begin()

    def on_message_complete(self) -> None:
        """Note that it has arrived."""
        self._arriving = False
        super().on_message_complete()

    def on_headers_complete(self) -> None:
        """Refuse at once what would have to wait too long; else go on as always."""
        idle = self.cycle is None or self.cycle.response_complete
        busy = len(self.tasks) >= self.limits.waiting or self.waiting() >= self.limits.waiting
        if not (busy and idle and self.url.startswith(COSTLY)):
            super().on_headers_complete()
            return
        self.on_shed()
        self.cycle = _ANSWERED  # type: ignore[assignment]
        self.transport.write(OVERLOADED)
        if not self.parser.should_keep_alive():
            self.transport.close()
            return
        self._unset_keepalive_if_required()
        self.timeout_keep_alive_task = self.loop.call_later(self.timeout_keep_alive, self.timeout_keep_alive_handler)

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP."""
        self.transport.write(NO_HTTP)
        self.transport.close()

    def _wait_for(self, seconds: float | None) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None
        if seconds is not None:
            self._patience = self.loop.call_later(seconds, self._lose_patience)

    def _lose_patience(self) -> None:
        if not self.transport.is_closing():
            if self.cycle is None or self.cycle.response_complete or not self.cycle.response_started:
                self.transport.write(TOO_SLOW)
            self.transport.close()


def protocol(limits: Limits, waiting: Callable[[], int], on_shed: Callable[[], None]) -> type[Connection]:
    """Make the protocol of a worker; `waiting` gives the texts that wait there."""
    told = {"limits": limits, "waiting": staticmethod(waiting), "on_shed": staticmethod(on_shed)}
    return type("Connection", (Connection,), told)
