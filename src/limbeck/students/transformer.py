"""Some layers of a pre-trained encoder, taken evenly from all of them."""

from __future__ import annotations

import json
from pathlib import Path

from torch import Tensor, nn

from limbeck.students.network import Plan, Reading, Student
from limbeck.teach.network import Encoder
from limbeck.teach.pooling import pool


class Transformer(Student):
    """An encoder with its own pooling, and one linear output a label."""

    def __init__(self, encoder: Encoder, plan: Plan) -> None:
        """Put fresh outputs on an encoder."""
        super().__init__()
        self.encoder = encoder
        self.dropout = nn.Dropout(plan.dropout)
        self.head = nn.Linear(encoder.width, plan.labels)

    def read(self, ids: Tensor, mask: Tensor, attention: bool = False) -> Reading:
        """Give logits, the pooled states and, if asked for, attention maps."""
        states, maps = self.encoder.with_attention(ids, mask) if attention else (self.encoder(ids, mask), ())
        vector = pool(states, mask, self.encoder.pooling)
        return Reading(self.head(self.dropout(vector)), vector, maps)

    def save_encoder(self, folder: Path) -> None:
        """Write the encoder, and how it pools."""
        save_encoder(self.encoder, folder)


def save_encoder(encoder: Encoder, folder: Path) -> None:
    """Write an encoder, and how it pools, so that `Encoder(folder)` gives it again."""
    encoder.model.save_pretrained(folder)
    (folder / "1_Pooling").mkdir()
    told = {"pooling_mode": {"first": "cls"}.get(encoder.pooling, encoder.pooling)}
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(told), encoding="utf-8")


def keep_layers(encoder: Encoder, wanted: int) -> list[int]:
    """Keep `wanted` layers of an encoder, spread evenly from the first to the last; give which."""
    kept = spread(len(encoder.layers), wanted)
    for number in reversed(range(len(encoder.layers))):
        if number not in kept:
            del encoder.layers[number]
    config = encoder.model.config
    for name in ("num_hidden_layers", "n_layers"):
        if hasattr(config, name):
            setattr(config, name, len(kept))
    return kept


def spread(there: int, wanted: int) -> list[int]:
    """Choose `wanted` of `there` layers, evenly, the last always among them."""
    wanted = min(wanted, there)
    return sorted({round((number + 1) * there / wanted) - 1 for number in range(wanted)})
