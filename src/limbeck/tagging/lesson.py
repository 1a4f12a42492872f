"""A tagger's lesson: sentences with tags and sentences with a teacher's guesses side by side, and how it is judged."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from limbeck.config import DistillSettings
from limbeck.runtime.batches import batches_by_length
from limbeck.runtime.viterbi import Moves, decode
from limbeck.scorer import Floats
from limbeck.tagging.crf import Crf
from limbeck.tagging.examples import Rows, TaggedBatch, TaggedExamples, Tags
from limbeck.tagging.kbest import k_best, shares_of
from limbeck.tagging.losses import best_sequences, soft_marginals, soft_tags, tag_loss
from limbeck.tagging.network import TaggerNetwork
from limbeck.training.loop import Job
from limbeck.training.tokens import shuffled_batches

SCORED_AT_ONCE = 32


@dataclass(frozen=True)
class TagLesson:
    """Sentences with tags, and nothing else."""

    examples: TaggedExamples
    batch: int
    # Thresholds have no meaning here.
    outputs: int = 1

    def batches(self, rng: np.random.Generator) -> list[Rows]:
        """Give an epoch's batches, sentences of similar length together."""
        return list(shuffled_batches(self.examples.lengths, self.batch, rng))

    def loss(self, model: nn.Module, rows: Rows, device: torch.device) -> Tensor:
        """Give the loss of a batch."""
        batch = self.examples.batch(rows, device)
        return tag_loss(model(*batch.inputs).float(), batch.tags, batch.mask, crf_of(model))


@dataclass(frozen=True)
class TagDistillLesson:
    """`examples` whose first `labelled` sentences have tags, the others guesses alone."""

    examples: TaggedExamples
    labelled: int
    settings: DistillSettings
    types: int
    hide_id: int
    pad_id: int
    outputs: int = 1

    def batches(self, rng: np.random.Generator) -> list[Rows]:
        """Give an epoch's batches: all sentences without tags once, and beside them some with tags."""
        settings, lengths = self.settings, self.examples.lengths
        beside = round(settings.batch * settings.labelled) if self.labelled else 0
        if beside == 0 or self.labelled == len(lengths):
            return list(shuffled_batches(lengths, settings.batch, rng))
        alone = list(shuffled_batches(lengths[self.labelled :], max(1, settings.batch - beside), rng))
        known = np.resize(rng.permutation(self.labelled), beside * len(alone)).reshape(len(alone), beside)
        return [
            np.concatenate([np.unique(mine), rows + self.labelled]) for rows, mine in zip(alone, known, strict=True)
        ]

    def loss(self, model: nn.Module, rows: Rows, device: torch.device) -> Tensor:
        """Add the losses up by their weights."""
        settings, crf = self.settings, crf_of(model)
        batch = self.examples.batch(rows, device)
        emissions = model(*self._hidden(batch.inputs)).float()
        total = settings.task * tag_loss(emissions, batch.tags, batch.mask, crf)
        if batch.guesses is None:
            return total
        if settings.soft > 0:
            total = total + settings.soft * soft_tags(emissions, batch.guesses, settings.temperature)
        if settings.marginals > 0 and crf is not None:
            total = total + settings.marginals * soft_marginals(emissions, batch.guesses, batch.mask, crf)
        if settings.hard > 0:
            guessed = self._decisions(rows, batch).to(emissions.device)
            total = total + settings.hard * tag_loss(emissions, guessed, batch.mask, crf)
        if settings.sequences > 0:
            sequences, shares = self._sequences(rows, batch)
            told = (sequences.to(emissions.device), shares.to(emissions.device))
            total = total + settings.sequences * best_sequences(emissions, *told, batch.mask, crf)
        return total

    def _hidden(self, inputs: list[Tensor]) -> list[Tensor]:
        """Hide some words of a network that reads word vectors, so that it heeds their form and what is around."""
        if self.settings.mask_tokens == 0 or self.hide_id < 0:
            return inputs
        ids, *others = inputs
        chosen = (torch.rand(ids.shape[:2], device=ids.device) < self.settings.mask_tokens) & (
            ids[:, :, 0] != self.pad_id
        )
        hidden = torch.full_like(ids, self.pad_id)
        hidden[:, :, 0] = self.hide_id
        return [torch.where(chosen.unsqueeze(2), hidden, ids), *others]

    def _decisions(self, rows: Rows, batch: TaggedBatch) -> Tensor:
        """Give the teacher's best sequence of each sentence without tags; what it isn't asked about is unknown."""
        tags = torch.full(batch.tags.shape, -1, dtype=torch.long)
        for place, row in enumerate(rows):
            best, certain = self._best[row], self._certain[row]
            if row >= self.labelled and len(best):
                tags[place, : len(certain)] = torch.from_numpy(np.where(certain, best[0], -1))
        return tags

    def _sequences(self, rows: Rows, batch: TaggedBatch) -> tuple[Tensor, Tensor]:
        """Give the teacher's best sequences [sentences, k, words] and their shares; none where it isn't sure of all."""
        most = self.settings.best
        sequences = torch.zeros((len(rows), most, batch.tags.shape[1]), dtype=torch.long)
        shares = torch.zeros((len(rows), most))
        for place, row in enumerate(rows):
            best = self._best[row]
            if row >= self.labelled and len(best) and self._certain[row].all():
                sequences[place, : len(best), : best.shape[1]] = torch.from_numpy(best)
                shares[place, : len(best)] = torch.from_numpy(self._shares[row])
        return sequences, shares

    @cached_property
    def _ranked(self) -> list[tuple[NDArray[np.int64], Floats, NDArray[np.bool_]]]:
        moves, wanted = Moves.bio(self.types), self.settings.best if self.settings.sequences > 0 else 1
        found: list[tuple[NDArray[np.int64], Floats, NDArray[np.bool_]]] = []
        for guess in self.examples.guesses or []:
            certain: NDArray[np.bool_] = np.asarray(~np.isnan(guess).any(axis=1))
            if not certain.any():
                found.append((np.zeros((0, 0), dtype=np.int64), np.zeros(0, dtype=np.float32), certain))
                continue
            scores = np.log(np.clip(np.where(certain[:, None], guess, 1.0).astype(np.float32), 1e-6, 1))
            best, of_best = k_best(scores, moves, wanted)
            found.append((best, shares_of(of_best), certain))
        return found

    @property
    def _best(self) -> _Column:
        return _Column(self._ranked, 0)

    @property
    def _shares(self) -> _Column:
        return _Column(self._ranked, 1)

    @property
    def _certain(self) -> _Column:
        return _Column(self._ranked, 2)


