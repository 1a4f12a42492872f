"""Teachers as one network: members, folds, blends and calibration inside the graph, so that it runs without torch."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from functools import singledispatch

import numpy as np
import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from limbeck.errors import BadSetting
from limbeck.measure.scaling import EDGE, Calibration
from limbeck.scorer import Scorer
from limbeck.students.network import Reading
from limbeck.teach.blend import SUREST, BlendTeacher
from limbeck.teach.borrowed import BorrowedTeacher
from limbeck.teach.calibrate import CalibratedTeacher
from limbeck.teach.card import Card
from limbeck.teach.features import EveryLayer
from limbeck.teach.fine_tuned import FineTunedTeacher
from limbeck.teach.heads import Head
from limbeck.teach.network import Classifier, Encoder
from limbeck.teach.pooling import pool
from limbeck.teach.probe import ProbeTeacher
from limbeck.teach.ready import ReadyTeacher
from limbeck.teach.states import Lowest

Said = tuple[Tensor, Tensor]


class TeacherNetwork(nn.Module):
    """Reads like a student; its logits are those of the probabilities that the teacher gives."""

    def __init__(self, says: nn.Module, card: Card) -> None:
        """Wrap a network that gives probabilities and a vector a text."""
        super().__init__()
        self.says = says
        self.one_class = card.one_class

    def read(self, ids: Tensor, mask: Tensor) -> Reading:
        """Give logits [texts, labels] and the vector [texts, width] that they are made from."""
        proba, vector = self.says(ids, mask)
        inside = proba.clamp(EDGE, 1 - EDGE)
        return Reading(inside.log() if self.one_class else torch.logit(inside), vector)


def network_of(teacher: Scorer) -> TeacherNetwork:
    """Give a teacher, calibrated or not, as one network."""
    card = teacher.teacher.card if isinstance(teacher, CalibratedTeacher) else teacher.card  # type: ignore[attr-defined]
    return TeacherNetwork(says(teacher), card).eval()


@singledispatch
def says(teacher: object) -> nn.Module:
    """Give a network of token ids and mask that gives a teacher's probabilities, and a vector a text."""
    raise BadSetting(
        f"A teacher of the kind {type(teacher).__name__} can't become a network: it counts words.",
        "Compress its students, or a teacher without it.",
    )


@says.register
def _(teacher: CalibratedTeacher) -> nn.Module:
    return _Calibrated(says(teacher.teacher), teacher.calibration)


@says.register
def _(teacher: BorrowedTeacher) -> nn.Module:
    return says(teacher.teacher)


@says.register
def _(teacher: FineTunedTeacher) -> nn.Module:
    return _Committee(teacher)


@says.register
def _(teacher: ProbeTeacher) -> nn.Module:
    return _Heads(teacher)


@says.register
def _(teacher: ReadyTeacher) -> nn.Module:
    return _Ready(teacher)


@says.register
def _(teacher: BlendTeacher) -> nn.Module:
    asked = [(part, weight) for part, weight in zip(teacher.teachers, teacher.weights, strict=True) if weight > 0]
    folders = {_folder(part) for part, _ in asked}
    if len(folders) > 1:
        raise BadSetting("The parts of this blend read different tokens.", "Compress its students instead.")
    return _Blend([says(part) for part, _ in asked], [weight for _, weight in asked], teacher.card.one_class)


def _folder(teacher: object) -> str:
    inner = teacher.teacher if isinstance(teacher, BorrowedTeacher) else teacher
    return str(inner.card.encoder.folder)  # type: ignore[attr-defined]


class _Calibrated(nn.Module):
    slopes: Tensor
    offsets: Tensor

    def __init__(self, inner: nn.Module, calibration: Calibration) -> None:
        super().__init__()
        self.inner, self.one_class = inner, calibration.one_class
        self.register_buffer("slopes", torch.tensor(calibration.slopes))
        self.register_buffer("offsets", torch.tensor(calibration.offsets))

    def forward(self, ids: Tensor, mask: Tensor) -> Said:
        proba, vector = self.inner(ids, mask)
        inside = proba.clamp(EDGE, 1 - EDGE)
        if self.one_class:
            return torch.softmax(self.slopes * inside.log() + self.offsets, dim=1), vector
        return torch.sigmoid(self.slopes * torch.logit(inside) + self.offsets), vector


