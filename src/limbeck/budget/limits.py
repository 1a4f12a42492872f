"""What a model may cost, as people write it: 1ms, 250us, 5MB."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from limbeck.errors import BadSetting

_SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6}
_BYTES = {"b": 1, "kb": 1_000, "mb": 1_000_000, "gb": 1_000_000_000, "kib": 1024, "mib": 1024**2, "gib": 1024**3}
_WRITTEN = re.compile(r"\s*([0-9]*\.?[0-9]+)\s*([a-zµ]+)\s*", re.IGNORECASE)
# Timing is never the same twice: who has to stay below a limit aims a little lower.
MARGIN = 0.95
# Where a search keeps what it looked at, in the project's working folder.
FIT = "fit.json"


@dataclass(frozen=True)
class Budget:
    """The most that an answer may take (median, microseconds) and a bundle may weigh, the least F1; None: any."""

    latency_us: float | None = None
    size: int | None = None
    f1: float | None = None

    def excess(self, p50_us: float, size: float, f1: float) -> float:
        """Say how far past the limits something is, as the largest share; 0 inside."""
        over = [0.0]
        if self.latency_us is not None:
            over.append(p50_us / (MARGIN * self.latency_us) - 1)
        if self.size is not None:
            over.append(size / self.size - 1)
        if self.f1 is not None:
            over.append(self.f1 / f1 - 1 if f1 > 0 else math.inf)
        return max(over)

    def __str__(self) -> str:
        """Write the limits."""
        told = []
        if self.latency_us is not None:
            told.append(f"at most {shown_time(self.latency_us)} a text")
        if self.size is not None:
            told.append(f"at most {self.size / 1e6:.3g} MB")
        if self.f1 is not None:
            told.append(f"F1 of at least {self.f1:g}")
        return ", ".join(told)


def parse_seconds(written: str) -> float:
    """Read a time with its unit; give microseconds."""
    return _parse(written, _SECONDS, "1ms, 250us or 0.5s") * 1e6


def parse_bytes(written: str) -> int:
    """Read a size with its unit; give bytes."""
    return round(_parse(written, {k: float(v) for k, v in _BYTES.items()}, "5MB, 800kB or 1.5MiB"))


def shown_time(microseconds: float) -> str:
    """Write a time with a unit that suits it."""
    return f"{microseconds / 1000:.3g} ms" if microseconds >= 1000 else f"{microseconds:.3g} µs"


def _parse(written: str, units: dict[str, float], example: str) -> float:
    found = _WRITTEN.fullmatch(written)
    unit = units.get(found[2].lower()) if found else None
    if found is None or unit is None or float(found[1]) <= 0:
        raise BadSetting(f"'{written}' is no number with a unit.", f"Write it like {example}.")
    return float(found[1]) * unit
