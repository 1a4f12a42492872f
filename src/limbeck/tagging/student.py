"""A trained small tagger, and its folder: weights, lexicon and what it says about itself."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from safetensors.torch import load_file

from limbeck.runtime.lexicon import read_lexicon
from limbeck.runtime.tagger import marks_of
from limbeck.runtime.viterbi import Moves
from limbeck.runtime.wordinputs import EncoderReader, Reader, VectorReader
from limbeck.scorer import Floats, Span
from limbeck.students.transformer import save_encoder
from limbeck.tagging.examples import TaggedExamples, read_sentences, unknown_tags
from limbeck.tagging.lesson import emissions_of, moves_of
from limbeck.tagging.network import MARKS, TAGGERS, EncoderTagger, TaggerNetwork, TaggerPlan
from limbeck.tagging.scorer import Words, find_entities, in_parts, together
from limbeck.teach.network import Encoder, device
from limbeck.training.checkpoint import save_weights

FILE_NAME = "tagger.json"
LEXICON = "tokenizer.json"


@dataclass(frozen=True)
class Lexical:
    """How words become numbers: a tokenizer.json, what pads, what is unknown, and the characters that are known."""

    told: bytes
    pad_id: int
    unknown_id: int
    alphabet: str = ""
    max_tokens: int = 128

    def reader(self, kind: str) -> Reader:
        """Give the reader of a kind of tagger."""
        if kind == "transformer":
            return EncoderReader(self.told, self.max_tokens, self.pad_id, self.unknown_id)
        lexicon = read_lexicon(self.told, self.pad_id, self.unknown_id)
        return VectorReader(lexicon, marks_of(MARKS[kind], self.alphabet))


@dataclass(frozen=True)
class TaggerStudent:
    """A network with its lexicon."""

    kind: str
    labels: tuple[str, ...]
    plan: TaggerPlan
    lexical: Lexical
    network: TaggerNetwork

    @property
    def moves(self) -> tuple[Moves, bool]:
        """What moves between tags score."""
        return moves_of(self.network, len(self.labels))

    @cached_property
    def reader(self) -> Reader:
        """What turns words into the network's inputs."""
        return self.lexical.reader(self.kind)

    @property
    def parameters(self) -> int:
        """How many numbers the network holds."""
        return sum(parameter.numel() for parameter in self.network.parameters())

    def tag(self, sentences: Sequence[str]) -> list[list[Span]]:
        """Give the entities of each text."""
        return find_entities(self, sentences)

    def emissions(self, sentences: Sequence[Words]) -> list[Floats]:
        """Give scores [words, tags] of each sentence."""
        cut, of = in_parts(self.reader, sentences)
        tags = unknown_tags([len(part) for part in cut])
        examples = TaggedExamples(read_sentences(self.reader, cut), self.reader.collate, tags)
        scores = emissions_of(self.network.to(device()), examples, device())
        return together(scores, of, len(sentences), 2 * len(self.labels) + 1)

    def save(self, folder: Path) -> None:
        """Write weights, lexicon and card; a transformer's encoder goes into a folder of its own."""
        weights = {k: v for k, v in self.network.state_dict().items() if not k.startswith("encoder.")}
        save_weights(weights, folder / "weights.safetensors")
        if isinstance(self.network, EncoderTagger):
            save_encoder(self.network.encoder, folder / "encoder")
        (folder / LEXICON).write_bytes(self.lexical.told)
        about: dict[str, Any] = {
            "kind": self.kind,
            "labels": self.labels,
            "plan": asdict(self.plan),
            "pad_id": self.lexical.pad_id,
            "unknown_id": self.lexical.unknown_id,
            "alphabet": self.lexical.alphabet,
            "max_tokens": self.lexical.max_tokens,
            "parameters": self.parameters,
        }
        (folder / FILE_NAME).write_text(json.dumps(about, indent=1, ensure_ascii=False), encoding="utf-8")


def load_tagger_student(folder: Path) -> TaggerStudent:
    """Read what `save` wrote."""
    about = json.loads((folder / FILE_NAME).read_text(encoding="utf-8"))
    plan = TaggerPlan(**about["plan"])
    lexical = Lexical(
        (folder / LEXICON).read_bytes(), about["pad_id"], about["unknown_id"], about["alphabet"], about["max_tokens"]
    )
    if about["kind"] == "transformer":
        network: TaggerNetwork = EncoderTagger(Encoder(folder / "encoder"), plan.types, plan.dropout, plan.crf)
    else:
        network = TAGGERS[about["kind"]](plan)
    network.load_state_dict(load_file(folder / "weights.safetensors"), strict=False)
    return TaggerStudent(about["kind"], tuple(about["labels"]), plan, lexical, network.eval())
