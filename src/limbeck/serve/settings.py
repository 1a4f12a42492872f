"""All that a server is told when it starts, as plain values that go to its workers."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass, field
from typing import Any

from limbeck.serve.limits import Limits


@dataclass(frozen=True)
class Storing:
    """What is kept of what people write: texts below a confidence, and a share of all; for so many days.

    `shown` lets the owner's page show the least certain of them.
    """

    url: str
    below: float = 0.7
    sample: float = 0.0
    days: int = 90
    shown: bool = False


@dataclass(frozen=True)
class ServeSettings:
    """Models by name, where to listen, and everything optional."""

    models: dict[str, str]
    host: str = "127.0.0.1"
    port: int = 8000
    workers: int = 1
    threads: int = 1
    limits: Limits = field(default_factory=Limits)
    replies: str | None = None
    keys: str | None = None
    store: Storing | None = None
    cors: tuple[str, ...] = ()
    page: bool = True
    open_metrics: bool = False
    log_texts: bool = False
    certificate: str | None = None
    private_key: str | None = None
    state: str | None = None

    def as_json(self) -> str:
        """Write it for a worker."""
        return json.dumps(dataclasses.asdict(self))

    @classmethod
    def from_json(cls, told: str) -> ServeSettings:
        """Read what `as_json` wrote."""
        given: dict[str, Any] = json.loads(told)
        given["limits"] = Limits(**given["limits"])
        given["store"] = Storing(**given["store"]) if given["store"] else None
        given["cors"] = tuple(given["cors"])
        return cls(**given)
