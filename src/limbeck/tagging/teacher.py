"""Teachers of entities: encoders with a softmax over tags, a member a fold; blends of several."""

from __future__ import annotations

import copy
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.torch import load_file

from limbeck.errors import EncoderMissing
from limbeck.progress import progress
from limbeck.runtime.viterbi import Moves
from limbeck.runtime.wordinputs import EncoderReader
from limbeck.scorer import Floats, Span, fields_alone
from limbeck.store import link_or_copy
from limbeck.tagging.examples import TaggedExamples, read_sentences, unknown_tags
from limbeck.tagging.lesson import emissions_of
from limbeck.tagging.network import EncoderTagger
from limbeck.tagging.probe import ProbeTagger, features_of
from limbeck.tagging.scorer import Words, find_entities, in_parts, log_softmax, together
from limbeck.teach.encoders import EncoderFiles, encoder_key, find_encoder
from limbeck.teach.network import Encoder, device
from limbeck.training.tokens import Tokens

FILE_NAME = "tagger.json"
# Networks of a teacher that stay in memory.
KEPT = 3


@dataclass(frozen=True)
class TaggerCard:
    """What a teacher of entities says about itself; `layers` are those that a probe reads."""

    kind: str
    types: tuple[str, ...]
    encoder: EncoderFiles
    max_tokens: int
    layers: str = "all"

    def save(self, folder: Path, more: dict[str, Any]) -> None:
        """Write the card and `more`; the encoder stays where it is, named and hashed."""
        about = {
            **{name: value for name, value in asdict(self).items() if name != "encoder"},
            "encoder": self.encoder.name,
            "encoder_key": encoder_key(self.encoder),
            **more,
        }
        (folder / FILE_NAME).write_text(json.dumps(about, indent=1, ensure_ascii=False), encoding="utf-8")


@dataclass(frozen=True)
class TagMember:
    """One trained network: the fold it didn't see (-1: none), how good it was, and its weights."""

    fold: int
    score: float
    weights: Path
    history: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True)
class TaggerTeacher:
    """Members over one encoder, whose probabilities are averaged."""

    card: TaggerCard
    members: tuple[TagMember, ...]

    __getstate__ = fields_alone

    @property
    def labels(self) -> tuple[str, ...]:
        """The entity types."""
        return self.card.types

    @property
    def moves(self) -> tuple[Moves, bool]:
        """All moves that BIO allows score the same."""
        return Moves.bio(len(self.labels)), True

    def tag(self, sentences: Sequence[str]) -> list[list[Span]]:
        """Give the entities of each text."""
        return find_entities(self, sentences)

    def emissions(self, sentences: Sequence[Words]) -> list[Floats]:
        """Give the logarithm of the members' mean probabilities [words, tags]."""
        cut, of = in_parts(self.reader, sentences)
        examples = self._examples(cut)
        total = [np.zeros((len(part), 2 * len(self.labels) + 1), dtype=np.float64) for part in cut]
        for member in progress(self.members, "tagging with each member", len(self.members)):
            for sums, scores in zip(total, emissions_of(self.network(member), examples, device()), strict=True):
                sums += np.exp(log_softmax(scores))
        mean = [np.log(np.maximum(sums / len(self.members), 1e-9)).astype(np.float32) for sums in total]
        return together(mean, of, len(sentences), 2 * len(self.labels) + 1)

    def only_fold(self, fold: int) -> TaggerTeacher:
        """Give the members that didn't see a fold."""
        return replace(self, members=tuple(member for member in self.members if member.fold == fold))

    def network(self, member: TagMember) -> Any:  # noqa: ANN401 - one of two kinds
        """Give a member's network; the last few are kept, so that single sentences don't wait for weights."""
        kept = self._kept
        if member.weights not in kept:
            if len(kept) >= KEPT:
                del kept[next(iter(kept))]
            types, weights = len(self.labels), load_file(member.weights)
            if self.card.kind == "probe":
                network: Any = ProbeTagger(types, weights["head.weight"].shape[1])
            else:
                network = EncoderTagger(copy.deepcopy(self._encoder), types, 0.0)
            network.load_state_dict(weights, strict=False)
            kept[member.weights] = network.to(device()).eval()
        return kept[member.weights]

    @cached_property
    def _kept(self) -> dict[Path, Any]:
        return {}

    def _examples(self, sentences: Sequence[Words]) -> TaggedExamples:
        tags = unknown_tags([len(words) for words in sentences])
        reads = read_sentences(self.reader, sentences)
        if self.card.kind == "probe":
            return TaggedExamples(*features_of(self._encoder, self.reader, reads, self.card.layers), tags)
        return TaggedExamples(reads, self.reader.collate, tags)

    @cached_property
    def reader(self) -> EncoderReader:
        """What turns words into the encoder's pieces."""
        return reader_of_encoder(self.card.encoder, min(self.card.max_tokens, self._encoder.longest))

    @cached_property
    def _encoder(self) -> Encoder:
        return Encoder(self.card.encoder.folder)

    def taught_encoder(self) -> Encoder:
        """Give the encoder as it was after teaching; of several members, the first's."""
        encoder = Encoder(self.card.encoder.folder)
        if self.card.kind != "probe":
            weights = load_file(self.members[0].weights)
            mine = {name.removeprefix("encoder."): t for name, t in weights.items() if name.startswith("encoder.")}
            encoder.load_state_dict(mine, strict=False)
        return encoder

    def save(self, folder: Path) -> None:
        """Write the card, and the members' weights without a second copy."""
        told = [{"fold": m.fold, "score": m.score, "history": m.history} for m in self.members]
        self.card.save(folder, {"members": told})
        for number, member in enumerate(self.members):
            link_or_copy(member.weights, folder / f"member-{number}.safetensors")


