"""What all kinds of teacher say about themselves in their folder."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from limbeck.errors import EncoderMissing
from limbeck.scorer import Floats
from limbeck.store import key_of
from limbeck.teach.encoders import EncoderFiles, encoder_key, find_encoder
from limbeck.text import Cleaner

FILE_NAME = "teacher.json"


@dataclass(frozen=True)
class Card:
    """Labels with their thresholds, known rates (what a label without a model gets), cleaning steps, and the encoder.

    With `one_class` exactly one label is right, and a row's probabilities add up to 1.
    """

    kind: str
    labels: tuple[str, ...]
    thresholds: NDArray[np.float64]
    rates: tuple[float, ...]
    clean: tuple[str, ...]
    encoder: EncoderFiles
    max_tokens: int
    one_class: bool

    def cleaned(self, texts: Sequence[str]) -> list[str]:
        """Clean texts as the training rows were cleaned."""
        cleaner = Cleaner(self.clean)
        return [cleaner(text) for text in texts]

    def finish(self, proba: NDArray[np.float64]) -> Floats:
        """Make the probabilities of a row add up to 1 if one class is right."""
        if self.one_class:
            proba = proba / np.maximum(proba.sum(axis=-1, keepdims=True), 1e-12)
        return proba.astype(np.float32)

    def only(self, labels: Sequence[str]) -> Card:
        """Describe a teacher of just these labels."""
        place_of = {label: place for place, label in enumerate(self.labels)}
        places = [place_of[label] for label in labels]
        rates = tuple(self.rates[place] for place in places)
        return replace(self, labels=tuple(labels), thresholds=self.thresholds[places], rates=rates)

    def identity(self, models: Sequence[object]) -> dict[str, str]:
        """Hash, for every label, all that its probabilities depend on: plain values that stand for its own models.

        A label without any, such as [], depends on its rate. If one class is right, each label depends on all others.
        """
        own = [[model or rate] for model, rate in zip(models, self.rates, strict=True)]
        shared = [encoder_key(self.encoder), self.max_tokens, self.clean]
        return {
            label: key_of([shared, self.one_class, [self.labels, own] if self.one_class else mine])
            for label, mine in zip(self.labels, own, strict=True)
        }

    def save(self, folder: Path, more: dict[str, Any]) -> None:
        """Write the card and `more`; the encoder stays where it is, named and hashed."""
        about = {
            "kind": self.kind,
            "labels": self.labels,
            "thresholds": self.thresholds.tolist(),
            "rates": self.rates,
            "clean": self.clean,
            "encoder": self.encoder.name,
            "encoder_key": encoder_key(self.encoder),
            "max_tokens": self.max_tokens,
            "one_class": self.one_class,
            **more,
        }
        (folder / FILE_NAME).write_text(json.dumps(about, indent=1, ensure_ascii=False), encoding="utf-8")


def read_card(folder: Path, root: Path) -> tuple[Card, dict[str, Any]]:
    """Give a stored card and all that stands beside it; the encoder is looked for again from `root`."""
    about = json.loads((folder / FILE_NAME).read_text(encoding="utf-8"))
    encoder = find_encoder(about["encoder"], root)
    if encoder_key(encoder) != about["encoder_key"]:
        raise EncoderMissing(
            f"The encoder in {encoder.folder} is not the one that this teacher was made with: its files changed.",
            "Bring the old files back, or teach again.",
        )
    card = Card(
        kind=about["kind"],
        labels=tuple(about["labels"]),
        thresholds=np.array(about["thresholds"]),
        rates=tuple(about["rates"]),
        clean=tuple(about["clean"]),
        encoder=encoder,
        max_tokens=about["max_tokens"],
        one_class=about["one_class"],
    )
    return card, about
