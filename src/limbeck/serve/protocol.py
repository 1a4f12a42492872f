"""HTTP as uvicorn speaks it, with two things more: refusing costs next to nothing, and nobody may take all day."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from limbeck.serve.limits import Limits
from limbeck.serve.refusals import Refusal, overloaded

# What may be refused before it is looked at: whatever makes a model work.
COSTLY = (b"/v1/predict", b"/v1/feedback", b"/v2/models/")
# How such a request begins if it came as most do; what else its head holds doesn't matter then, but for the end of the
# connection.
_BEGINNINGS = tuple(b"POST " + path for path in COSTLY)
_FIRST_LINE = 300
_LENGTH = re.compile(rb"\r\ncontent-length: *([0-9]{1,9})\r\n", re.IGNORECASE)
_CLOSES = re.compile(rb"\r\n(connection: *close|expect:)", re.IGNORECASE)
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
    busy: Callable[[int], bool]
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
        if not self._arriving and self.busy(len(self.tasks)) and self._idle and _whole(data):
            self._refuse()
            return
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
        if not (self.busy(len(self.tasks)) and self._idle and self.url.startswith(COSTLY)):
            super().on_headers_complete()
            return
        self.cycle = _ANSWERED  # type: ignore[assignment]
        self._refuse()
        if not self.parser.should_keep_alive():
            self.transport.close()

    @property
    def _idle(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _refuse(self) -> None:
        self.on_shed()
        self.transport.write(OVERLOADED)
        self._wait_for(None)
        if self.timeout_keep_alive_task is None:
            later = self.loop.call_later(self.timeout_keep_alive, self.timeout_keep_alive_handler)
            self.timeout_keep_alive_task = later

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


def _whole(data: bytes) -> bool:
    """Say whether bytes are one whole request for something costly, on a connection that stays open."""
    if not data.startswith(_BEGINNINGS):
        return False
    end = data.find(b"\r\n\r\n") + 2
    if b" HTTP/1.1\r\n" not in data[:_FIRST_LINE]:
        return False
    length = _LENGTH.search(data, 0, end)
    return bool(length) and end + 2 + int(length[1]) == len(data) and not _CLOSES.search(data, 0, end)  # type: ignore[index]


def protocol(limits: Limits, busy: Callable[[int], bool], on_shed: Callable[[], None]) -> type[Connection]:
    """Make the protocol of a worker; `busy` says whether it has enough to do with so many requests under way."""
    told = {"limits": limits, "busy": staticmethod(busy), "on_shed": staticmethod(on_shed)}
    return type("Connection", (Connection,), told)
