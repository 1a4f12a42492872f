"""A finished transformers token-classification model as what finds entities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import torch

from limbeck.errors import EncoderMissing
from limbeck.runtime.viterbi import Moves, tag_names
from limbeck.runtime.wordinputs import EncoderReader
from limbeck.scorer import Floats, Span
from limbeck.tagging.examples import TaggedExamples, read_sentences, unknown_tags
from limbeck.tagging.lesson import emissions_of
from limbeck.tagging.network import TaggerNetwork
from limbeck.tagging.scorer import Words, find_entities, in_parts, together
from limbeck.tagging.teacher import tokeniser_of
from limbeck.teach.network import device, positions

# What can't be: a tag that a model doesn't know.
IMPOSSIBLE = -1e4


class _TokenLogits(TaggerNetwork):
    """A transformers model; `columns` are its outputs in the order of a tagger's tags, -1 where it has none."""

    crf = None

    def __init__(self, model: Any, columns: Sequence[int]) -> None:  # noqa: ANN401 - any transformers model
        super().__init__()
        self.model = model
        self.columns = list(columns)

    def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
        ids, mask, _, firsts = inputs
        logits = self.model(input_ids=ids, attention_mask=mask).logits
        words = logits.gather(1, firsts.unsqueeze(-1).expand(-1, -1, logits.shape[2]))
        found: torch.Tensor = words[:, :, [max(column, 0) for column in self.columns]]
        lacking = torch.tensor([column < 0 for column in self.columns], device=found.device)
        return found.masked_fill(lacking, IMPOSSIBLE)


@dataclass(frozen=True)
class ReadyTagger:
    """The token-classification model in `folder`; its labels are BIO tags, or types alone."""

    folder: Path
    max_tokens: int = 512

    @property
    def labels(self) -> tuple[str, ...]:
        """The entity types."""
        names = [str(name) for name in self._model.config.id2label.values()]
        return tuple(sorted({name[2:] for name in names if name[:2] in ("B-", "I-")}))

    @property
    def moves(self) -> tuple[Moves, bool]:
        """All moves that BIO allows score the same."""
        return Moves.bio(len(self.labels)), True

    def tag(self, sentences: Sequence[str]) -> list[list[Span]]:
        """Give the entities of each text."""
        return find_entities(self, sentences)

    def emissions(self, sentences: Sequence[Words]) -> list[Floats]:
        """Give scores [words, tags] of each sentence."""
        cut, of = in_parts(self._reader, sentences)
        examples = TaggedExamples(
            read_sentences(self._reader, cut), self._reader.collate, unknown_tags([len(part) for part in cut])
        )
        return together(emissions_of(self._network, examples, device()), of, len(sentences), len(self._columns))

    @cached_property
    def _columns(self) -> list[int]:
        numbers = {str(name): int(number) for number, name in self._model.config.id2label.items()}
        return [numbers.get(name, -1) for name in tag_names(self.labels)]

    @cached_property
    def _network(self) -> TaggerNetwork:
        return _TokenLogits(self._model, self._columns).to(device()).eval()

    @cached_property
    def _reader(self) -> EncoderReader:
        told, pad_id, unknown_id = tokeniser_of(self.folder)
        return EncoderReader(told, min(self.max_tokens, positions(self._model)), pad_id, unknown_id)

    @cached_property
    def _model(self) -> Any:  # noqa: ANN401 - any transformers model
        from transformers import AutoModelForTokenClassification
        from transformers.utils.logging import disable_progress_bar

        disable_progress_bar()  # type: ignore[no-untyped-call]
        try:
            return AutoModelForTokenClassification.from_pretrained(self.folder, local_files_only=True).float()
        except (OSError, ValueError, KeyError, RuntimeError) as error:
            reason = str(error).splitlines()[0]
            raise EncoderMissing(
                f"The model in {self.folder} can't be loaded: {reason}", "Copy the whole folder."
            ) from None
