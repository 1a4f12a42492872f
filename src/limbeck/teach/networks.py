"""Fine-tuned encoders as one scorer: members that each fill some labels, averaged over folds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.torch import load_file

from limbeck.progress import progress
from limbeck.scorer import Floats
from limbeck.teach.card import Card, read_card
from limbeck.teach.examples import Examples
from limbeck.teach.loop import predict
from limbeck.teach.network import Classifier, Encoder
from limbeck.teach.tokens import Tokens
from limbeck.text import Cleaner


@dataclass(frozen=True)
class Member:
    """One trained network: the labels it fills, the fold that it didn't see, and its weights beside the encoder's."""

    columns: tuple[int, ...]
    fold: int
    seed: int
    score: float
    thresholds: tuple[float, ...]
    weights: Path
    history: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True)
class NetworkTeacher:
    """Members over one pre-trained encoder; a label without a member gets its known rate."""

    card: Card
    members: tuple[Member, ...]

    @property
    def labels(self) -> tuple[str, ...]:
        """The label names."""
        return self.card.labels

    def predict_proba(self, texts: Sequence[str]) -> Floats:
        """Give probabilities [texts, labels], the mean over the folds."""
        cleaner = Cleaner(self.card.clean)
        return self.score_cleaned([cleaner(text) for text in texts])

    def score_cleaned(self, texts: Sequence[str]) -> Floats:
        """Do the same for texts that are cleaned already."""
        total = np.zeros((len(texts), len(self.labels)), dtype=np.float64)
        counts = np.zeros(len(self.labels))
        for member, proba in self._each_member(texts):
            total[:, member.columns] += proba
            counts[list(member.columns)] += 1
        mean = np.where(counts > 0, total / np.maximum(counts, 1), np.array(self.card.rates))
        return self.card.finish(mean)

    def _each_member(self, cleaned: Sequence[str]) -> Iterator[tuple[Member, Floats]]:
        """Give every member with its probabilities [texts, its columns]; the texts are tokenised once."""
        encoder, tokens = self._reader
        ids = tokens.encode(cleaned)
        network: Classifier | None = None
        for member in progress(self.members, "scoring with each member", len(self.members)):
            if network is None or network.head.out_features != len(member.columns):
                network = Classifier(encoder, len(member.columns))
            network.load_state_dict(load_file(member.weights), strict=False)
            blank = np.zeros((len(ids), len(member.columns)), dtype=np.float32)
            softmax = self.card.one_class and len(member.columns) > 1
            yield member, predict(network, Examples(ids, blank), tokens.pad_id, softmax)

    @cached_property
    def _reader(self) -> tuple[Encoder, Tokens]:
        encoder = Encoder(self.card.encoder.folder)
        return encoder, Tokens(self.card.encoder.folder, min(self.card.max_tokens, encoder.longest))

    def save(self, folder: Path) -> None:
        """Write the members' weights and the card."""
        members: list[dict[str, Any]] = []
        for number, member in enumerate(self.members):
            name = f"member-{number}.safetensors"
            (folder / name).hardlink_to(member.weights)
            members.append({**asdict(member), "weights": name, "history": None})
        self.card.save(folder, {"members": members})

    @staticmethod
    def load(folder: Path, root: Path = Path()) -> NetworkTeacher:
        """Read what `save` wrote; the encoder is looked for again from `root`."""
        card, about = read_card(folder, root)
        members = tuple(
            Member(
                tuple(m["columns"]),
                m["fold"],
                m["seed"],
                m["score"],
                tuple(m["thresholds"]),
                folder / str(m["weights"]),
            )
            for m in about["members"]
        )
        return NetworkTeacher(card, members)
