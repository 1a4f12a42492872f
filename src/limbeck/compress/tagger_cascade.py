"""Putting two taggers into one bundle: below which sureness the larger one tags a text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from limbeck.compress.cascade import SHARES, Joined, Step, check_pair, joined, limit_below, times_of
from limbeck.compress.taggers import f1_of
from limbeck.data.sentences import Sentence
from limbeck.data.splits import JUDGING
from limbeck.data.tagged import PreparedSentences
from limbeck.measure.entities import exact_counts
from limbeck.runtime.bundle import Bundle
from limbeck.runtime.load import tagger
from limbeck.runtime.tagger import EntityPredictor
from limbeck.runtime.tagger_cascade import sureness


def join_taggers(small: Bundle, larger: Bundle, sentences: Sequence[Sentence]) -> Joined:
    """Fit the limit on tagged sentences, as `join` does on labelled texts."""
    check_pair(small.manifest, larger.manifest)
    texts, truth = [one.text for one in sentences], [one.spans() for one in sentences]
    fast, slow = EntityPredictor(small), EntityPredictor(larger)
    sure = np.array([sureness(text) for text in fast.seen(texts)], dtype=np.float32)
    mine, theirs = (exact_counts(truth, model.tag(texts)) for model in (fast, slow))
    steps = []
    for share in SHARES:
        limit = limit_below(sure, share)
        passed_on = sure < limit
        counts = np.where(passed_on[:, None], theirs, mine)
        steps.append(Step(limit, float(passed_on.mean()), f1_of(counts)))
    return joined(small, larger, steps)


def compared_taggers(bundles: Mapping[str, Bundle], prepared: PreparedSentences) -> list[dict[str, object]]:
    """Give F1 over all entities on dev's judging half and on test, and the times of an answer, of each bundle."""
    parts = {"judging": prepared.dev_half(JUDGING)} | ({"test": prepared.test} if prepared.test else {})
    rows = []
    for name, bundle in bundles.items():
        model = tagger(bundle)
        told: dict[str, object] = {"model": name}
        for part, sentences in parts.items():
            found = model.tag([one.text for one in sentences])
            told[f"F1, {part}"] = f1_of(exact_counts([one.spans() for one in sentences], found))
        rows.append(told | times_of(model, [one.text for one in parts["judging"]]))
    return rows
