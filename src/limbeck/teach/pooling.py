"""From a vector a token to a vector a text, the way the encoder was trained.

Sentence encoders learnt with masked mean pooling; their first token says nothing. `1_Pooling/config.json`, where an
encoder has one, says how it was trained; the mean is right more often than not elsewhere.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

from torch import Tensor

Pooling = Literal["mean", "first", "max"]

_MODES: dict[str, Pooling] = {
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_cls_token": "first",
    "pooling_mode_max_tokens": "max",
}


def pooling_of(folder: Path) -> Pooling:
    """Read how the encoder in `folder` was trained; the mean where it doesn't say."""
    file = folder / "1_Pooling" / "config.json"
    if not file.is_file():
        return "mean"
    settings = json.loads(file.read_text(encoding="utf-8"))
    if settings.get("pooling_mode") in ("mean", "max"):
        return "mean" if settings["pooling_mode"] == "mean" else "max"
    if settings.get("pooling_mode") == "cls":
        return "first"
    return next((mode for key, mode in _MODES.items() if settings.get(key)), "mean")


def pool(states: Tensor, mask: Tensor, how: Pooling) -> Tensor:
    """Pool token vectors [texts, tokens, width] where `mask` [texts, tokens] is 1, into [texts, width]."""
    if how == "first":
        return states[:, 0]
    weights = mask.unsqueeze(-1).to(states.dtype)
    if how == "max":
        return states.masked_fill(weights == 0, float("-inf")).amax(dim=1)
    return (states * weights).sum(dim=1) / weights.sum(dim=1).clamp(min=1e-9)
