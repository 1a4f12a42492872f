"""Keys: who may ask, who may do more, and how much each may ask.

A key is random and long, so that its plain SHA-256 tells nothing about it. A keys file has one line a key: its name, a
colon and its hash; the key with the name `admin` may reload models and see what the owner sees.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
import time
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from limbeck.errors import BadSetting, FileMissing, Place

ADMIN = "admin"
# Environment variables with the same lines as a file, or with an admin key's hash alone.
KEYS_VARIABLE, ADMIN_VARIABLE = "LIMBECK_KEYS", "LIMBECK_ADMIN_KEY"
_LINE = re.compile(r"(?P<name>[A-Za-z0-9_.-]{1,64}):(?P<digest>[0-9a-f]{64})")
_DIGEST = re.compile("[0-9a-f]{64}")
PREFIX = "lk_"
# Askers that are remembered for their rate; the one that asked longest ago is forgotten first.
REMEMBERED = 10_000


def new_key() -> str:
    """Make a key."""
    return PREFIX + secrets.token_urlsafe(32)


def digest_of(key: str) -> str:
    """Give what is stored of a key."""
    return hashlib.sha256(key.encode()).hexdigest()


@dataclass(frozen=True)
class Keys:
    """Hashes by name; none at all means that anyone may ask, and nobody may do what only an admin may."""

    digests: Mapping[str, str] = field(default_factory=dict)

    @property
    def asked(self) -> bool:
        """Whether a key is needed to ask."""
        return any(name != ADMIN for name in self.digests)

    def name_of(self, key: str) -> str | None:
        """Give the name of a key; all are compared, each in the same time, whatever was given."""
        given = digest_of(key)
        found = None
        for name, digest in self.digests.items():
            if hmac.compare_digest(given, digest):
                found = name
        return found


def read_keys(file: Path | None, environment: Mapping[str, str] = os.environ) -> Keys:
    """Read keys from a file and from the environment."""
    digests: dict[str, str] = {}
    if file is not None:
        if not file.is_file():
            raise FileMissing(f"There is no file {file} with keys.", "Make one with: limbeck key NAME", Place(file))
        digests |= _lines(file.read_text(encoding="utf-8", errors="replace"), Place(file))
    digests |= _lines(environment.get(KEYS_VARIABLE, "").replace(",", "\n"), Place(Path(f"${KEYS_VARIABLE}")))
    admin = environment.get(ADMIN_VARIABLE, "").strip()
    if admin:
        if not _DIGEST.fullmatch(admin):
            raise BadSetting(f"{ADMIN_VARIABLE} holds no hash.", "Put the hash there that limbeck key admin printed.")
        digests[ADMIN] = admin
    return Keys(digests)


def _lines(told: str, place: Place) -> dict[str, str]:
    found: dict[str, str] = {}
    for number, line in enumerate(told.splitlines(), start=1):
        bare = line.partition("#")[0].strip()
        match = _LINE.fullmatch(bare)
        if bare and not match:
            raise BadSetting(
                "This line is no key.", "Write NAME:HASH, as limbeck key prints it.", Place(place.file, number)
            )
        if match:
            found[match["name"]] = match["digest"]
    return found


class Rates:
    """How many texts each asker may still ask: a bucket that fills at `rate` and holds `burst` seconds of it."""

    def __init__(self, rate: float, burst: float = 2.0) -> None:
        """Allow so many texts a second; 0 means any number."""
        self.rate, self._most = rate, rate * burst
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, who: str, texts: int) -> float:
        """Take texts from an asker's bucket; give 0, or the seconds to wait if there aren't as many in it."""
        if not self.rate:
            return 0.0
        now = time.monotonic()
        left, since = self._left.pop(who, (self._most, now))
        left = min(self._most, left + (now - since) * self.rate)
        # What is more than a bucket holds is taken from a full one, which is then in debt.
        missing = min(texts, self._most) - left
        self._left[who] = (left if missing > 0 else left - texts, now)
        while len(self._left) > REMEMBERED:
            self._left.popitem(last=False)
        return max(0.0, missing / self.rate)
