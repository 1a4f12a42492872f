"""Labels that may be wrong: teachers that didn't learn a row contradict it, and are sure of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from limbeck.annotate.asked import Question, Wanted
from limbeck.annotate.desk import Desk
from limbeck.annotate.store import Store
from limbeck.annotate.texts import NewText
from limbeck.config import Config
from limbeck.data.prepare import Prepared
from limbeck.data.tagged import PreparedSentences
from limbeck.errors import RunError
from limbeck.pipeline import Pipeline
from limbeck.runtime.confidence import confidence
from limbeck.teach.card import read_card

REVIEW = "review"
# Before anything that a strategy wants.
URGENCY = 1e6


@dataclass(frozen=True)
class Doubt:
    """A label that the teachers contradict: what the row says, what they say, and how sure they are.

    `category` is "" where the whole row is in doubt: its class, or its entities.
    """

    text: str
    category: str
    label: str
    guess: str
    confidence: float
    place: str


def doubts(pipeline: Pipeline, at_least: float) -> list[Doubt]:
    """Give the labels of training rows that are contradicted with a confidence of `at_least`, the surest first.

    Every row is judged by models that didn't see it. What annotators said is doubted like all else.
    """
    data, teach = pipeline.folder("data"), pipeline.folder("teach")
    if data is None or teach is None:
        raise RunError("The teacher is out of date or was never taught.", "Run: limbeck teach")
    config = pipeline.project.config
    if config.task == "ner":
        found = [*_sentences(data, teach, at_least)]
    else:
        found = [*_rows(Prepared.load(data), teach, config, pipeline.project.root, at_least)]
    return sorted(found, key=lambda doubt: -doubt.confidence)


def queue_doubts(store: Store, config: Config, found: Sequence[Doubt], categories: Sequence[str]) -> int:
    """Put doubts in the queues of the questions that they are about; answers then go before what the files say."""
    for category in sorted({doubt.category for doubt in found}):
        mine = [doubt for doubt in found if doubt.category == category]
        mode = {"ner": "spans", "multiclass": "class"}.get(config.task, "binary")
        question = Question(mode, (category,) if mode == "binary" else tuple(categories))  # type: ignore[arg-type]
        wanted = [Wanted(NewText(doubt.text, REVIEW, REVIEW), URGENCY + doubt.confidence) for doubt in mine]
        Desk(store, question).queue(wanted)
    return len(found)


def _rows(prepared: Prepared, teach: Path, config: Config, root: Path, at_least: float) -> Iterator[Doubt]:
    train = prepared.train
    proba = np.load(teach / "out_of_fold.npy", allow_pickle=False)
    if config.task == "multiclass":
        best, said = np.nan_to_num(proba, nan=-1).argmax(axis=1), np.nan_to_num(train.labels).argmax(axis=1)
        for row in np.flatnonzero((best != said) & (np.nan_to_num(proba).max(axis=1) >= at_least)):
            names = train.names[said[row]], train.names[best[row]]
            yield Doubt(train.texts[row], "", *names, float(proba[row, best[row]]), str(train.place(int(row)) or ""))
        return
    thresholds = read_card(teach, root)[0].thresholds
    sure = confidence(proba, thresholds)
    guess = (proba >= thresholds).astype(np.float32)
    wrong = ~np.isnan(train.strong) & ~np.isnan(proba) & (guess != train.labels) & (sure >= at_least)
    for row, column in np.argwhere(wrong):
        answers = ["yes" if value else "no" for value in (train.labels[row, column], guess[row, column])]
        name, place = train.names[column], str(train.place(int(row)) or "")
        yield Doubt(train.texts[row], name, answers[0], answers[1], float(sure[row, column]), place)


def _sentences(data: Path, teach: Path, at_least: float) -> Iterator[Doubt]:
    """Give sentences with a word whose tag is contradicted; the surest word counts."""
    from limbeck.tagging.teach import load_scores

    prepared = PreparedSentences.load(data)
    tags = ["O", *(f"{side}-{kind}" for kind in prepared.types for side in "BI")]
    for sentence, scores in zip(prepared.train, load_scores(teach / "out_of_fold.npz"), strict=True):
        if not len(scores):
            continue
        proba = np.exp(scores.astype(np.float64))
        best = proba.argmax(axis=1)
        wrong = [n for n, tag in enumerate(sentence.tags[: len(best)]) if tags[best[n]] != tag]
        surest = max(wrong, key=lambda n: proba[n, best[n]], default=None)
        if surest is not None and proba[surest, best[surest]] >= at_least:
            word = sentence.tokens[surest]
            label, guess = f"{word}: {sentence.tags[surest]}", f"{word}: {tags[best[surest]]}"
            yield Doubt(sentence.text, "", label, guess, float(proba[surest, best[surest]]), f"line {sentence.line}")
