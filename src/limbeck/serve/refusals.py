"""What a server says when it doesn't do what it was asked: a status, a code that never changes, and a sentence."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

# Codes by status; a client may rely on both.
CODES = {
    400: "bad_request",
    401: "key_missing",
    403: "key_refused",
    404: "not_found",
    405: "method_not_allowed",
    408: "too_slow",
    413: "too_large",
    415: "no_json",
    422: "not_understood",
    429: "too_many",
    503: "overloaded",
}


@dataclass
class Refusal(Exception):
    """A request that isn't answered, and why."""

    status: int
    message: str
    code: str = ""
    headers: dict[str, str] = field(default_factory=dict)

    def body(self, path: str = "") -> bytes:
        """Give the answer's body; under /v2 it is what the inference protocol wants, a sentence alone."""
        if path.startswith("/v2"):
            return json.dumps({"error": self.message}).encode()
        told = {"code": self.code or CODES.get(self.status, "error"), "message": self.message}
        return json.dumps({"error": told}).encode()


def overloaded(seconds: float) -> Refusal:
    """Refuse for want of time; the client may come again after about so many seconds."""
    wait = max(1, round(seconds + 0.5))
    return Refusal(503, "The server has more to do than it can. Try again soon.", headers={"retry-after": str(wait)})


def too_late() -> Refusal:
    """Refuse what can't be answered within its deadline."""
    told = "This can't be answered in the time that it was given. Try again, or allow more time."
    return Refusal(503, told, code="too_late", headers={"retry-after": "1"})
