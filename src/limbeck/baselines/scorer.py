"""All categories' models of one kind as one scorer."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from limbeck.baselines.kinds import KINDS, Model
from limbeck.scorer import Floats
from limbeck.text import Cleaner


@dataclass(frozen=True)
class Part:
    """A model and the columns of the scorer that it fills; `model` is None where a category had too few rows.

    `digest` is a hash of the model's files.
    """

    columns: tuple[int, ...]
    model: Model | None
    rate: float
    digest: str = ""


@dataclass(frozen=True)
class BaselineScorer:
    """A scorer over all labels. A category without a model gets its known rate, for every text."""

    kind: str
    labels: tuple[str, ...]
    clean: tuple[str, ...]
    parts: tuple[Part, ...]
    one_class: bool = False

    def predict_proba(self, texts: Sequence[str]) -> Floats:
        """Give probabilities [texts, labels]; with `one_class` a row's probabilities add up to 1."""
        cleaner = Cleaner(self.clean)
        cleaned = [cleaner(text) for text in texts]
        proba = np.zeros((len(cleaned), len(self.labels)), dtype=np.float32)
        for part in self.parts:
            proba[:, list(part.columns)] = part.model.predict_proba(cleaned) if part.model else part.rate
        if self.one_class:
            proba /= np.maximum(proba.sum(axis=1, keepdims=True), 1e-12)
        return proba

    def save(self, folder: Path) -> None:
        """Write one folder a part and a JSON that says which is which."""
        parts = []
        for number, part in enumerate(self.parts):
            told = {"columns": part.columns, "rate": part.rate, "digest": part.digest}
            parts.append({**told, "trained": part.model is not None})
            if part.model:
                (folder / str(number)).mkdir()
                part.model.save(folder / str(number))
        about = {
            "kind": self.kind,
            "labels": self.labels,
            "clean": self.clean,
            "one_class": self.one_class,
            "parts": parts,
        }
        (folder / "baseline.json").write_text(json.dumps(about, indent=1, ensure_ascii=False), encoding="utf-8")

    @staticmethod
    def load(folder: Path) -> BaselineScorer:
        """Read what `save` wrote."""
        about = json.loads((folder / "baseline.json").read_text(encoding="utf-8"))
        kind = KINDS[about["kind"]]
        parts = tuple(
            Part(tuple(p["columns"]), kind.load(folder / str(number)) if p["trained"] else None, p["rate"], p["digest"])
            for number, p in enumerate(about["parts"])
        )
        return BaselineScorer(about["kind"], tuple(about["labels"]), tuple(about["clean"]), parts, about["one_class"])
