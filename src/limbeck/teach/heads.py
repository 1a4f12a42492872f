"""Small heads on frozen features: a linear one, one with a hidden layer, one that learns which layers to read."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from limbeck.config import ProbeSettings
from limbeck.measure import average_precision
from limbeck.training.losses import masked_bce

Floats = NDArray[np.float32]

STRENGTHS = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
DECAYS = (1e-3, 1e-2, 1e-1)
STEPS, LOOK_EVERY, PATIENCE = 300, 10, 5
LAST_FOUR = 4
# Heads whose outputs are computed together: 16 MB for 4,096 texts.
_TOGETHER = 1024


@dataclass(frozen=True)
class Sample:
    """Feature vectors [texts, layers, width] with one category's 0/1 labels, and how much each counts.

    `flow` is what `fixed_features` makes of the vectors, where that is at hand.
    """

    vectors: Floats
    labels: NDArray[np.float32]
    weights: NDArray[np.float32] | None = None
    flow: Floats | None = None


@dataclass(frozen=True)
class Head:
    """A trained head as plain arrays; `score` is the average precision it was chosen by.

    `mix` [layers] weighs the layers' features; an empty one puts them side by side. They then go through `matrices` and
    `offsets`, with a ReLU between two of them.
    """

    mix: Floats
    matrices: tuple[Floats, ...]
    offsets: tuple[Floats, ...]
    score: float

    def predict(self, vectors: Floats) -> Floats:
        """Give probabilities [texts]."""
        return self.read(features(vectors, self.mix))

    def read(self, flow: Floats) -> Floats:
        """Give probabilities [texts] of the features that the head's mix makes."""
        for number, (matrix, offset) in enumerate(zip(self.matrices, self.offsets, strict=True)):
            flow = (np.maximum(flow, 0) if number else flow) @ matrix + offset
        return _sigmoid(flow[:, 0])

    def arrays(self) -> dict[str, Floats]:
        """Give all arrays by name, for storing."""
        named = {"mix": self.mix, "score": np.array([self.score], np.float32)}
        for number, (matrix, offset) in enumerate(zip(self.matrices, self.offsets, strict=True)):
            named |= {f"matrix{number}": matrix, f"offset{number}": offset}
        return named

    @staticmethod
    def from_arrays(named: dict[str, Floats]) -> Head:
        """Put together what `arrays` took apart."""
        depth = sum(name.startswith("matrix") for name in named)
        return Head(
            named["mix"],
            tuple(named[f"matrix{number}"] for number in range(depth)),
            tuple(named[f"offset{number}"] for number in range(depth)),
            float(named["score"][0]),
        )


def predict_all(heads: Sequence[Head], vectors: Floats) -> list[Floats]:
    """Give each head's probabilities [texts]; linear ones that read the same features are one product."""
    found: list[Floats] = [np.zeros(0, dtype=np.float32)] * len(heads)
    alike: dict[bytes, list[int]] = {}
    for place, head in enumerate(heads):
        alike.setdefault(head.mix.tobytes(), []).append(place)
    for places in alike.values():
        flow = features(vectors, heads[places[0]].mix)
        linear = [place for place in places if len(heads[place].matrices) == 1]
        for start in range(0, len(linear), _TOGETHER):
            some = linear[start : start + _TOGETHER]
            matrix = np.concatenate([heads[place].matrices[0] for place in some], axis=1)
            offset = np.concatenate([heads[place].offsets[0] for place in some])
            for place, column in zip(some, _sigmoid(flow @ matrix + offset).T, strict=True):
                found[place] = column
        for place in places:
            if len(heads[place].matrices) > 1:
                found[place] = heads[place].read(flow)
    return found


def _sigmoid(flow: Floats) -> Floats:
    return np.asarray(0.5 * (1 + np.tanh(0.5 * flow)), dtype=np.float32)