@dataclass(frozen=True)
class BlendedTagger:
    """Several teachers; the weighted mean of their log-probabilities."""

    teachers: tuple[TaggerTeacher, ...]
    weights: tuple[float, ...]

    @property
    def labels(self) -> tuple[str, ...]:
        """The entity types."""
        return self.teachers[0].labels

    @property
    def moves(self) -> tuple[Moves, bool]:
        """All moves that BIO allows score the same."""
        return self.teachers[0].moves

    def tag(self, sentences: Sequence[str]) -> list[list[Span]]:
        """Give the entities of each text."""
        return find_entities(self, sentences)

    def emissions(self, sentences: Sequence[Words]) -> list[Floats]:
        """Give the logarithm of blended probabilities [words, tags]."""
        return blended([teacher.emissions(sentences) for teacher in self.teachers], self.weights)

    def only_fold(self, fold: int) -> BlendedTagger:
        """Give the members that didn't see a fold."""
        return replace(self, teachers=tuple(teacher.only_fold(fold) for teacher in self.teachers))

    def taught_encoder(self) -> Encoder:
        """Give the encoder of the part with the highest weight."""
        return self.teachers[int(np.argmax(self.weights))].taught_encoder()

    @property
    def card(self) -> TaggerCard:
        """The card of the part with the highest weight."""
        return self.teachers[int(np.argmax(self.weights))].card

    def save(self, folder: Path) -> None:
        """Write every part into a folder of its own."""
        for teacher in self.teachers:
            (folder / teacher.card.kind).mkdir()
            teacher.save(folder / teacher.card.kind)
        told = {"kind": "blend", "weights": {t.card.kind: w for t, w in zip(self.teachers, self.weights, strict=True)}}
        (folder / FILE_NAME).write_text(json.dumps(told, indent=1), encoding="utf-8")


AnyTagger = TaggerTeacher | BlendedTagger


def load_tagger_teacher(folder: Path, root: Path) -> AnyTagger:
    """Read what `save` wrote; the encoder is looked for again from `root`."""
    about = json.loads((folder / FILE_NAME).read_text(encoding="utf-8"))
    if about["kind"] == "blend":
        teachers = [load_tagger_teacher(folder / kind, root) for kind in about["weights"]]
        parts = tuple(teacher for teacher in teachers if isinstance(teacher, TaggerTeacher))
        return BlendedTagger(parts, tuple(about["weights"].values()))
    encoder = find_encoder(about["encoder"], root)
    if encoder_key(encoder) != about["encoder_key"]:
        raise EncoderMissing(
            f"The encoder in {encoder.folder} is not the one that this teacher was made with: its files changed.",
            "Bring the old files back, or teach again.",
        )
    members = tuple(
        TagMember(told["fold"], told["score"], folder / f"member-{number}.safetensors", tuple(told["history"]))
        for number, told in enumerate(about["members"])
    )
    card = TaggerCard(about["kind"], tuple(about["types"]), encoder, about["max_tokens"], about["layers"])
    return TaggerTeacher(card, members)


def blended(parts: Sequence[Sequence[Floats]], weights: Sequence[float]) -> list[Floats]:
    """Give the weighted mean of log-probabilities, as log-probabilities again."""
    total = sum(weights)
    return [
        log_softmax(np.asarray(sum(w / total * s for w, s in zip(weights, scores, strict=True)), dtype=np.float32))
        for scores in zip(*parts, strict=True)
    ]


def reader_of_encoder(encoder: EncoderFiles, max_tokens: int) -> EncoderReader:
    """Give what turns words into an encoder's pieces."""
    told, pad_id, unknown_id = tokeniser_of(encoder.folder)
    return EncoderReader(told, max_tokens, pad_id, unknown_id)


def tokeniser_of(folder: Path) -> tuple[bytes, int, int]:
    """Give an encoder's tokeniser as JSON, its padding and what stands for unknown pieces."""
    tokenizer = Tokens(folder, 512).tokenizer
    fast = getattr(tokenizer, "backend_tokenizer", None)
    if fast is None:
        raise EncoderMissing(f"The encoder in {folder} has no fast tokeniser.", "Use another encoder.")
    fast.no_truncation()
    fast.no_padding()
    pad = int(tokenizer.pad_token_id or 0)
    return fast.to_str().encode(), pad, int(tokenizer.unk_token_id if tokenizer.unk_token_id is not None else pad)
