"""What was labelled: how many rows a category has, and the words that tell it from the rest."""

from __future__ import annotations

from collections import Counter

import numpy as np

from limbeck.report.blocks import Block, Picture, Section
from limbeck.report.charts import Bar, bars
from limbeck.report.run import Run, Sentences, Texts
from limbeck.report.sections.quality import MOST
from limbeck.report.words import telling_words

WORDS, PICTURES = 8, 12


def section(run: Run) -> Section:
    """Make the section."""
    judged = run.judged
    blocks, lead = _of_texts(run, judged) if isinstance(judged, Texts) else _of_sentences(run, judged)
    return Section("labels", "What it learnt from", lead, blocks)


def _of_texts(run: Run, judged: Texts) -> tuple[list[Block], str]:
    train = judged.prepared.train
    yes, known = (train.labels == 1).sum(axis=0), (~np.isnan(train.labels)).sum(axis=0)
    order = np.argsort(-yes, kind="stable")[:MOST]
    rows = [Bar(run.titles[at], int(yes[at]), f"{yes[at]:,} of {known[at]:,}", colour="teacher") for at in order]
    told = order[:PICTURES]
    found = telling_words(train.texts, [np.flatnonzero(train.labels[:, at] == 1).tolist() for at in told], WORDS)
    small = [
        bars(run.titles[at], [Bar(one.word, one.share, f"{one.share:.0%}", colour="student") for one in some])
        for at, some in zip(told, found, strict=True)
        if some
    ]
    blocks: list[Block] = [
        Picture("Labels by category", bars("Labels by category", rows), "Yes, of all rows that somebody looked at.")
    ]
    blocks += [
        Picture(f"Words of {run.titles[at]}", svg, "Share of its texts that have the word.")
        for at, svg in zip((at for at, some in zip(told, found, strict=True) if some), small, strict=True)
    ]
    share = known.sum() / max(1, train.labels.size)
    lead = (
        f"{len(train):,} rows with labels of {len(run.labels)} categories; {share:.0%} of all cells are known. "
        "Words: those that a category has more often than the rest has, by their log-odds."
    )
    return blocks, lead


def _of_sentences(run: Run, judged: Sentences) -> tuple[list[Block], str]:
    train = judged.prepared.train
    found: dict[str, Counter[str]] = {kind: Counter() for kind in run.labels}
    for sentence in train:
        for span in sentence.spans():
            found[span.type][sentence.text[span.start : span.end]] += 1
    rows = [
        Bar(title, found[kind].total(), f"{found[kind].total():,}", colour="teacher")
        for kind, title in zip(run.labels, run.titles, strict=True)
    ]
    blocks: list[Block] = [Picture("Entities by type", bars("Entities by type", rows), "In the training sentences.")]
    for kind, title in list(zip(run.labels, run.titles, strict=True))[:PICTURES]:
        common = found[kind].most_common(WORDS)
        if common and run.with_texts:
            told = [Bar(name, count, f"{count:,}", colour="student") for name, count in common]
            blocks.append(Picture(f"Frequent: {title}", bars(f"Frequent: {title}", told), "Times it is tagged."))
    lengths = [len(sentence.tokens) for sentence in train]
    lead = (
        f"{len(train):,} sentences of {np.mean(lengths):.0f} words on average, with "
        f"{sum(found[kind].total() for kind in run.labels):,} entities of {len(run.labels)} types."
    )
    return blocks, lead
