"""Timing taggers side by side: the teacher and students in torch, and their bundles."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import torch

from limbeck.bench.cases import DIFFERENT, TURNS, Case, told_of
from limbeck.bench.compare import Compared, own_models
from limbeck.bench.efficiency import sample_calls
from limbeck.data.sentences import Sentence
from limbeck.data.splits import JUDGING
from limbeck.data.tagged import PreparedSentences
from limbeck.errors import RunError
from limbeck.measure.entities import evaluate_entities
from limbeck.measure.taggers import load_measured_taggers
from limbeck.pipeline import Pipeline
from limbeck.progress import progress
from limbeck.runtime.processor import processor


def bench_taggers(
    pipeline: Pipeline, cases: Sequence[Case], price: float, only: Sequence[str], seconds: float
) -> dict[str, Any]:
    """Time every tagger in each case; rows are like those of classifiers."""
    folder, measure = pipeline.folder("data"), pipeline.folder("measure")
    if folder is None or measure is None or pipeline.folder("compress") is None:
        raise RunError("The taggers of these files and settings aren't all made yet.", "Run: limbeck run")
    prepared = PreparedSentences.load(folder)
    judging = prepared.dev_half(JUDGING)
    measured = {
        name: told["figures"]["judging"]["exact"]["f1"] for name, told in load_measured_taggers(measure).items()
    }
    by_threads = sorted(cases, key=lambda case: case.threads)
    taken: dict[tuple[str, Case], list[float]] = {}
    found: dict[str, Compared] = {}
    batches = {case: _batches(prepared.dev, case) for case in by_threads}
    for threads, some in itertools.groupby(by_threads, key=lambda case: case.threads):
        torch.set_num_threads(threads)
        models = {name: start() for name, start in own_models(pipeline, threads).items()}
        found = {
            name: one for name, one in models.items() if not only or name.partition("-")[2] in only or name in only
        }
        turns = list(itertools.product(range(TURNS), found, some))
        for _, name, case in progress(turns, "timing models in turns", len(turns)):
            taken.setdefault((name, case), []).extend(sample_calls(found[name].answer, batches[case], seconds, TURNS))
    rows = [
        {
            "model": name.partition("-")[2] or name,
            "form": one.form,
            "judging_macro_f1": _f1(name, one, measured, judging, prepared.types),
            "bytes": one.bytes,
            "parameters": None,
            "timings": [told_of(case, taken[name, case], batches[case], price) for case in by_threads],
        }
        for name, one in found.items()
    ]
    return {"processor": processor()[1], "tokeniser": [], "rows": rows}


def _f1(name: str, one: Compared, measured: dict[str, float], judging: list[Sentence], types: Sequence[str]) -> float:
    known = next(
        (f1 for told, f1 in measured.items() if told == name or (name == "teacher" and "teacher-" in told)), None
    )
    if known is not None:
        return float(known)
    spans = one.answer([sentence.text for sentence in judging])
    return evaluate_entities([sentence.spans() for sentence in judging], spans, types).exact.f1


def _batches(sentences: Sequence[Sentence], case: Case) -> list[list[str]]:
    """Make different texts of so many words out of those of real sentences."""
    words = itertools.cycle([word for sentence in sentences for word in sentence.tokens])
    texts = [" ".join(itertools.islice(words, case.tokens)) for _ in range(DIFFERENT)]
    return [texts[at : at + case.batch] for at in range(0, DIFFERENT - case.batch + 1, case.batch)]
