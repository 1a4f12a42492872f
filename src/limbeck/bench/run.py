"""Timing the contenders side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any

import numpy as np

from limbeck.bench.contenders import Contender, contenders
from limbeck.bench.efficiency import SECONDS, cost_of_a_million, texts_of_length, time_calls
from limbeck.config import Config
from limbeck.data.dataset import Dataset
from limbeck.data.prepare import Prepared
from limbeck.data.splits import JUDGING
from limbeck.errors import BadSetting, RunError
from limbeck.measure import decide, decide_classes
from limbeck.measure.bootstrap import bootstrap_interval
from limbeck.pipeline import Pipeline
from limbeck.progress import progress
from limbeck.runtime.predictor import Predictor
from limbeck.runtime.processor import processor

# Different texts of each length, so that no cache knows them all by heart after the first turn.
DIFFERENT = 400
# Texts that a process which only serves has to answer, and how long they are.
SERVED, USUAL_TOKENS = 1000, 40
NEEDED = ("data", "teach", "distill", "measure", "compress")


@dataclass(frozen=True)
class Case:
    """A case that is timed: so many tokens a text, texts a call, and threads."""

    tokens: int
    batch: int
    threads: int


def bench(
    pipeline: Pipeline,
    cases: Sequence[Case],
    price: float,
    only: Sequence[str] = (),
    seconds: float = SECONDS,
    quick: bool = False,
) -> dict[str, Any]:
    """Time every model in every form, in each case for about so many seconds at most.

    With `quick`, nothing is tried on test, and only of bundles a process is watched that does nothing but answer.
    """
    if pipeline.project.config.task == "ner":
        raise BadSetting("limbeck bench times classifiers.", "For entities use: limbeck compare")
    for name in NEEDED:
        if name not in [step.name for step in pipeline.steps] or pipeline.folder(name) is None:
            raise RunError(f"The step {name} hasn't run for these files and settings.", "Run: limbeck run")
    folder = pipeline.folder("data")
    assert folder is not None
    prepared, config = Prepared.load(folder), pipeline.project.config
    lengths = list(dict.fromkeys(case.tokens for case in cases))
    asked = [one for one in contenders(pipeline, max(lengths)) if not only or one.model.partition(",")[0] in only]
    whole = next(found for found in (one.start(1) for one in asked) if isinstance(found, Predictor))
    texts = {length: _texts(whole, prepared, length) for length in {*lengths, USUAL_TOKENS}}
    tokeniser = [_tokeniser(whole, texts[length], length) for length in lengths]
    parts = {"judging": prepared.dev_half(JUDGING)} | ({"test": prepared.test} if prepared.test and not quick else {})
    rows = [
        _about(one, texts[USUAL_TOKENS], parts, config, quick)
        | {"timings": _timings(one, cases, texts, price, seconds)}
        for one in progress(asked, "timing models", len(asked))
    ]
    return {"processor": processor()[1], "tokeniser": tokeniser, "rows": rows}


def _timings(
    one: Contender, cases: Sequence[Case], texts: dict[int, list[str]], price: float, seconds: float
) -> list[dict[str, Any]]:
    timings = []
    for threads, some in groupby(sorted(cases, key=lambda case: case.threads), key=lambda case: case.threads):
        ready = one.start(threads)
        for case in some:
            shown = texts[case.tokens]
            groups = [shown[at : at + case.batch] for at in range(0, DIFFERENT - case.batch + 1, case.batch)]
            found = time_calls(ready.predict, groups, seconds)
            cpu_seconds, cost = cost_of_a_million(found.texts_a_second, threads, price)
            told = {"cpu_seconds_a_million": cpu_seconds, "cost_a_million": cost}
            timings.append(asdict(case) | found.as_dict() | told)
    return timings


def _about(one: Contender, texts: list[str], parts: dict[str, Dataset], config: Config, quick: bool) -> dict[str, Any]:
    """Say how good a model is, how large, and what a process needs that only serves it."""
    row: dict[str, Any] = {
        "model": one.model,
        "form": one.form,
        **{f"{name}_macro_f1": one.measured.get(name) or _macro_f1(one, part, config) for name, part in parts.items()},
        "bytes": one.bytes,
        "parameters": one.parameters,
        "multiply_adds": one.multiply_adds(USUAL_TOKENS) if one.multiply_adds else None,
    }
    told = one.serving((texts * SERVED)[:SERVED]) if one.served or not quick else None
    if told is not None:
        row |= {"load_seconds": told.load_seconds, "loaded_mb": told.loaded_mb, "peak_mb": told.peak_mb}
    return row


def _macro_f1(one: Contender, part: Dataset, config: Config) -> float:
    proba = one.start(1).predict_proba(part.texts)
    decisions = decide_classes(proba) if config.task == "multiclass" else decide(proba, one.thresholds)
    return bootstrap_interval(part.labels, decisions, rounds=1).estimate


def _texts(like: Predictor, prepared: Prepared, length: int) -> list[str]:
    return texts_of_length(
        prepared.dev.texts, lambda text: len(like.tokeniser.tokenizer.encode(text).ids), length, DIFFERENT
    )


def _tokeniser(like: Predictor, texts: list[str], length: int) -> dict[str, Any]:
    """Time the tokenizers library alone: the least that any model of the usual kind costs."""
    encode = like.tokeniser.tokenizer.encode
    found = time_calls(lambda batch: encode(batch[0]).ids, [[text] for text in texts])
    return {"tokens": length, "mean_tokens": float(np.mean([len(encode(t).ids) for t in texts])), **found.as_dict()}
