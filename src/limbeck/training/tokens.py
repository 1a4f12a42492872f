"""Texts as token ids, in batches of similar length so that little is spent on padding."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from limbeck.runtime.batches import CHARACTERS_A_TOKEN

Ids = NDArray[np.int32]

# Texts are sorted by length only within so many batches, which keeps the order random enough to learn from.
WINDOW = 50
# Texts a network scores at once: on a CPU larger batches leave the cache, and were a sixth slower.
SCORED_AT_ONCE = 32


@dataclass(frozen=True)
class Batch:
    """Padded ids and mask [texts, tokens], and which rows they are."""

    ids: Tensor
    mask: Tensor
    rows: NDArray[np.intp]


class Tokens:
    """An encoder's own tokeniser, cutting texts at `max_tokens` special tokens included."""

    def __init__(self, folder: Path, max_tokens: int) -> None:
        """Load the tokeniser that stands beside an encoder's weights."""
        from transformers import AutoTokenizer

        self.tokenizer: Any = AutoTokenizer.from_pretrained(folder, use_fast=True)
        self.max_tokens = max_tokens
        self.pad_id = int(self.tokenizer.pad_token_id or 0)

    def encode(self, texts: Sequence[str]) -> list[Ids]:
        """Give each text's ids; one that is too long is cut, and costs no more than what is kept of it."""
        if not texts:
            return []
        bounded = [text[: self.max_tokens * CHARACTERS_A_TOKEN] for text in texts]
        found = self.tokenizer(
            bounded,
            truncation=True,
            max_length=self.max_tokens,
            return_attention_mask=False,
            return_token_type_ids=False,
        )
        return [np.array(ids, dtype=np.int32) for ids in found["input_ids"]]


def pad(ids: Sequence[Ids], rows: NDArray[np.intp], pad_id: int) -> Batch:
    """Put the chosen rows into one rectangle, as wide as the longest of them."""
    width = max(len(ids[row]) for row in rows)
    padded = torch.full((len(rows), width), pad_id, dtype=torch.long)
    mask = torch.zeros((len(rows), width), dtype=torch.long)
    for position, row in enumerate(rows):
        padded[position, : len(ids[row])] = torch.from_numpy(ids[row].astype(np.int64))
        mask[position, : len(ids[row])] = 1
    return Batch(padded, mask, rows)


def shuffled_batches(lengths: NDArray[np.intp], size: int, rng: np.random.Generator) -> Iterator[NDArray[np.intp]]:
    """Group all rows at random into batches of similar length, and give those in random order."""
    order = rng.permutation(len(lengths))
    batches = []
    for start in range(0, len(order), size * WINDOW):
        window = order[start : start + size * WINDOW]
        window = window[np.argsort(lengths[window], kind="stable")]
        batches += [window[at : at + size] for at in range(0, len(window), size)]
    for number in rng.permutation(len(batches)):
        yield batches[number]