class _Committee(nn.Module):
    """Members on the layers that all of them share; a label without a member gets its known rate."""

    rates: Tensor

    def __init__(self, teacher: FineTunedTeacher) -> None:
        super().__init__()
        encoder = Encoder(teacher.card.encoder.folder)
        encoder.model.set_attn_implementation("eager")
        self.frozen, self.one_class = teacher.frozen, teacher.card.one_class
        self.lowest = Lowest(copy.deepcopy(encoder), teacher.frozen) if teacher.frozen else None
        self.members = nn.ModuleList()
        labels, places = len(teacher.labels), []
        for member in teacher.members:
            network = Classifier(copy.deepcopy(encoder), len(member.columns), frozen=teacher.frozen)
            network.load_state_dict(load_file(member.weights), strict=False)
            self.members.append(network)
            place = torch.zeros(len(member.columns), labels)
            for output, column in enumerate(member.columns):
                if column >= 0:
                    place[output, column] = 1
            places.append(place)
        counts = torch.stack(places).sum(dim=(0, 1)) if places else torch.zeros(labels)
        for number, place in enumerate(places):
            self.register_buffer(f"place{number}", place / counts.clamp(min=1))
        rates = torch.tensor(teacher.card.rates, dtype=torch.float32)
        self.register_buffer("rates", torch.where(counts > 0, torch.zeros_like(rates), rates))

    def forward(self, ids: Tensor, mask: Tensor) -> Said:
        states = self.lowest(ids, mask) if self.lowest is not None else None
        total = self.rates.expand(ids.shape[0], -1)
        vectors: list[Tensor] = []
        for number, member in enumerate(self.members):
            logits, vector = _pooled(member, ids, mask, states)  # type: ignore[arg-type]
            softmax = self.one_class and logits.shape[1] > 1
            proba = torch.softmax(logits, dim=1) if softmax else torch.sigmoid(logits)
            total = total + proba @ getattr(self, f"place{number}")
            vectors.append(vector)
        if self.one_class:
            total = total / total.sum(dim=1, keepdim=True)
        return total, torch.stack(vectors).mean(dim=0)


def _pooled(network: Classifier, ids: Tensor, mask: Tensor, states: Tensor | None) -> Said:
    encoder = network.encoder
    if states is None:
        vector = pool(encoder(ids, mask), mask, encoder.pooling)
    else:
        with encoder.starting_at(network.frozen, states):
            vector = pool(encoder(ids, mask), mask, encoder.pooling)
    return network.head(vector), vector


class _Heads(nn.Module):
    """Features of every layer, and the heads of all labels and folds.

    Linear heads of the same features are one product: a graph with nodes of its own for each of a thousand labels would
    be large and slow.
    """

    back: Tensor

    def __init__(self, teacher: ProbeTeacher) -> None:
        super().__init__()
        encoder = Encoder(teacher.card.encoder.folder)
        encoder.model.set_attn_implementation("eager")
        self.layers = EveryLayer(encoder)
        self.one_class = teacher.card.one_class
        groups: dict[tuple[bytes, int], list[int]] = {}
        alone = []
        for column, heads in enumerate(teacher.heads):
            mixes = {head.mix.tobytes() for head in heads}
            if len(mixes) == 1 and all(len(head.matrices) == 1 for head in heads):
                groups.setdefault((mixes.pop(), len(heads)), []).append(column)
            else:
                alone.append(column)
        self.groups = nn.ModuleList(_Linear([teacher.heads[at] for at in columns]) for columns in groups.values())
        self.alone = [(teacher.heads[column], teacher.card.rates[column]) for column in alone]
        order = [*(column for columns in groups.values() for column in columns), *alone]
        self.register_buffer("back", torch.argsort(torch.tensor(order)))

    def forward(self, ids: Tensor, mask: Tensor) -> Said:
        vectors = self.layers(ids, mask)
        alike = 10 * vectors / (vectors.norm(dim=2, keepdim=True) + 1e-9)
        parts = [group(alike) for group in self.groups]
        for heads, rate in self.alone:
            found = [self._head(head, alike) for head in heads]
            part = torch.stack(found).mean(dim=0) if found else torch.full_like(alike[:, 0, 0], rate)
            parts.append(part[:, None])
        proba = torch.cat(parts, dim=1)[:, self.back]
        if self.one_class:
            proba = proba / proba.sum(dim=1, keepdim=True)
        return proba, vectors[:, -1]

    @staticmethod
    def _head(head: Head, alike: Tensor) -> Tensor:
        flow = _mixed(alike, torch.from_numpy(head.mix))
        for number, (matrix, offset) in enumerate(zip(head.matrices, head.offsets, strict=True)):
            flow = (torch.relu(flow) if number else flow) @ torch.from_numpy(matrix) + torch.from_numpy(offset)
        return torch.sigmoid(flow[:, 0])


