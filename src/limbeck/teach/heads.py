"""Small heads on frozen features: a linear one, one with a hidden layer, one that learns which layers to read."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from limbeck.config import ProbeSettings
from limbeck.measure import average_precision
from limbeck.teach.losses import masked_bce

Floats = NDArray[np.float32]

STRENGTHS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
DECAYS = (1e-3, 1e-2, 1e-1)
STEPS, LOOK_EVERY, PATIENCE = 300, 10, 5
LAST_FOUR = 4


@dataclass(frozen=True)
class Rows:
    """Feature vectors [texts, layers, width] with one category's 0/1 labels."""

    vectors: Floats
    labels: NDArray[np.float32]


@dataclass(frozen=True)
class Head:
    """A trained head as plain arrays; `score` is the average precision it was chosen by.

    `mix` [layers] weighs the layers; then features are standardised by `centre` and `scale`, and go through `matrices`
    and `offsets`, with a ReLU between two of them.
    """

    mix: Floats
    centre: Floats
    scale: Floats
    matrices: tuple[Floats, ...]
    offsets: tuple[Floats, ...]
    score: float

    def predict(self, vectors: Floats) -> Floats:
        """Give probabilities [texts]."""
        flow = (np.einsum("nlw,l->nw", vectors, self.mix) - self.centre) / self.scale
        for number, (matrix, offset) in enumerate(zip(self.matrices, self.offsets, strict=True)):
            flow = (np.maximum(flow, 0) if number else flow) @ matrix + offset
        return np.asarray(0.5 * (1 + np.tanh(0.5 * flow[:, 0])), dtype=np.float32)

    def arrays(self) -> dict[str, Floats]:
        """Give all arrays by name, for storing."""
        named = {
            "mix": self.mix,
            "centre": self.centre,
            "scale": self.scale,
            "score": np.array([self.score], np.float32),
        }
        for number, (matrix, offset) in enumerate(zip(self.matrices, self.offsets, strict=True)):
            named |= {f"matrix{number}": matrix, f"offset{number}": offset}
        return named

    @staticmethod
    def from_arrays(named: dict[str, Floats]) -> Head:
        """Put together what `arrays` took apart."""
        depth = sum(name.startswith("matrix") for name in named)
        return Head(
            named["mix"],
            named["centre"],
            named["scale"],
            tuple(named[f"matrix{number}"] for number in range(depth)),
            tuple(named[f"offset{number}"] for number in range(depth)),
            float(named["score"][0]),
        )


def fit_head(train: Rows, watched: list[Rows], settings: ProbeSettings, positive_weight: float, seed: int) -> Head:
    """Fit heads of several strengths and give the one with the best mean average precision on the `watched` sets."""
    if settings.layers != "mix" and settings.head == "linear":
        return _fit_linear(train, watched, _fixed_mix(train.vectors.shape[1], settings.layers), positive_weight, seed)
    found = [_fit_network(train, watched, settings, decay, positive_weight, seed) for decay in DECAYS]
    return max(found, key=lambda head: head.score)


def _fixed_mix(layers: int, which: str) -> Floats:
    mix = np.zeros(layers, dtype=np.float32)
    chosen = 1 if which == "last" else min(LAST_FOUR, layers)
    mix[-chosen:] = 1 / chosen
    return mix


def _score(head: Head, watched: list[Rows]) -> float:
    found = [average_precision(rows.labels, head.predict(rows.vectors)) for rows in watched if (rows.labels == 1).any()]
    return float(np.mean(found)) if found else 0.0


def _standard(features: Floats) -> tuple[Floats, Floats]:
    return features.mean(axis=0), features.std(axis=0) + 1e-6


def _fit_linear(train: Rows, watched: list[Rows], mix: Floats, positive_weight: float, seed: int) -> Head:
    from sklearn.linear_model import LogisticRegression

    features = np.einsum("nlw,l->nw", train.vectors, mix)
    centre, scale = _standard(features)
    standard = (features - centre) / scale
    best: Head | None = None
    for strength in STRENGTHS:
        model = LogisticRegression(
            C=strength, class_weight={0: 1.0, 1: positive_weight}, max_iter=300, random_state=seed
        )
        model.fit(standard, train.labels)
        matrix, offset = model.coef_.T.astype(np.float32), model.intercept_.astype(np.float32)
        head = Head(mix, centre, scale, (matrix,), (offset,), 0.0)
        scored = Head(mix, centre, scale, (matrix,), (offset,), _score(head, watched))
        if best is None or scored.score > best.score:
            best = scored
    if best is None:
        raise ValueError("no strength to try")
    return best


class _HeadNetwork(nn.Module):
    """The same head while it learns."""

    def __init__(self, layers: int, width: int, settings: ProbeSettings, centre: Tensor, scale: Tensor) -> None:
        super().__init__()
        self.which = settings.layers
        start = torch.zeros(layers)
        start[-1] = 2.0
        self.pull = nn.Parameter(start, requires_grad=settings.layers == "mix")
        self.fixed = torch.from_numpy(_fixed_mix(layers, settings.layers)) if settings.layers != "mix" else None
        self.centre, self.scale = centre, scale
        sizes = [width, settings.hidden, 1] if settings.head == "mlp" else [width, 1]
        self.lines = nn.ModuleList(nn.Linear(a, b) for a, b in pairwise(sizes))

    def mix(self) -> Tensor:
        return torch.softmax(self.pull, dim=0) if self.fixed is None else self.fixed

    def forward(self, vectors: Tensor) -> Tensor:
        flow = (torch.einsum("nlw,l->nw", vectors, self.mix()) - self.centre) / self.scale
        for number, line in enumerate(self.lines):
            flow = line(torch.relu(flow) if number else flow)
        return flow

    def head(self, score: float) -> Head:
        lines: list[Any] = list(self.lines)
        return Head(
            self.mix().detach().numpy().copy(),
            self.centre.numpy(),
            self.scale.numpy(),
            tuple(line.weight.detach().numpy().T.copy() for line in lines),
            tuple(line.bias.detach().numpy().copy() for line in lines),
            score,
        )


def _fit_network(
    train: Rows, watched: list[Rows], settings: ProbeSettings, decay: float, positive_weight: float, seed: int
) -> Head:
    torch.manual_seed(seed)
    with one_thread():
        return _descend(train, watched, settings, decay, positive_weight)


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Keep torch on one thread: matrices this small are several times slower on two."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _descend(train: Rows, watched: list[Rows], settings: ProbeSettings, decay: float, positive_weight: float) -> Head:
    vectors, labels = torch.from_numpy(train.vectors), torch.from_numpy(train.labels[:, None])
    last = train.vectors[:, -1]
    centre, scale = (torch.from_numpy(part) for part in _standard(last))
    network = _HeadNetwork(train.vectors.shape[1], train.vectors.shape[2], settings, centre, scale)
    optimizer = torch.optim.AdamW(network.parameters(), lr=3e-3, weight_decay=decay)
    weight = torch.tensor([positive_weight], dtype=torch.float32)
    best = network.head(-1.0)
    waited = 0
    for step in range(1, STEPS + 1):
        optimizer.zero_grad()
        loss: Any = masked_bce(network(vectors), labels, weight)
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
