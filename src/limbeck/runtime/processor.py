"""What this processor is, and what it can do with short numbers."""

from __future__ import annotations

import platform
import re
from functools import cache
from pathlib import Path

# The names that Linux uses.
VNNI = ("avx512_vnni", "avx_vnni")
BF16 = ("avx512_bf16", "amx_bf16")


@cache
def processor() -> tuple[frozenset[str] | None, str]:
    """Give features and name of the processor; features are None where the system keeps them to itself."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None, platform.processor() or "unknown"
    flags = re.search(r"^(?:flags|Features)\s*:\s*(.*)$", text, re.MULTILINE)
    model = re.search(r"^model name\s*:\s*(.*)$", text, re.MULTILINE)
    return frozenset(flags[1].split()) if flags else None, model[1] if model else platform.processor() or "unknown"


def saturates() -> bool:
    """Say whether sums of two 8-bit products may not fit: on x86 without VNNI. If nobody knows, they may not."""
    if platform.machine().lower() in ("aarch64", "arm64"):
        return False
    features, _ = processor()
    return features is None or not any(name in features for name in VNNI)


def multiplies_bf16() -> bool:
    """Say whether the processor multiplies 16-bit floats faster than 32-bit ones."""
    features, _ = processor()
    return features is not None and any(name in features for name in BF16)