class _Linear(nn.Module):
    """The linear heads of some labels, as many folds for each, all of which read the same features."""

    mix: Tensor
    matrix: Tensor
    offset: Tensor

    def __init__(self, heads: Sequence[Sequence[Head]]) -> None:
        super().__init__()
        self.folds = len(heads[0])
        by_fold = [mine[fold] for fold in range(self.folds) for mine in heads]
        self.register_buffer("mix", torch.from_numpy(by_fold[0].mix))
        self.register_buffer("matrix", torch.from_numpy(np.concatenate([head.matrices[0] for head in by_fold], axis=1)))
        self.register_buffer("offset", torch.from_numpy(np.concatenate([head.offsets[0] for head in by_fold])))

    def forward(self, alike: Tensor) -> Tensor:
        proba = torch.sigmoid(_mixed(alike, self.mix) @ self.matrix + self.offset)
        mean: Tensor = torch.unflatten(proba, 1, (self.folds, -1)).mean(dim=1)
        return mean


def _mixed(alike: Tensor, mix: Tensor) -> Tensor:
    return (alike * mix[None, :, None]).sum(dim=1) if len(mix) else alike[:, 1:].flatten(1)


class _Ready(nn.Module):
    def __init__(self, teacher: ReadyTeacher) -> None:
        super().__init__()
        network, _, self.one_of = teacher.model
        self.model, self.outputs = network.model, teacher.outputs
        self.rates, self.one_class = teacher.card.rates, teacher.card.one_class
        self.model.set_attn_implementation("eager")

    def forward(self, ids: Tensor, mask: Tensor) -> Said:
        found = self.model(input_ids=ids, attention_mask=mask, output_hidden_states=True)
        proba = torch.softmax(found.logits, dim=1) if self.one_of else torch.sigmoid(found.logits)
        columns = [
            proba[:, output] if output >= 0 else torch.full_like(proba[:, 0], rate)
            for output, rate in zip(self.outputs, self.rates, strict=True)
        ]
        chosen = torch.stack(columns, dim=1)
        if self.one_class:
            chosen = chosen / chosen.sum(dim=1, keepdim=True)
        return chosen, found.hidden_states[-1][:, 0]


class _Blend(nn.Module):
    """The weighted mean of log-odds or, if one class is right, of logarithms."""

    def __init__(self, parts: list[nn.Module], weights: list[float], one_class: bool) -> None:
        super().__init__()
        self.parts = nn.ModuleList(parts)
        self.weights, self.one_class = [weight / sum(weights) for weight in weights], one_class

    def forward(self, ids: Tensor, mask: Tensor) -> Said:
        said = [part(ids, mask) for part in self.parts]
        inside = [proba.clamp(SUREST, 1 - SUREST) for proba, _ in said]
        logs = [p.log() if self.one_class else torch.logit(p) for p in inside]
        mean = torch.stack([weight * log for weight, log in zip(self.weights, logs, strict=True)]).sum(dim=0)
        proba = torch.softmax(mean, dim=1) if self.one_class else torch.sigmoid(mean)
        return proba, torch.cat([vector for _, vector in said], dim=1)
