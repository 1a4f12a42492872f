"""What a server takes at most, and how long anything may last."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Bounds of one worker; `rate` is in texts a second for each key or, without keys, for each address.

    `waiting` and `together` count texts that wait, and texts that run in one batch; a machine that stalls for a moment
    should refuse nobody, so more may wait than comes in a tenth of a second. `deadline` is how long a request may take
    at most, from its arrival; `body_seconds` how long its bytes may take to arrive.
    """

    body_bytes: int = 2_000_000
    characters: int = 100_000
    texts: int = 256
    rate: float = 0.0
    waiting: int = 512
    together: int = 32
    deadline: float = 2.0
    head_seconds: float = 10.0
    body_seconds: float = 10.0
    drain_seconds: float = 20.0
