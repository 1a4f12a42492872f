"""Taggers as bundles: the same export, recipes and gate, judged by entities."""

from __future__ import annotations

import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch

import limbeck
from limbeck.compress.card import SENTENCES, LearntFrom
from limbeck.compress.compress import Compressed, completed, write_bundle
from limbeck.compress.draft import Draft
from limbeck.compress.export import OPSET
from limbeck.compress.fuse import fold, fuse_transformer
from limbeck.compress.gate import Verdict, through_the_gate
from limbeck.compress.recipes import FLOAT
from limbeck.compress.tagger_card import tagger_card
from limbeck.config import Config
from limbeck.data.sentences import Sentence
from limbeck.data.splits import JUDGING, TUNING
from limbeck.data.tagged import PreparedSentences
from limbeck.errors import RunError
from limbeck.measure.bootstrap import paired_entities
from limbeck.measure.entities import exact_counts
from limbeck.runtime.bundle import Bundle
from limbeck.runtime.load import tagger
from limbeck.runtime.manifest import Label, Manifest, Model, Reading, Reference, Tagging
from limbeck.runtime.tagger import EMISSIONS, EntityPredictor
from limbeck.runtime.wordinputs import EncoderReader, Reader
from limbeck.scorer import Span
from limbeck.tagging.network import MARKS, EncoderTagger, TaggerNetwork
from limbeck.tagging.scorer import Words
from limbeck.tagging.student import Lexical, TaggerStudent
from limbeck.tagging.teacher import TaggerTeacher, tokeniser_of

# Emissions of graph and network, which are around 10, differ by rounding.
FARTHEST = 2e-3
# Real sentences that graph and network are compared on, and those that later texts are compared with.
COMPARED, REFERENCE = 100, 2000
BINS = 10


def export_tagger(network: TaggerNetwork, reader: Reader) -> bytes:
    """Give a tagger as ONNX for any number of sentences of any length, fused where that is possible."""
    shown = reader.collate([reader.read(["A", "word", "here"]), reader.read(["Two", "Words"])])
    words = "words"
    if isinstance(reader, EncoderReader):
        axes = {name: {0: "sentences", 1: words if name == "firsts" else "pieces"} for name in reader.names}
    else:
        axes = {name: {0: "sentences", 1: words} for name in reader.names}
    network = network.cpu().eval()
    if isinstance(network, EncoderTagger):
        # Fusion knows attention as it is written out.
        network.encoder.model.set_attn_implementation("eager")
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")  # tracing tells of every shape that it follows
        torch.onnx.export(
            network,
            tuple(torch.from_numpy(np.ascontiguousarray(given)) for given in shown),
            Path(folder) / "network.onnx",
            input_names=list(reader.names),
            output_names=[EMISSIONS],
            dynamic_axes=axes | {EMISSIONS: {0: "sentences", 1: words}},
            opset_version=OPSET,
            dynamo=False,
        )
        graph = (Path(folder) / "network.onnx").read_bytes()
    if isinstance(network, EncoderTagger):
        config = network.encoder.model.config
        heads = int(getattr(config, "num_attention_heads", 0) or getattr(config, "n_heads", 0))
        return fuse_transformer(graph, heads, network.encoder.width)
    return fold(graph)


@dataclass(frozen=True)
class TrainedTagger:
    """A trained tagger with its float graph and all that a bundle has to know of it."""

    kind: str
    labels: tuple[str, ...]
    parameters: int
    graph: bytes
    lexical: Lexical
    tagging: Tagging
    emissions: Callable[[Sequence[Words]], list[Any]]


def student_tagger(student: TaggerStudent, slope: float = 1.0, offset: float = 0.0) -> TrainedTagger:
    """Export a student; `slope` and `offset` make its confidence honest."""
    moves, plain = student.moves
    told: dict[str, Any] = {"marks": MARKS.get(student.kind, "affixes")}
    if not plain:
        told |= {"between": moves.between.tolist(), "first": moves.first.tolist(), "last": moves.last.tolist()}
    tagging = Tagging(
        reads="encoder" if student.kind == "transformer" else "vectors",
        alphabet=student.lexical.alphabet,
        slope=slope,
        offset=offset,
        **told,
    )
    graph = export_tagger(student.network, student.reader)
    return TrainedTagger(
        student.kind, student.labels, student.parameters, graph, student.lexical, tagging, student.emissions
    )


