"""What request handlers share: models, replies, limits, and who is told of what happened."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from limbeck.serve.guard import paced
from limbeck.serve.keys import Rates
from limbeck.serve.limits import Limits
from limbeck.serve.live import Live
from limbeck.serve.metrics import Metrics
from limbeck.serve.recording import Recorder
from limbeck.serve.refusals import Refusal
from limbeck.serve.replies import Replies
from limbeck.serve.shelf import Answered, Served, Shelf

# How long a request may take, in milliseconds, if it is to take less than the server allows.
DEADLINE_HEADER = b"x-deadline-ms"


log = logging.getLogger("limbeck.serve")


@dataclass
class Server:
    """One worker's parts; `reload` tells all workers to load models anew, and gives their versions and number."""

    shelf: Shelf
    limits: Limits
    metrics: Metrics
    live: Live
    replies: Replies | None
    recorder: Recorder | None
    reload: Callable[[Sequence[str], str | None], Awaitable[tuple[dict[str, str], int]]]
    owner_sees_texts: bool = False
    rates: Rates = field(default_factory=lambda: Rates(0))
    page: bool = True
    log_texts: bool = False
    draining: bool = False

    def model(self, name: str | None) -> Served:
        """Give a model by name."""
        served = self.shelf.named(name)
        if served is None:
            raise Refusal(404, f"There is no model '{name}'. Models: {', '.join(self.shelf.models)}.", code="no_model")
        return served

    async def answer(self, scope: Any, served: Served, texts: Sequence[str]) -> Sequence[Answered]:  # noqa: ANN401
        """Answer texts within the bounds of the server and the deadline of the request."""
        if len(texts) > self.limits.texts:
            raise Refusal(413, f"A request has {self.limits.texts} texts at most, not {len(texts)}.")
        longest = max(map(len, texts), default=0)
        if longest > self.limits.characters:
            raise Refusal(413, f"A text has {self.limits.characters:,} characters at most, not {longest:,}.")
        self.shelf.asked(len(texts))
        paced(self.rates, scope["limbeck.who"], len(texts))
        found = await served.answer(texts, self._deadline(scope))
        for one in found:
            for label in one.labels:
                self.metrics.of(self.metrics.topics, served.name, label).inc()
        if self.log_texts:
            for text, one in zip(texts, found, strict=True):
                log.info("%s", json.dumps({"text": text, "labels": one.labels}, ensure_ascii=False))
        self.live.answered(len(texts), time.monotonic() - scope["limbeck.arrived"])
        return found

    def _deadline(self, scope: Any) -> float:  # noqa: ANN401 - ASGI's
        seconds = self.limits.deadline
        for name, value in scope["headers"]:
            if name == DEADLINE_HEADER:
                if not value.isdigit():
                    raise Refusal(400, "x-deadline-ms must be a whole number of milliseconds.")
                seconds = min(seconds, int(value[:9]) / 1e3)
        return float(scope["limbeck.arrived"]) + seconds
