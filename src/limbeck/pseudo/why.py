"""Why a row of the pool is, or isn't, among what students learn from."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow.parquet as pq

from limbeck.config import Config
from limbeck.data.dataset import Dataset
from limbeck.data.prepare import Prepared
from limbeck.pseudo.buckets import JUDGES, Bucket, Gathered, Ints, bucket_file
from limbeck.pseudo.confidence import Judged
from limbeck.pseudo.guesses import PoolScores
from limbeck.pseudo.select import Sieve, load_sieve
from limbeck.pseudo.thin import near_to
from limbeck.scorer import Floats

Verdict = Literal[
    "missing", "empty", "judge", "near copy", "labelled", "unknown", "uncertain", "capped", "not drawn", "kept"
]


@dataclass(frozen=True)
class Answer:
    """What is guessed of one category, and whether that counts."""

    category: str
    probability: float | None
    threshold: float | None
    confidence: float | None
    needed: float | None
    verdict: str


@dataclass(frozen=True)
class Story:
    """What became of a row: a verdict for programs, a sentence for people, and the guesses behind it.

    `same_as` is the first row with the same text, if that is another one; `near_to` the row with almost the same text
    that stays instead. The rest is then that row's story.
    """

    row: int
    verdict: Verdict
    sentence: str
    text: str | None = None
    same_as: int | None = None
    near_to: int | None = None
    answers: tuple[Answer, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Give plain values for JSON."""
        return asdict(self)


def explain(row: int, folders: Mapping[str, Path], config: Config) -> Story:
    """Tell a row's story from the finished steps data, pool, pseudo, select, teach and perhaps calibrate."""
    gathered = Gathered.load(folders["pool"])
    if not 0 <= row < gathered.rows_read:
        last = f"{gathered.rows_read - 1:,}"
        return Story(row, "missing", f"The pool has no row {row:,}: its rows are numbered from 0 to {last}.")
    if near := near_to(folders["pool"], row):
        first, likeness, text = near
        told = explain(first, folders, config)
        sentence = (
            f"Left out: a near copy of row {first:,} ({likeness:.2f} of both is alike), and data.near_duplicates keeps "
            f"the first. Row {first:,}: {told.sentence}"
        )
        return replace(told, row=row, verdict="near copy", sentence=sentence, text=text, near_to=first)
    for number in range(len(gathered.buckets)):
        bucket = Bucket(bucket_file(folders["pool"], number))
        every, starts = bucket.rows
        [found] = np.nonzero(every == row)
        if len(found):
            place = int(np.searchsorted(starts, found[0], side="right")) - 1
            return _of_text(row, number, place, folders, config)
    if row in pq.read_table(folders["pool"] / JUDGES).column("row").to_numpy():
        return Story(row, "judge", "Left out: its text also stands in dev or test, which must stay unseen.")
    return Story(row, "empty", "Left out: nothing is left of its text after cleaning.")


def _of_text(row: int, number: int, place: int, folders: Mapping[str, Path], config: Config) -> Story:
    scores = PoolScores.load(folders["pool"], folders["pseudo"], folders["teach"], folders.get("calibrate"))
    sieve = load_sieve(folders["select"], config, scores.one_class)
    bucket, proba = scores.of_bucket(number)
    mine = proba[[place]]
    judged = sieve.rule.judge(mine)
    answers = _answers(scores.labels, mine[0], judged, sieve)
    first, text = int(bucket.row[place]), bucket.texts[place]
    if bucket.train_row[place] >= 0:
        train = Prepared.load(folders["data"]).train
        story = _of_training_row(first, int(bucket.train_row[place]), train, answers, config)
    else:
        verdict, sentence = _verdict(bucket.row[[place]], judged, answers, sieve)
        story = Story(first, verdict, sentence, answers=answers)
    if row == first:
        return replace(story, text=text)
    sentence = f"It has the same text as row {first:,}, and each text counts once. Row {first:,}: {story.sentence}"
    return replace(story, row=row, text=text, same_as=first, sentence=sentence)


def _answers(labels: tuple[str, ...], proba: Floats, judged: Judged, sieve: Sieve) -> tuple[Answer, ...]:
    found = []
    for column, label in enumerate(labels):
        verdict = "unknown"
        if judged.known[0, column]:
            guess = "yes" if judged.yes[0, column] else "no"
            verdict = guess if judged.certain[0, column] else f"{guess}, uncertain"
        found.append(
            Answer(
                category=label,
                probability=_plain(proba[column]),
                threshold=None if sieve.rule.one_class else _plain(sieve.rule.thresholds[column]),
                confidence=_plain(judged.confidence[0, column]),
                needed=_plain(judged.needed[0, column]),
                verdict=verdict,
            )
        )
    return tuple(found)


def _verdict(row: Ints, judged: Judged, answers: tuple[Answer, ...], sieve: Sieve) -> tuple[Verdict, str]:
    """Say which of the sieve's holes a text fell through, if any."""
    if not judged.known.any():
        return "unknown", "Left out: there is no model that can say anything about it."
    if not sieve.rule.stays(judged)[0]:
        if sieve.rule.one_class:
            return "uncertain", "Left out: its most probable class is not certain enough."
        if not sieve.rule.leave_out:
            return "uncertain", "Left out: none of its guesses is certain enough."
        names = [answer.category for answer in answers if answer.verdict.endswith("uncertain")]
        return "uncertain", f"Left out: {_listed(names)} {'is' if len(names) == 1 else 'are'} uncertain."
    if not sieve.under_cap(row, judged)[0]:
        return "capped", "Left out: it has no category, and pseudo.empty limits how many such texts stay."
    if not sieve.has_room(row, judged)[0]:
        return "capped", "Left out: its categories' parents have texts enough, which pseudo.parent_rows limits."
    if not sieve.drawn(row)[0]:
        return "not drawn", "Left out: it is certain enough, but not among the pseudo.rows texts that were drawn."
    unsure = sum(answer.verdict.endswith("uncertain") for answer in answers)
    return "kept", "Kept." if not unsure else f"Kept, with {unsure} uncertain categories as unknown."


def _of_training_row(row: int, place: int, train: Dataset, answers: tuple[Answer, ...], config: Config) -> Story:
    """Tell what a labelled row teaches: its labels, and guesses about what it says nothing about."""
    told = []
    for answer, label in zip(answers, train.labels[place], strict=True):
        if not math.isnan(label):
            told.append(replace(answer, verdict=f"labelled {'yes' if label else 'no'}"))
        elif not config.pseudo.fill_labelled and answer.verdict != "unknown":
            told.append(replace(answer, verdict=f"{answer.verdict}; not filled in"))
        else:
            told.append(answer)
    where = train.place(place)
    sentence = (
        f"It is a labelled row{f' ({where})' if where else ''}: its labels are used, and guesses about it are those "
        "of models that didn't learn it."
    )
    return Story(row, "labelled", sentence, answers=tuple(told))


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _plain(value: np.floating[Any]) -> float | None:
    return None if np.isnan(value) else float(value)
