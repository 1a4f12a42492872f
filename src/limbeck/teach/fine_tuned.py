"""Fine-tuned encoders as one scorer: members that each fill some labels, averaged over folds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.torch import load_file

from limbeck.progress import progress
from limbeck.scorer import Floats, fields_alone
from limbeck.store import hash_file, link_or_copy
from limbeck.teach.card import Card, read_card
from limbeck.teach.network import Classifier, Encoder, device
from limbeck.teach.states import lowest_layers, states_of
from limbeck.training.examples import Examples, Rows, unlabelled
from limbeck.training.loop import predict
from limbeck.training.outputs import ManyTexts
from limbeck.training.tokens import Tokens

# Texts whose states after the shared layers are held in memory together.
AT_ONCE = 1024


@dataclass(frozen=True)
class Member:
    """One trained network: the label that each output fills (-1: none), the fold it didn't see, and its weights."""

    columns: tuple[int, ...]
    fold: int
    seed: int
    score: float
    thresholds: tuple[float, ...]
    weights: Path
    history: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True)
class FineTunedTeacher:
    """Members over one pre-trained encoder, whose `frozen` lowest layers they share.

    A label without a member gets its known rate.
    """

    card: Card
    members: tuple[Member, ...]
    frozen: int = 0

    __getstate__ = fields_alone

    @property
    def labels(self) -> tuple[str, ...]:
        """The label names."""
        return self.card.labels

    def only(self, labels: Sequence[str]) -> FineTunedTeacher:
        """Give the members that fill any of these labels; if one class is right, all of them."""
        if self.card.one_class or tuple(labels) == self.labels:
            return self
        place = {self.labels.index(label): number for number, label in enumerate(labels)}
        members = [replace(m, columns=tuple(place.get(column, -1) for column in m.columns)) for m in self.members]
        asked = tuple(member for member in members if max(member.columns) >= 0)
        return replace(self, card=self.card.only(labels), members=asked)

    def identity(self) -> dict[str, str]:
        """Give every label the hash of the networks that fill it, and of all that they read."""
        weights = [hash_file(member.weights) for member in self.members]
        return self.card.identity(
            [
                [
                    [digest, member.columns.index(column), self.frozen]
                    for member, digest in zip(self.members, weights, strict=True)
                    if column in member.columns
                ]
                for column in range(len(self.labels))
            ]
        )

    def predict_proba(self, texts: Sequence[str]) -> Floats:
        """Give probabilities [texts, labels], the mean over the folds."""
        return self.score_cleaned(self.card.cleaned(texts))

    def score_cleaned(self, texts: Sequence[str]) -> Floats:
        """Do the same for texts that are cleaned already."""
        total = np.zeros((len(texts), len(self.labels)), dtype=np.float64)
        counts = np.zeros(len(self.labels))
        for rows, member, proba in self._each_member(texts):
            columns = np.array(member.columns)
            total[np.ix_(rows, columns[columns >= 0])] += proba[:, columns >= 0]
        for member in self.members:
            counts[[column for column in member.columns if column >= 0]] += 1
        mean = np.where(counts > 0, total / np.maximum(counts, 1), np.array(self.card.rates))
        return self.card.finish(mean)

    def _each_member(self, cleaned: Sequence[str]) -> Iterator[tuple[Rows, Member, Floats]]:
        """Give some rows, a member and its probabilities [rows, its columns], until every member had every row.

        Texts are tokenised once, and go once through the layers that all members share.
        """
        tokens = self._reader[1]
        pieces = [(start, member) for start in range(0, len(cleaned), AT_ONCE) for member in self.members]
        shared: tuple[int, Examples] | None = None
        for start, member in progress(pieces, "scoring with each member", len(pieces)):
            if shared is None or shared[0] != start:
                shared = start, self._examples(cleaned[start : start + AT_ONCE])
            examples, outputs = shared[1], len(member.columns)
            network = self._network(outputs)
            network.take(load_file(member.weights))
            blank = np.zeros((len(examples), outputs), dtype=np.float32)
            softmax = self.card.one_class and outputs > 1
            proba = predict(network, replace(examples, labels=blank), tokens.pad_id, softmax, device())
            yield np.arange(start, start + len(examples)), member, proba

    def _examples(self, cleaned: Sequence[str]) -> Examples:
        tokens = self._reader[1]
        examples = unlabelled(tokens.encode(cleaned))
        return replace(examples, states=states_of(self._lowest, examples.ids, tokens.pad_id) if self.frozen else None)

    @cached_property
    def _reader(self) -> tuple[Encoder, Tokens]:
        encoder = Encoder(self.card.encoder.folder)
        return encoder, Tokens(self.card.encoder.folder, min(self.card.max_tokens, encoder.longest))

    @cached_property
    def _lowest(self) -> ManyTexts:
        return lowest_layers(self._reader[0], self.frozen)

    def _network(self, outputs: int) -> ManyTexts:
        """Give a network of so many outputs, whose weights each member in turn replaces by its own."""
        if outputs not in self._networks:
            network = Classifier(self._reader[0], outputs, frozen=self.frozen).to(device())
            self._networks[outputs] = ManyTexts(network, weights_apart=True)
        return self._networks[outputs]

    @cached_property
    def _networks(self) -> dict[int, ManyTexts]:
        return {}

    def save(self, folder: Path) -> None:
        """Write the members' weights and the card."""
        members: list[dict[str, Any]] = []
        for number, member in enumerate(self.members):
            name = f"member-{number}.safetensors"
            link_or_copy(member.weights, folder / name)
            members.append({k: v for k, v in asdict(member).items() if k != "history"} | {"weights": name})
        self.card.save(folder, {"members": members, "frozen": self.frozen})

    @staticmethod
    def load(folder: Path, root: Path = Path()) -> FineTunedTeacher:
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
        return FineTunedTeacher(card, members, about["frozen"])