def teacher_tagger(teacher: TaggerTeacher, member: int = 0) -> TrainedTagger:
    """Export one network of a fine-tuned teacher."""
    told, pad_id, unknown_id = tokeniser_of(teacher.card.encoder.folder)
    network = teacher.network(teacher.members[member])
    lexical = Lexical(told, pad_id, unknown_id, "", teacher.reader.most + 2)
    alone = replace(teacher, members=(teacher.members[member],))
    parameters = sum(parameter.numel() for parameter in network.parameters())
    graph = export_tagger(network, teacher.reader)
    return TrainedTagger(
        "teacher", teacher.labels, parameters, graph, lexical, Tagging(reads="encoder"), alone.emissions
    )


def draft_tagger(trained: TrainedTagger, sentences: Sequence[Words]) -> Draft:
    """Make a float bundle in memory, and compare it with the network."""
    lexical = trained.lexical
    manifest = Manifest(
        name=trained.kind,
        made_with=limbeck.__version__,
        made_at=datetime.now(UTC).isoformat(timespec="seconds"),
        task="ner",
        labels=[Label(name=name, title=name, threshold=0.0) for name in trained.labels],
        reading=Reading(clean=[], max_tokens=lexical.max_tokens, pad_id=lexical.pad_id, unknown_id=lexical.unknown_id),
        model=Model(kind=trained.kind, recipe=FLOAT, parameters=trained.parameters),
        tagging=trained.tagging,
        files={},
    )
    bundle = Bundle(Path(), manifest, trained.graph, lexical.told)
    shown = [list(words) for words in sentences[:COMPARED]]
    mine, theirs = EntityPredictor(bundle).emissions(shown), trained.emissions(shown)
    compared = zip(mine, map(_scores, theirs), strict=True)
    gap = max((float(np.abs(_scores(one) - other).max(initial=0)) for one, other in compared), default=0.0)
    if not gap <= FARTHEST:
        raise RunError(
            f"The exported {trained.kind} says something else than the model: log-probabilities are off by {gap:.2g}.",
            "This is a fault of Limbeck or of a library; please report it.",
        )
    reader = EntityPredictor(bundle).reader
    samples = [dict(zip(reader.names, reader.collate([reader.read(words)]), strict=True)) for words in shown if words]
    return Draft(bundle, bundle, gap, 0, tuple(samples))


def _scores(emissions: Any) -> Any:  # noqa: ANN401 - an array
    """Give probabilities: of emissions only differences count."""
    high = np.exp(emissions - emissions.max(axis=1, keepdims=True, initial=-1e9))
    return high / high.sum(axis=1, keepdims=True)


@dataclass(frozen=True)
class EntityJudge:
    """Judges taggers by F1 over all entities, on sentences that tuned nothing."""

    sentences: list[Sentence]
    config: Config

    @cached_property
    def texts(self) -> list[str]:
        """The sentences as plain text."""
        return [sentence.text for sentence in self.sentences]

    def load(self, bundle: Bundle) -> EntityPredictor:
        """Give a bundle at work."""
        return tagger(bundle, self.config.compress.threads)

    def f1(self, bundle: Bundle) -> float:
        """Give F1 over all entities."""
        truth = [sentence.spans() for sentence in self.sentences]
        return f1_of(exact_counts(truth, self.load(bundle).tag(self.texts)))

    def compare(self, whole: Bundle, tried: Mapping[str, EntityPredictor]) -> dict[str, Verdict]:
        """Compare entities by the paired bootstrap over sentences."""
        truth = [sentence.spans() for sentence in self.sentences]
        measure = self.config.measure
        of_whole = self.load(whole).tag(self.texts)
        plain = exact_counts(truth, of_whole)
        of_float = f1_of(plain)
        verdicts = {}
        for name, model in tried.items():
            tagged = model.tag(self.texts)
            counts = exact_counts(truth, tagged)
            gap = paired_entities(plain, counts, measure.rounds, measure.level, self.config.seed)
            verdicts[name] = Verdict.of(of_float, gap, _otherwise(tagged, of_whole))
        return verdicts


