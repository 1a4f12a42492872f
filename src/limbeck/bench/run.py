"""Timing the contenders side by side."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from limbeck.bench.cases import DIFFERENT, PRICE, TURNS, Case, told_of
from limbeck.bench.contenders import Contender, contenders
from limbeck.bench.efficiency import SECONDS, sample_calls, texts_of_length, timing_of
from limbeck.bench.taggers import bench_taggers
from limbeck.config import Config
from limbeck.data.dataset import Dataset
from limbeck.data.prepare import Prepared
from limbeck.data.splits import JUDGING
from limbeck.errors import RunError
from limbeck.measure import decide, decide_classes
from limbeck.measure.bootstrap import bootstrap_interval
from limbeck.pipeline import Pipeline
from limbeck.progress import progress
from limbeck.runtime.predictor import Predictor
from limbeck.runtime.processor import processor
from limbeck.store import write_atomically

# Texts that a process which only serves has to answer, and how long they are.
SERVED, USUAL_TOKENS = 1000, 40
FILE_NAME = "bench.json"
# What a report shows: tokens of short, usual and long texts, words of sentences, and seconds a case at most.
TOKENS, WORDS, REPORTED_SECONDS = (20, 40, 128), (10, 20, 40), 1.5
NEEDED = ("data", "teach", "distill", "measure", "compress")


def bench(
    pipeline: Pipeline,
    cases: Sequence[Case],
    price: float,
    only: Sequence[str] = (),
    seconds: float = SECONDS,
    quick: bool = False,
    watch: bool = True,
) -> dict[str, Any]:
    """Time every model in every form, in each case for about so many seconds at most.

    With `quick`, nothing is tried on test, and only of bundles a process is watched that does nothing but answer;
    without `watch`, of none.
    """
    if pipeline.project.config.task == "ner":
        return {**bench_taggers(pipeline, cases, price, only, seconds), "compress": _compressed(pipeline)}
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
    parts = {"judging": prepared.dev_half(JUDGING)} | ({"test": prepared.test} if prepared.test and not quick else {})
    timings, tokeniser = _in_turns(asked, whole, cases, texts, price, seconds)
    rows = [
        _about(one, texts[USUAL_TOKENS], parts, config, quick, watch) | {"timings": told}
        for one, told in zip(progress(asked, "measuring models", len(asked)), timings, strict=True)
    ]
    told = {"processor": processor()[1], "tokeniser": tokeniser, "rows": rows}
    return told | {"compress": _compressed(pipeline)}


def bench_for_report(pipeline: Pipeline) -> dict[str, Any] | None:
    """Time one text at a time, short, usual and long ones, and keep the figures beside the run's results.

    None for a project without a teacher and students: there is nothing to compare.
    """
    if not {*NEEDED} <= {step.name for step in pipeline.steps}:
        return None
    lengths = WORDS if pipeline.project.config.task == "ner" else TOKENS
    cases = [Case(length, 1, 1) for length in lengths]
    found = bench(pipeline, cases, PRICE, seconds=REPORTED_SECONDS, quick=True, watch=False)
    keep(pipeline, found)
    return found


def keep(pipeline: Pipeline, found: dict[str, Any]) -> Path:
    """Write figures where the report finds them."""
    file = pipeline.project.workdir / FILE_NAME
    write_atomically(file, json.dumps(found, indent=1))
    return file


def kept(pipeline: Pipeline) -> dict[str, Any] | None:
    """Give the figures that were kept of the project's present bundles."""
    file = pipeline.project.workdir / FILE_NAME
    if not file.exists():
        return None
    told: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return told if told.get("compress") == _compressed(pipeline) else None


def _compressed(pipeline: Pipeline) -> str | None:
    """Give the key of the bundles that were timed."""
    folder = pipeline.folder("compress")
    return folder.name if folder is not None else None


def _in_turns(
    asked: Sequence[Contender],
    whole: Predictor,
    cases: Sequence[Case],
    texts: dict[int, list[str]],
    price: float,
    seconds: float,
) -> tuple[list[list[dict[str, Any]]], list[dict[str, Any]]]:
    """Time each model in each case, and the tokenizers library alone: the least that any usual model costs."""
    groups = {
        case: [texts[case.tokens][at : at + case.batch] for at in range(0, DIFFERENT - case.batch + 1, case.batch)]
        for case in cases
    }
    encode = whole.tokeniser.tokenizer.encode
    by_threads = sorted(cases, key=lambda case: case.threads)
    taken: dict[tuple[int, Case], list[float]] = {(at, case): [] for at in range(len(asked)) for case in cases}
    alone: dict[int, list[float]] = {case.tokens: [] for case in cases}
    for turn in progress(range(TURNS * len(asked)), "timing models in turns", TURNS * len(asked)):
        at = turn % len(asked)
        if at == 0:
            for length, found in alone.items():
                single = [[text] for text in texts[length]]
                found += sample_calls(lambda batch: encode(batch[0]).ids, single, seconds, TURNS)
        for threads, some in groupby(by_threads, key=lambda case: case.threads):
            ready = asked[at].start(threads)
            for case in some:
                # Other texts than in the turn before.
                shift = turn // len(asked) * len(groups[case]) // TURNS
                shown = groups[case][shift:] + groups[case][:shift]
                taken[at, case] += sample_calls(ready.predict, shown, seconds, TURNS)
    tokeniser = [
        {
            "tokens": length,
            "mean_tokens": float(np.mean([len(encode(text).ids) for text in texts[length]])),
            **timing_of(found, [[""]]).as_dict(),
        }
        for length, found in alone.items()
    ]
    rows = [[told_of(case, taken[at, case], groups[case], price) for case in by_threads] for at in range(len(asked))]
    return rows, tokeniser


def _about(
    one: Contender, texts: list[str], parts: dict[str, Dataset], config: Config, quick: bool, watch: bool
) -> dict[str, Any]:
    """Say how good a model is, how large, and what a process needs that only serves it."""
    row: dict[str, Any] = {
        "model": one.model,
        "form": one.form,
        **{f"{name}_macro_f1": one.measured.get(name) or _macro_f1(one, part, config) for name, part in parts.items()},
        "bytes": one.bytes,
        "parameters": one.parameters,
        "multiply_adds": one.multiply_adds(USUAL_TOKENS) if one.multiply_adds else None,
    }
    told = one.serving((texts * SERVED)[:SERVED]) if watch and (one.served or not quick) else None
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