def hash_of(head: Head) -> str:
    """Hash what a head's probabilities depend on."""
    digest = hashlib.sha256()
    for name, array in sorted(head.arrays().items()):
        if name != "score":
            digest.update(f"{name}{array.shape}".encode() + np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()[:20]


@dataclass(frozen=True)
class HeadTask:
    """What one fold's head learns from, the sets it is judged on, and what a missed positive costs."""

    train: Sample
    watched: list[Sample]
    positive_weight: float


def fit_heads(tasks: list[HeadTask], settings: ProbeSettings, seed: int) -> list[Head]:
    """Fit a head a fold at several strengths; give those of the strength that is best over all folds together.

    One strength for all folds, because a single fold's few positives can't tell strengths apart.
    """
    if settings.layers == "mix" or settings.head == "mlp":
        tried = [[_fit_network(task, settings, decay, seed) for task in tasks] for decay in DECAYS]
    else:
        tried = [
            list(heads) for heads in zip(*(_fit_linear(task, settings.layers, seed) for task in tasks), strict=True)
        ]
    return max(tried, key=lambda heads: float(np.mean([head.score for head in heads])))


def features(vectors: Floats, mix: Floats) -> Floats:
    """Give each text's features: every layer's vector at the same length, mixed or side by side.

    Encoders are trained by the angle between vectors; their lengths, which differ a lot between layers, say little.
    """
    alike = level(vectors)
    if not len(mix):
        return alike[:, 1:].reshape(len(alike), -1)  # the embeddings alone know no context
    return np.asarray(np.einsum("nlw,l->nw", alike, mix), dtype=np.float32)


def fixed_features(vectors: Floats, settings: ProbeSettings) -> Floats | None:
    """Give the features that every head of a linear probe reads; None where heads learn what they read."""
    if settings.layers == "mix" or settings.head == "mlp":
        return None
    return features(vectors, _fixed_mix(vectors.shape[1], settings.layers))


def level(vectors: Floats) -> Floats:
    """Bring every layer's vector to length 10, at which the strengths above span weak to strong."""
    return np.asarray(10 * vectors / (np.linalg.norm(vectors, axis=2, keepdims=True) + 1e-9), dtype=np.float32)


def _fixed_mix(layers: int, which: str) -> Floats:
    if which == "all":
        return np.zeros(0, dtype=np.float32)
    mix = np.zeros(layers, dtype=np.float32)
    chosen = 1 if which == "last" else min(LAST_FOUR, layers)
    mix[-chosen:] = 1 / chosen
    return mix


def _score(head: Head, watched: list[Sample]) -> float:
    found = [average_precision(rows.labels, head.predict(rows.vectors)) for rows in watched if (rows.labels == 1).any()]
    return float(np.mean(found)) if found else 0.0


def _fit_linear(task: HeadTask, layers: str, seed: int) -> list[Head]:
    """Fit a head at every strength; all of them read the same features."""
    from sklearn.linear_model import LogisticRegression

    mix = _fixed_mix(task.train.vectors.shape[1], layers)
    learnt = features(task.train.vectors, mix)
    watched = [
        (features(rows.vectors, mix) if rows.flow is None else rows.flow, rows.labels)
        for rows in task.watched
        if (rows.labels == 1).any()
    ]
    weights = {0: 1.0, 1: task.positive_weight}
    found = []
    for strength in STRENGTHS:
        model = LogisticRegression(C=strength, class_weight=weights, max_iter=300, random_state=seed)
        model.fit(learnt, task.train.labels, sample_weight=task.train.weights)
        head = Head(mix, (model.coef_.T.astype(np.float32),), (model.intercept_.astype(np.float32),), 0.0)
        scores = [average_precision(labels, head.read(flow)) for flow, labels in watched]
        found.append(replace(head, score=float(np.mean(scores)) if scores else 0.0))
    return found


class _HeadNetwork(nn.Module):
    """The same head while it learns; its input is levelled already."""

    def __init__(self, layers: int, width: int, settings: ProbeSettings) -> None:
        super().__init__()
        start = torch.zeros(layers)
        start[-1] = 2.0
        self.pull = nn.Parameter(start, requires_grad=settings.layers == "mix")
        self.fixed = torch.from_numpy(_fixed_mix(layers, settings.layers)) if settings.layers != "mix" else None
        inputs = width * (layers - 1) if settings.layers == "all" else width
        sizes = [inputs, settings.hidden, 1] if settings.head == "mlp" else [inputs, 1]
        self.lines = nn.ModuleList(nn.Linear(a, b) for a, b in pairwise(sizes))

    def mix(self) -> Tensor:
        return torch.softmax(self.pull, dim=0) if self.fixed is None else self.fixed

    def forward(self, vectors: Tensor) -> Tensor:
        mix = self.mix()
        flow = torch.einsum("nlw,l->nw", vectors, mix) if len(mix) else vectors[:, 1:].flatten(1)
        for number, line in enumerate(self.lines):
            flow = line(torch.relu(flow) if number else flow)
        return flow

    def head(self, score: float) -> Head:
        lines: list[Any] = list(self.lines)
        return Head(
            self.mix().detach().numpy().copy(),
            tuple(line.weight.detach().numpy().T.copy() for line in lines),
            tuple(line.bias.detach().numpy().copy() for line in lines),
            score,
        )


def _fit_network(task: HeadTask, settings: ProbeSettings, decay: float, seed: int) -> Head:
    torch.manual_seed(seed)
    with one_thread():
        return _descend(task, settings, decay)


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Keep torch on one thread: matrices this small are several times slower on two."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _descend(task: HeadTask, settings: ProbeSettings, decay: float) -> Head:
    train, watched = task.train, task.watched
    vectors, labels = torch.from_numpy(level(train.vectors)), torch.from_numpy(train.labels[:, None])
    counts = None if train.weights is None else torch.from_numpy(train.weights[:, None])
    network = _HeadNetwork(vectors.shape[1], vectors.shape[2], settings)
    optimizer = torch.optim.AdamW(network.parameters(), lr=3e-3, weight_decay=decay)
    weight = torch.tensor([task.positive_weight], dtype=torch.float32)
    best = network.head(-1.0)
    waited = 0
    for step in range(1, STEPS + 1):
        optimizer.zero_grad()
        loss: Any = masked_bce(network(vectors), labels, weight, weights=counts)
        loss.backward()
        optimizer.step()
        if step % LOOK_EVERY == 0:
            score = _score(network.head(0.0), watched)
            if score > best.score:
                best, waited = network.head(score), 0
            else:
                waited += 1
                if waited >= PATIENCE:
                    break
    return best