def f1_of(counts: Any) -> float:  # noqa: ANN401 - an array
    """Give F1 over all entities, from what is right, found and there in each sentence."""
    right, found, there = counts.sum(axis=0)
    return float(2 * right / (found + there)) if found + there else 0.0


def _otherwise(found: Sequence[Sequence[Span]], of_float: Sequence[Sequence[Span]]) -> float:
    """Give the share of sentences with other entities."""
    kinds = [[{(one.start, one.end, one.type) for one in spans} for spans in tagged] for tagged in (found, of_float)]
    return float(np.mean([mine != theirs for mine, theirs in zip(*kinds, strict=True)])) if found else 0.0


def compress_tagger(
    name: str,
    student: TaggerStudent,
    measured: Mapping[str, Any],
    teacher: Mapping[str, Any] | None,
    prepared: PreparedSentences,
    pool: Sequence[Words],
    config: Config,
    origin: Mapping[str, Any],
    folder: Path,
    saturates: bool,
    unlabelled: int = 0,
) -> Compressed:
    """Write a tagger's bundle; `measured` and `teacher` are the figures of the step measure.

    The pool has `unlabelled` sentences, of which `pool` are some.
    """
    figures = {
        f"{prefix}{part}_f1": found["exact"]["f1"]
        for prefix, told in (("", measured), ("teacher_", teacher))
        if told
        for part, found in told["figures"].items()
    }
    trained = student_tagger(student, measured["slope"], measured["offset"])
    shown = [sentence.tokens for sentence in prepared.train]
    made = draft_tagger(trained, [*pool[:COMPARED], *shown])
    judging, tuning = (EntityJudge(prepared.dev_half(half), config) for half in (JUDGING, TUNING))
    passed = through_the_gate(made, judging, tuning, config, saturates)
    plain = passed.bundle.manifest
    texts = [" ".join(words) for words in pool[:REFERENCE]] or [s.text for s in prepared.train[:REFERENCE]]
    reference = _reference(passed.bundle, texts)
    manifest = completed(plain, name, config.data.titles, reference, figures, origin)
    learnt = _learnt_from(measured, prepared, unlabelled if teacher else 0)
    write_bundle(folder, passed.bundle, manifest, tagger_card(manifest, passed.trials, learnt), {})
    return Compressed(student.kind, folder, passed, made.gap, 0)


def _learnt_from(measured: Mapping[str, Any], prepared: PreparedSentences, pool: int) -> LearntFrom:
    part = "test" if "test" in measured["figures"] else "judging"
    yes = Counter(span.type for sentence in prepared.train for span in sentence.spans())
    train, dev, test = (len(some) for some in (prepared.train, prepared.dev, prepared.test))
    f1 = {told["type"]: told["exact"]["f1"] for told in measured["figures"][part]["types"]}
    return LearntFrom(SENTENCES, train, dev, test, pool, part, {kind: yes[kind] for kind in prepared.types}, f1)


def _reference(bundle: Bundle, texts: Sequence[str]) -> Reference:
    """Describe texts as the bundle sees them: rates are those of texts with an entity of a type."""
    predictor = EntityPredictor(bundle)
    found = predictor.predict(texts)
    sure = np.clip([entity.confidence for one in found for entity in one], 0.5, 1)
    counts, _ = np.histogram(sure, bins=BINS, range=(0.5, 1))
    rates = {kind: float(np.mean([any(e.type == kind for e in one) for one in found])) for kind in predictor.labels}
    lengths = [len(text.split()) for text in texts]
    unknown = bundle.manifest.reading.unknown_id
    ids = np.concatenate([np.ravel(predictor.reader.read(text.split())[0]) for text in texts])
    return Reference(
        texts=len(texts),
        label_rates=rates,
        confidence=(counts / max(1, counts.sum())).tolist(),
        lengths=np.percentile(lengths, np.arange(0, 101, 10)).tolist(),
        unknown_rate=0.0 if unknown is None else float((ids == unknown).mean()),
        embedding=[],
    )