@dataclass(frozen=True)
class _Column:
    rows: list[tuple[Any, ...]]
    number: int

    def __getitem__(self, row: int) -> Any:  # noqa: ANN401 - an array of one kind or another
        return self.rows[row][self.number]


@dataclass(frozen=True)
class TagJob(Job):
    """A training run that is judged by the exact match of entities."""

    types: int = 0

    def judge(self, model: nn.Module, part: Any, device: str) -> tuple[float | None, NDArray[np.float64]]:  # noqa: ANN401
        """Give F1 over all entities; None where there is none to find."""
        examples: TaggedExamples = part
        half = np.full(1, 0.5)
        if not any((tags > 0).any() for tags in examples.tags):
            return None, half
        network: Any = model
        found = tags_of(emissions_of(network, examples, device), moves_of(network, self.types))
        return f1_of(examples.tags, found), half


@torch.no_grad()
def emissions_of(network: TaggerNetwork, examples: TaggedExamples, device: str = "cpu") -> list[Floats]:
    """Give a network's scores of each sentence [words, tags]."""
    network.eval()
    lengths = examples.lengths
    found: list[Floats] = [np.zeros((0, 0), dtype=np.float32)] * len(examples)
    for rows in batches_by_length(lengths, SCORED_AT_ONCE):
        batch = examples.batch(rows, device)
        scores = network(*batch.inputs).float().cpu().numpy()
        for place, row in enumerate(rows):
            found[row] = scores[place, : lengths[row]]
    return found


def crf_of(network: nn.Module) -> Crf | None:
    """Give what a network learns of moves between tags."""
    found = network.crf
    return found if isinstance(found, Crf) else None


def moves_of(network: TaggerNetwork, types: int) -> tuple[Moves, bool]:
    """Give a network's moves, and whether all that are allowed score the same."""
    return (Moves.bio(types), True) if network.crf is None else (network.crf.moves(), False)


def tags_of(emissions: list[Floats], moves: tuple[Moves, bool]) -> list[Tags]:
    """Give the best tags of each sentence."""
    lengths = np.array([len(scores) for scores in emissions], dtype=np.intp)
    found: list[Tags] = [np.zeros(0, dtype=np.int64)] * len(emissions)
    for rows in batches_by_length(lengths, 256):
        if lengths[rows[0]] == 0:
            continue
        padded = np.zeros((len(rows), lengths[rows[0]], emissions[rows[0]].shape[1]), dtype=np.float32)
        for place, row in enumerate(rows):
            padded[place, : lengths[row]] = emissions[row]
        for row, tags in zip(rows, decode(padded, lengths[rows], *moves), strict=True):
            found[row] = tags.astype(np.int64)
    return found


def f1_of(truth: list[Tags], found: list[Tags]) -> float:
    """Give F1 by the exact match of entities."""
    from limbeck.runtime.tagger import entities

    right = there = got = 0
    for true, mine in zip(truth, found, strict=True):
        one, other = set(entities(true)), set(entities(mine))
        right, there, got = right + len(one & other), there + len(one), got + len(other)
    return 2 * right / (there + got) if there + got else 0.0
