"""Networks that score the tags of words: an encoder, and small ones over word vectors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from limbeck.runtime.wordforms import AFFIX_NUMBERS, SHAPES
from limbeck.students.bilstm import reversed_order, take_in_order
from limbeck.students.cnn import Block
from limbeck.tagging.crf import Crf
from limbeck.teach.network import Encoder

SHAPE_WIDTH = 16
# Of characters: how wide each is, how many patterns are looked for, and how long they are.
CHARACTER, PATTERNS, PATTERN = 24, 48, 3
AFFIX = 48


@dataclass(frozen=True)
class TaggerPlan:
    """What a small tagger is built from: entity types, words or pieces and how wide their vectors are, its own width.

    `characters` counts the characters that it tells apart; `layers` its layers, `crf` whether it learns moves.
    """

    types: int
    vocabulary: int
    vectors: int
    width: int
    dropout: float
    pad_id: int
    characters: int
    layers: int = 1
    crf: bool = False


class TaggerNetwork(nn.Module):
    """A network that gives emissions [sentences, words, tags]; with `crf`, moves between tags score, too."""

    crf: Crf | None

    def forward(self, *inputs: Tensor) -> Tensor:
        """Score the tags of every word by itself."""
        raise NotImplementedError


class EncoderTagger(TaggerNetwork):
    """An encoder, told the shapes of words before its first layer and after its last; a linear output a tag."""

    def __init__(self, encoder: Encoder, types: int, dropout: float, crf: bool = False) -> None:
        """Put fresh outputs on an encoder."""
        super().__init__()
        self.encoder = encoder
        # Some encoders' token vectors are narrower than their layers.
        self.shapes_before = nn.Embedding(len(SHAPES), encoder.model.get_input_embeddings().embedding_dim)
        nn.init.zeros_(self.shapes_before.weight)
        self.shapes_after = nn.Embedding(len(SHAPES), SHAPE_WIDTH)
        self.dropout = nn.Dropout(dropout)
        self.head = nn.Linear(encoder.width + SHAPE_WIDTH, 2 * types + 1)
        self.crf = Crf(types) if crf else None

    def forward(self, ids: Tensor, mask: Tensor, shapes: Tensor, firsts: Tensor) -> Tensor:  # type: ignore[override]
        """Read pieces [sentences, pieces], and score the words that begin at `firsts` [sentences, words]."""
        vectors = self.encoder.model.get_input_embeddings()(ids) + self.shapes_before(shapes)
        states = self.encoder.model(inputs_embeds=vectors, attention_mask=mask).last_hidden_state
        words = states.gather(1, firsts.unsqueeze(-1).expand(-1, -1, states.shape[2]))
        looks = self.shapes_after(shapes.gather(1, firsts))
        emissions: Tensor = self.head(self.dropout(torch.cat([words, looks], dim=2)))
        return emissions


class WordVectorsOf(nn.Module):
    """Looks the numbers of words up [sentences, words, places] and gives the mean over the places that are used."""

    def __init__(self, plan: TaggerPlan) -> None:
        """Begin with small random vectors."""
        super().__init__()
        self.pad_id = plan.pad_id
        self.table = nn.Embedding(plan.vocabulary, plan.vectors, padding_idx=plan.pad_id)

    def forward(self, ids: Tensor) -> Tensor:
        """Give [sentences, words, vectors]."""
        used = (ids != self.pad_id).to(self.table.weight.dtype)
        # Padding's own vector is 0.
        total = self.table(ids).sum(dim=2)
        mean: Tensor = total / used.sum(dim=2, keepdim=True).clamp(min=1)
        return mean

    @torch.no_grad()
    def start(self, vectors: Tensor) -> None:
        """Begin with these vectors [vocabulary, vectors]."""
        self.table.weight.copy_(vectors)
        self.table.weight[self.pad_id] = 0


class BiLstmTagger(TaggerNetwork):
    """Patterns of characters, word vectors, recurrent layers each way (Ma and Hovy, 2016)."""

    marks = "characters"

    def __init__(self, plan: TaggerPlan) -> None:
        """Build the network."""
        super().__init__()
        self.words = WordVectorsOf(plan)
        self.characters = nn.Embedding(plan.characters, CHARACTER, padding_idx=0)
        self.patterns = nn.Linear(PATTERN * CHARACTER, PATTERNS)
        each, wide = plan.width, plan.vectors + PATTERNS
        self.forwards = nn.ModuleList(
            [nn.LSTM(wide if n == 0 else 2 * each, each, batch_first=True) for n in range(plan.layers)]
        )
        self.backwards = nn.ModuleList(
            [nn.LSTM(wide if n == 0 else 2 * each, each, batch_first=True) for n in range(plan.layers)]
        )
        self.dropout = nn.Dropout(plan.dropout)
        self.head = nn.Linear(2 * each, 2 * plan.types + 1)
        self.crf = Crf(plan.types) if plan.crf else None

    def forward(self, ids: Tensor, marks: Tensor) -> Tensor:  # type: ignore[override]
        """Score tags; `marks` are characters [sentences, words, characters]."""
        mask = (ids[:, :, 0] != self.words.pad_id).long()
        states = self.dropout(torch.cat([self.words(ids), self._patterns(marks)], dim=2))
        order = reversed_order(mask)
        for forwards, backwards in zip(self.forwards, self.backwards, strict=True):
            there, _ = forwards(states)
            back, _ = backwards(take_in_order(states, order))
            states = self.dropout(torch.cat([there, take_in_order(back, order)], dim=2))
        emissions: Tensor = self.head(states)
        return emissions

    def _patterns(self, marks: Tensor) -> Tensor:
        """Give the strongest match of each pattern anywhere in a word [sentences, words, patterns]."""
        vectors = self.characters(nn.functional.pad(marks, (PATTERN // 2, PATTERN // 2)))
        long = marks.shape[2]
        seen = torch.cat([vectors[:, :, shift : shift + long] for shift in range(PATTERN)], dim=3)
        strongest: Tensor = self.patterns(seen).amax(dim=2)
        return strongest


class CnnTagger(TaggerNetwork):
    """Word vectors, beginnings and ends of words, and residual convolutions over them; all words at once."""

    marks = "affixes"
    blocks_of: ClassVar = {1: 3, 2: 5}

    def __init__(self, plan: TaggerPlan) -> None:
        """Build the network."""
        super().__init__()
        self.words = WordVectorsOf(plan)
        self.affixes = nn.Embedding(AFFIX_NUMBERS, AFFIX, padding_idx=0)
        self.widen = nn.Linear(plan.vectors + AFFIX, plan.width)
        self.blocks = nn.ModuleList([Block(plan.width, plan.dropout / 2) for _ in range(self.blocks_of[plan.layers])])
        self.norm = nn.LayerNorm(plan.width)
        self.dropout = nn.Dropout(plan.dropout)
        self.head = nn.Linear(plan.width, 2 * plan.types + 1)
        self.crf = Crf(plan.types) if plan.crf else None

    def forward(self, ids: Tensor, marks: Tensor) -> Tensor:  # type: ignore[override]
        """Score tags; `marks` are numbers of affixes [sentences, words, affixes]."""
        inside = (ids[:, :, :1] != self.words.pad_id).to(self.widen.weight.dtype)
        looks = self.affixes(marks).sum(dim=2)
        states = self.widen(self.dropout(torch.cat([self.words(ids), looks], dim=2)))
        for block in self.blocks:
            states = block(states, inside)
        emissions: Tensor = self.head(self.dropout(self.norm(states)))
        return emissions


# A new small tagger is a class and a line here; `marks` says how it sees the form of words.
TAGGERS: dict[str, Callable[[TaggerPlan], TaggerNetwork]] = {"bilstm": BiLstmTagger, "cnn": CnnTagger}
MARKS = {"bilstm": BiLstmTagger.marks, "cnn": CnnTagger.marks}
