"""The worst mistakes, with their texts."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from limbeck.measure.entities import Outcome, align
from limbeck.report.blocks import Block, Picture, Remark, Section, Table
from limbeck.report.charts import Bar, Dot, Look, bars, dots
from limbeck.report.run import Run, Sentences, Texts

MOST, EACH, LONGEST = 24, 4, 280
KINDS = ((Look("student", "circle"), "missed"), (Look("teacher", "diamond"), "too many"))


def section(run: Run) -> Section:
    """Make the section."""
    title, about = "What goes wrong", f"{run.chosen.name} on {run.on}."
    if isinstance(run.judged, Texts):
        rows, counts = _of_texts(run, run.judged)
        head = ["text", "category", "truth", "answer", "probability"]
        told = [
            (name, [Dot(n, look, f"{what} {n}") for n, (look, what) in zip(some, KINDS, strict=True)])
            for name, some in counts.items()
        ]
        wrong = int(sum(n for some in counts.values() for n in some))
        picture = Picture(title, dots(title, told[:MOST], "wrong answers"), about, KINDS)
    else:
        rows, outcomes = _of_sentences(run, run.judged)
        head = ["text", "entity", "truth", "answer", "confidence"]
        wrong = outcomes.total()
        drawn = [Bar(name, count, f"{count:,}", colour="teacher") for name, count in outcomes.most_common()]
        picture = Picture(title, bars(title, drawn), about)
    blocks: list[Block] = [picture] if wrong else []
    if run.with_texts and rows:
        caption = f"Of {run.on}, at most {EACH} a {run.thing}; long texts are cut."
        blocks.append(Table("Surest and wrong", head, rows, caption, texts=True))
    elif not run.with_texts:
        blocks.append(Remark("Texts were left out of this report."))
    lead = f"{wrong:,} wrong answers in all. Many of the surest ones are labels that deserve a second look."
    return Section("mistakes", "Mistakes", lead, blocks)


def _of_texts(run: Run, judged: Texts) -> tuple[list[tuple[Any, ...]], dict[str, tuple[int, int]]]:
    truth, proba = judged.judged.labels, judged.proba[run.chosen.name]
    given = judged.decisions[run.chosen.name]
    limits = judged.thresholds[run.chosen.name]
    wrong = ~np.isnan(truth) & (given != (truth == 1))
    missed, spurious = (wrong & ~given).sum(axis=0), (wrong & given).sum(axis=0)
    # From 0 at the threshold to 1 at certainty, on either side of it.
    far = np.where(given, (proba - limits) / np.maximum(1e-6, 1 - limits), (limits - proba) / np.maximum(1e-6, limits))
    rows: list[tuple[Any, ...]] = []
    used = Counter[int]()
    for flat in np.argsort(-np.where(wrong, far, -1), axis=None)[: 20 * MOST]:
        row, column = divmod(int(flat), truth.shape[1])
        if not wrong[row, column] or len(rows) == MOST:
            break
        if used[column] < EACH:
            used[column] += 1
            text = _cut(judged.judged.texts[row])
            true, answer = ("yes" if told else "no" for told in (truth[row, column] == 1, given[row, column]))
            rows.append((text, run.titles[column], true, answer, f"{proba[row, column]:.2f}"))
    order = np.argsort(-(missed + spurious), kind="stable")
    return rows, {run.titles[at]: (int(missed[at]), int(spurious[at])) for at in order if missed[at] or spurious[at]}


def _of_sentences(run: Run, judged: Sentences) -> tuple[list[tuple[Any, ...]], Counter[str]]:
    counts, found, used = Counter[str](), [], Counter[str]()
    for sentence, spans in zip(judged.judged, judged.found[run.chosen.name], strict=True):
        for pair in align(sentence.spans(), spans):
            if pair.outcome is Outcome.RIGHT:
                continue
            counts[str(pair.outcome)] += 1
            span = pair.found or pair.truth
            assert span is not None
            sure = pair.found.confidence if pair.found else 0.0
            found.append((sure, sentence.text, span, pair))
    found.sort(key=lambda one: -one[0])
    rows: list[tuple[Any, ...]] = []
    for sure, text, span, pair in found:
        if len(rows) == MOST:
            break
        if used[span.type] < EACH:
            used[span.type] += 1
            true, answer = (_span(text, one) for one in (pair.truth, pair.found))
            rows.append((_cut(text), text[span.start : span.end], true, answer, f"{sure:.2f}" if pair.found else "–"))
    return rows, counts


def _span(text: str, span: Any) -> str:  # noqa: ANN401 - a span, or none
    return "nothing" if span is None else f"{text[span.start : span.end]} ({span.type})"


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else text[:LONGEST].rstrip() + " …"
