"""Timing the contenders side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from limbeck.bench.contenders import Contender, contenders
from limbeck.config import Config
from limbeck.data.dataset import Dataset
from limbeck.data.prepare import Prepared
from limbeck.data.splits import JUDGING
from limbeck.errors import RunError
from limbeck.measure import decide, decide_classes
from limbeck.measure.bootstrap import bootstrap_interval
from limbeck.measure.efficiency import SECONDS, cost_of_a_million, serving_process, texts_of_length, time_calls
from limbeck.pipeline import Pipeline
from limbeck.progress import progress
from limbeck.runtime.predictor import Predictor
from limbeck.runtime.processor import processor

# Different texts of each length, so that no cache knows them all by heart after the first turn.
DIFFERENT = 400
# Texts that a process which only serves has to answer, and how long they are.
SERVED, USUAL_TOKENS = 1000, 40
QUICK_SECONDS = 3.0
NEEDED = ("data", "teach", "distill", "measure", "compress")


def bench(
    pipeline: Pipeline,
    lengths: Sequence[int],
    batches: Sequence[int],
    threads: Sequence[int],
    price: float,
    only: Sequence[str] = (),
    quick: bool = False,
) -> dict[str, Any]:
    """Time every model in every form with texts of these lengths (tokens), batches and threads.

    If it shall be `quick`, slow models are asked less often, and none is tried on test.
    """
    for name in NEEDED:
        if name not in [step.name for step in pipeline.steps] or pipeline.folder(name) is None:
            raise RunError(f"The step {name} hasn't run for these files and settings.", "Run: limbeck run")
    folder = pipeline.folder("data")
    assert folder is not None
    prepared = Prepared.load(folder)
    rows: list[dict[str, Any]] = []
    asked = [one for one in contenders(pipeline, max(lengths)) if not only or one.model.partition(",")[0] in only]
    whole = next(found for found in (one.start(1) for one in asked) if isinstance(found, Predictor))
    texts = {length: _texts(whole, prepared, length) for length in {*lengths, USUAL_TOKENS}}
    tokeniser = [_tokeniser(whole, texts[length], length) for length in lengths]
    for one in progress(asked, "timing models", len(asked)):
        rows.append(_row(one, texts, prepared, pipeline.project.config, lengths, batches, threads, price, quick))
    return {"processor": processor()[1], "tokeniser": tokeniser, "rows": rows}


def _row(
    one: Contender,
    texts: dict[int, list[str]],
    prepared: Prepared,
    config: Config,
    lengths: Sequence[int],
    batches: Sequence[int],
    threads: Sequence[int],
    price: float,
    quick: bool,
) -> dict[str, Any]:
    timings = []
    for count in threads:
        ready = one.start(count)
        for length in lengths:
            for batch in batches:
                groups = [texts[length][at : at + batch] for at in range(0, DIFFERENT - batch + 1, batch)]
                found = time_calls(ready.predict, groups, QUICK_SECONDS if quick else SECONDS)
                seconds, cost = cost_of_a_million(found.texts_a_second, count, price)
                about = {"tokens": length, "batch": batch, "threads": count}
                timings.append(about | found.as_dict() | {"cpu_seconds_a_million": seconds, "cost_a_million": cost})
    parts = {"judging": prepared.dev_half(JUDGING)} | ({"test": prepared.test} if prepared.test and not quick else {})
    row: dict[str, Any] = {
        "model": one.model,
        "form": one.form,
        **{f"{name}_macro_f1": one.measured.get(name) or _macro_f1(one, part, config) for name, part in parts.items()},
        "bytes": one.bytes,
        "parameters": one.parameters,
        "multiply_adds": one.multiply_adds(USUAL_TOKENS) if one.multiply_adds else None,
        "timings": timings,
    }
    if one.bundle is not None:
        told = serving_process(one.bundle, (texts[USUAL_TOKENS] * SERVED)[:SERVED])
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
