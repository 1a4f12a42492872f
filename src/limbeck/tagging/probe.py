"""A probe for entities: the encoder as it is, and a linear output a tag over what its layers say of each word."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from limbeck.progress import progress
from limbeck.runtime.batches import batches_by_length
from limbeck.runtime.wordforms import SHAPES
from limbeck.runtime.wordinputs import Array, EncoderReader, Read
from limbeck.tagging.examples import Collate
from limbeck.tagging.network import SHAPE_WIDTH, TaggerNetwork
from limbeck.teach.network import Encoder, device

AT_ONCE = 32
# Shapes of so many words are looked at together.
AROUND = 3


class ProbeTagger(TaggerNetwork):
    """Linear in the encoder's states [sentences, words, features], and in the shapes of a word and its neighbours."""

    def __init__(self, types: int, features: int) -> None:
        """Build the outputs."""
        super().__init__()
        self.norm = nn.LayerNorm(features, elementwise_affine=False)
        self.head = nn.Linear(features, 2 * types + 1)
        self.shapes = nn.Embedding(len(SHAPES), SHAPE_WIDTH)
        self.of_shapes = nn.Linear(AROUND * SHAPE_WIDTH, 2 * types + 1, bias=False)
        self.crf = None

    def forward(self, states: Tensor, shapes: Tensor) -> Tensor:  # type: ignore[override]
        """Score tags; `shapes` are [sentences, words]."""
        wide = self.shapes(nn.functional.pad(shapes, (AROUND // 2, AROUND // 2)))
        looks = torch.cat([wide[:, at : at + shapes.shape[1]] for at in range(AROUND)], dim=2)
        emissions: Tensor = self.head(self.norm(states.float())) + self.of_shapes(looks)
        return emissions


@torch.no_grad()
def features_of(
    encoder: Encoder, reader: EncoderReader, reads: Sequence[Read], layers: str
) -> tuple[list[Read], Collate]:
    """Give each word's states in an encoder's layers [words, features] and its shape, in the place of its pieces."""
    encoder.eval().to(device())
    lengths = np.array([len(read[0]) for read in reads], dtype=np.intp)
    found: list[Read] = [()] * len(reads)
    groups = batches_by_length(lengths, AT_ONCE)
    for rows in progress(groups, "reading words", len(groups)):
        ids, mask, _, firsts = (torch.from_numpy(a).to(device()) for a in reader.collate([reads[row] for row in rows]))
        states = _chosen(encoder.all_layers(ids, mask), layers)
        words = states.gather(1, firsts.unsqueeze(-1).expand(-1, -1, states.shape[2])).half().cpu().numpy()
        for place, row in enumerate(rows):
            _, shapes, begins = reads[row]
            found[row] = words[place, : len(begins)], shapes[begins]
    return found, collate_features


def collate_features(sentences: Sequence[Read]) -> list[Array]:
    """Pad states and shapes."""
    longest = max(len(states) for states, _ in sentences)
    together = np.zeros((len(sentences), longest, sentences[0][0].shape[1]), dtype=np.float32)
    looks = np.zeros((len(sentences), longest), dtype=np.int64)
    for row, (states, shapes) in enumerate(sentences):
        together[row, : len(states)], looks[row, : len(shapes)] = states, shapes
    return [together, looks]


def _chosen(states: list[Tensor], layers: str) -> Tensor:
    """Put the layers that are read side by side, or average them; a learnt mix is what the outputs make of all."""
    if layers == "last":
        return states[-1]
    if layers == "last-four":
        return torch.stack(states[-4:]).mean(dim=0)
    return torch.cat(states, dim=2)
