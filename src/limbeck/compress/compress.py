"""From trained models to checked bundles, and the choice among them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from limbeck.compress.card import TEXTS, LearntFrom, card
from limbeck.compress.draft import Trained, draft
from limbeck.compress.gate import LabelJudge, Passed, through_the_gate
from limbeck.compress.reference import reference_of
from limbeck.config import Config
from limbeck.data.prepare import Prepared
from limbeck.data.splits import JUDGING, TUNING
from limbeck.runtime.bundle import CARD, CONFIG, GRAPH, TOKENISER, TOKENISER_CONFIG, Bundle, read_bundle, write_facts
from limbeck.runtime.manifest import Manifest, Reference
from limbeck.students.transformer import Transformer

# Texts that later ones are compared with.
REFERENCE = 5000


@dataclass(frozen=True)
class Compressed:
    """A model's bundle in `folder`, how it went through the gate, and how far export and network are apart."""

    kind: str
    folder: Path
    passed: Passed
    gap: float
    tokens: int


def compress_model(
    name: str,
    kind: str,
    trained: Trained,
    measured: Mapping[str, Any],
    teacher: Mapping[str, Any] | None,
    prepared: Prepared,
    texts: Sequence[str],
    config: Config,
    origin: Mapping[str, Any],
    folder: Path,
    saturates: bool,
    unlabelled: int = 0,
) -> Compressed:
    """Write a model's bundle; `measured` and `teacher` are the figures of the step measure, `texts` the pool's.

    A baseline of labels alone has no `teacher`. The pool has `unlabelled` texts, of which these are a sample.
    """
    figures = {
        f"{prefix}{part}_macro_f1": found["macro_f1"]
        for prefix, told in (("", measured), ("teacher_", teacher))
        if told
        for part, found in told["figures"].items()
    }
    thresholds = np.array(measured["thresholds"], dtype=np.float32)
    made = draft(trained, thresholds, [*prepared.train.texts, *texts], config.compress, prepared.dev.texts)
    judging, tuning = (LabelJudge(prepared.dev_half(half), config) for half in (JUDGING, TUNING))
    passed = through_the_gate(made, judging, tuning, config, saturates)
    shown = list(texts[:REFERENCE]) or list(prepared.train.texts[:REFERENCE])
    plain = passed.bundle.manifest
    reference = reference_of(passed.bundle, shown)
    manifest = completed(plain, name, config.data.titles, reference, figures, origin)
    learnt = _learnt_from(measured, prepared, unlabelled if teacher else 0)
    more = _for_transformers(trained, trained.network, manifest) if isinstance(trained.network, Transformer) else {}
    write_bundle(folder, passed.bundle, manifest, card(manifest, passed.trials, learnt), more)
    return Compressed(kind, folder, passed, made.gap, made.tokens)


def _learnt_from(measured: Mapping[str, Any], prepared: Prepared, pool: int) -> LearntFrom:
    train = prepared.train
    part = "test" if "test" in measured["figures"] else "judging"
    return LearntFrom(
        TEXTS,
        len(train),
        len(prepared.dev),
        len(prepared.test) if prepared.test else 0,
        pool,
        part,
        dict(zip(train.names, (train.labels == 1).sum(axis=0).tolist(), strict=True)),
        {told["name"]: told["f1"] for told in measured["figures"][part]["labels"]},
    )


def completed(
    plain: Manifest,
    name: str,
    titles: Mapping[str, str],
    reference: Reference,
    figures: dict[str, Any],
    origin: Mapping[str, Any],
) -> Manifest:
    """Add what is known once a recipe is chosen: the name, the titles that people read, figures and origin."""
    labels = [replace(one, title=titles.get(one.name, one.name)) for one in plain.labels]
    return replace(plain, name=name, labels=labels, reference=reference, figures=figures, origin=dict(origin))


def fastest_good_one(compressed: Sequence[Compressed], budget: float) -> tuple[Compressed, str]:
    """Choose the fastest bundle whose F1 is at most `budget` (a share) below the best one's; say why."""
    best = max(one.passed.taken.macro_f1 for one in compressed)
    good = [one for one in compressed if one.passed.taken.macro_f1 >= (1 - budget) * best]
    chosen = min(good, key=lambda one: one.passed.taken.p50_us)
    if len(compressed) == 1:
        return chosen, "there is no other."
    faster = [one for one in compressed if one.passed.taken.p50_us < chosen.passed.taken.p50_us]
    why = f"the fastest whose F1 on dev's judging half is at most {budget:.1%} below the best, {best:.3f}."
    if faster:
        others = ", ".join(f"{one.kind} has {one.passed.taken.macro_f1:.3f}" for one in faster)
        why += f" Faster, but below that: {others}."
    return chosen, why


def write_bundle(
    folder: Path, bundle: Bundle, manifest: Manifest, told: str, more: Mapping[str, Mapping[str, Any]]
) -> None:
    """Write a bundle's files, `more` of them as JSON, and read them again as anyone will."""
    folder.mkdir(parents=True)
    (folder / GRAPH).write_bytes(bundle.graph)
    (folder / TOKENISER).write_bytes(bundle.tokeniser)
    (folder / CARD).write_text(told, encoding="utf-8")
    for file, about in more.items():
        (folder / file).write_text(json.dumps(about, indent=1, default=str), encoding="utf-8")
    write_facts(folder, manifest)
    read_bundle(folder)


def _for_transformers(trained: Trained, network: Transformer, manifest: Manifest) -> dict[str, dict[str, Any]]:
    """Give what tools in the style of transformers ask for beside a graph and a tokeniser."""
    config = network.encoder.model.config.to_dict() | {
        "id2label": dict(enumerate(trained.labels)),
        "label2id": {name: number for number, name in enumerate(trained.labels)},
        "problem_type": "single_label_classification" if trained.one_class else "multi_label_classification",
    }
    tokens = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_max_length": manifest.reading.max_tokens,
        "pad_token": trained.pieces.vocabulary[trained.pieces.pad_id],
    }
    return {CONFIG: config, TOKENISER_CONFIG: tokens}
