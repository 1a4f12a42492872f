"""Choosing what students learn from: guesses that are certain enough, and not too many texts without any category."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from limbeck.config import Config, PseudoSettings
from limbeck.data.parents import families
from limbeck.data.prepare import Prepared
from limbeck.data.splits import TUNING
from limbeck.errors import TooFewRows
from limbeck.measure import choose_thresholds
from limbeck.pseudo.buckets import Bucket, Ints, label_columns, label_schema
from limbeck.pseudo.confidence import Bools, Judged, Rule
from limbeck.pseudo.draw import rank_limit, ranks
from limbeck.pseudo.guesses import PoolScores
from limbeck.pseudo.survey import Survey
from limbeck.runtime.confidence import Doubles
from limbeck.scorer import Floats

SELECTED = "selected.parquet"
LABELLED = "labelled.npy"
SELECTION = "selection.json"
THRESHOLDS = "thresholds.json"


@dataclass(frozen=True)
class Sieve:
    """Which texts stay: those that the rule finds certain, and of them those with a rank below the limits.

    `empty` limits texts without any category, `parents` those of each parent's categories (by their places), `rows` all
    texts; None is no limit.
    """

    rule: Rule
    seed: int
    empty: int | None = None
    parents: tuple[tuple[tuple[int, ...], int | None], ...] = ()
    rows: int | None = None

    def has_some(self, judged: Judged) -> Bools:
        """Say which texts have a category that they can teach."""
        return np.asarray((judged.yes & judged.certain).any(axis=1), dtype=np.bool_)

    def under_cap(self, row: Ints, judged: Judged) -> Bools:
        """Say which texts are not too many among those without a category."""
        if self.empty is None:
            return np.ones(len(row), dtype=np.bool_)
        return self.has_some(judged) | (ranks(row, self.seed, "empty") < np.uint64(self.empty))

    def has_room(self, row: Ints, judged: Judged) -> Bools:
        """Say which texts have no parent that is limited, or one of whose texts they are not too many."""
        under = np.zeros(len(row), dtype=np.bool_)
        some = np.zeros(len(row), dtype=np.bool_)
        for places, limit in self.parents:
            mine = self.of_parent(places, judged)
            some |= mine
            under |= mine if limit is None else mine & (ranks(row, self.seed, "parent") < np.uint64(limit))
        return under | ~some

    def of_parent(self, places: Sequence[int], judged: Judged) -> Bools:
        """Say which texts have one of these categories."""
        columns = list(places)
        return np.asarray((judged.yes[:, columns] & judged.certain[:, columns]).any(axis=1), dtype=np.bool_)

    def drawn(self, row: Ints) -> Bools:
        """Say which texts are among the number that is wanted."""
        if self.rows is None:
            return np.ones(len(row), dtype=np.bool_)
        return ranks(row, self.seed, "rows") < np.uint64(self.rows)

    def keeps(self, row: Ints, judged: Judged) -> Bools:
        """Say which texts stay."""
        stays = self.rule.stays(judged) & self.under_cap(row, judged)
        return stays & self.has_room(row, judged) & self.drawn(row)


def select(scores: PoolScores, prepared: Prepared, config: Config, folder: Path) -> dict[str, float]:
    """Write the kept texts, the guesses about labelled rows, thresholds and what the selection looks like."""
    labels = scores.labels
    thresholds = tuned_thresholds(scores, prepared, config)
    rule = Rule.of(config.pseudo, labels, thresholds, scores.one_class)
    sieve, survey = Sieve(rule, config.seed), Survey(labels)
    for texts in _unlabelled(scores, rule):
        survey.see(texts.proba, texts.judged, rule.stays(texts.judged) & sieve.has_some(texts.judged))
    grouped = families(config.data.parents, labels) if config.pseudo.parent_rows else {}
    sieve = _limited(sieve, scores, config.pseudo, survey.with_some, grouped)
    _write(folder / SELECTED, scores, sieve, survey)
    if not survey.kept:
        raise _nothing(survey, config.pseudo)
    guessed = _certain(scores, rule) if config.pseudo.fill_labelled else np.full_like(scores.labelled, np.nan)
    np.save(folder / LABELLED, guessed)
    sizes = {
        "texts": survey.texts,
        "kept": survey.kept,
        "labelled_rows": len(guessed),
        "filled": int((~np.isnan(guessed) & np.isnan(prepared.train.labels)).sum()),
    }
    of_parents = [limit for _, limit in sieve.parents]
    limits = {"empty": sieve.empty, "parents": dict(zip(grouped, of_parents, strict=True)), "rows": sieve.rows}
    _write_json(folder / SELECTION, {"sizes": sizes, "limits": limits, **survey.as_dict(thresholds)})
    _write_json(folder / THRESHOLDS, {"labels": labels, "thresholds": thresholds.tolist()})
    return {name: float(size) for name, size in sizes.items()}


def tuned_thresholds(scores: PoolScores, prepared: Prepared, config: Config) -> Doubles:
    """Tune on dev's tuning half; 0.5 for labels without a model, and for all if one class is right."""
    halves = np.full(len(scores.labels), 0.5)
    if scores.one_class:
        return halves
    how, least = config.measure.thresholds, config.measure.min_positives
    found = choose_thresholds(prepared.dev_half(TUNING).labels, scores.tuning, how, least)
    return np.where([label in scores.unknown for label in scores.labels], halves, found)


def load_sieve(folder: Path, config: Config, one_class: bool) -> Sieve:
    """Read what a finished selection used."""
    limits = json.loads((folder / SELECTION).read_text(encoding="utf-8"))["limits"]
    told = json.loads((folder / THRESHOLDS).read_text(encoding="utf-8"))
    rule = Rule.of(config.pseudo, told["labels"], np.array(told["thresholds"]), one_class)
    grouped = families(config.data.parents, told["labels"])
    parents = tuple((tuple(grouped[name]), limit) for name, limit in limits["parents"].items())
    return Sieve(rule, config.seed, limits["empty"], parents, limits["rows"])


@dataclass(frozen=True)
class _Texts:
    """The texts of a bucket that are no training rows."""

    bucket: Bucket
    places: NDArray[np.intp]
    proba: Floats
    judged: Judged

    @property
    def row(self) -> Ints:
        return self.bucket.row[self.places]


def _unlabelled(scores: PoolScores, rule: Rule) -> Iterator[_Texts]:
    for bucket, proba in scores:
        places = np.flatnonzero(bucket.train_row < 0)
        yield _Texts(bucket, places, proba[places], rule.judge(proba[places]))


def _limited(
    sieve: Sieve, scores: PoolScores, settings: PseudoSettings, with_some: int, grouped: Mapping[str, list[int]]
) -> Sieve:
    """Find the limits that the settings ask for."""

    def ranks_of(purpose: str, empty_only: bool) -> Iterator[NDArray[np.uint64]]:
        for texts in _unlabelled(scores, sieve.rule):
            kept = sieve.keeps(texts.row, texts.judged)
            if empty_only:
                kept &= ~sieve.has_some(texts.judged)
            yield ranks(texts.row[kept], sieve.seed, purpose)

    if settings.empty:
        most = int(settings.empty * with_some + 1e-9)
        sieve = replace(sieve, empty=rank_limit(lambda: ranks_of("empty", empty_only=True), most))
    if grouped:
        sieve = replace(sieve, parents=_parent_limits(sieve, scores, settings.parent_rows, grouped))
    if settings.rows:
        sieve = replace(sieve, rows=rank_limit(lambda: ranks_of("rows", empty_only=False), settings.rows))
    return sieve


def _parent_limits(
    sieve: Sieve, scores: PoolScores, wanted: int, grouped: Mapping[str, list[int]]
) -> tuple[tuple[tuple[int, ...], int | None], ...]:
    """Find the rank below which each parent has as many texts as are wanted, in one pass for all of them."""
    met: dict[str, list[NDArray[np.uint64]]] = {name: [] for name in grouped}
    for texts in _unlabelled(scores, sieve.rule):
        kept = sieve.keeps(texts.row, texts.judged)
        given = ranks(texts.row, sieve.seed, "parent")
        for name, places in grouped.items():
            met[name].append(given[kept & sieve.of_parent(places, texts.judged)])
    found = []
    for name, places in grouped.items():
        every = np.concatenate(met[name])
        limit = int(np.partition(every, wanted)[wanted]) if len(every) > wanted else None
        found.append((tuple(places), limit))
    return tuple(found)


def _write(file: Path, scores: PoolScores, sieve: Sieve, survey: Survey) -> None:
    """Write the kept texts bucket by bucket, and let the survey count them."""
    plain = [("row", pa.int64()), ("count", pa.int32()), ("text", pa.string()), ("source", pa.string())]
    schema = pa.schema([*plain, *label_schema(scores.labels)])
    with pq.ParquetWriter(file, schema) as writer:
        for texts in _unlabelled(scores, sieve.rule):
            kept = np.flatnonzero(sieve.keeps(texts.row, texts.judged))
            if not len(kept):
                continue
            bucket, places, certain = texts.bucket, texts.places[kept], texts.judged.certain[kept]
            survey.keep(texts.judged.yes[kept], certain)
            columns = {
                "row": pa.array(bucket.row[places]),
                "count": pa.array(bucket.counts[places].astype(np.int32)),
                "text": pa.array([bucket.texts[place] for place in places], pa.string()),
                "source": pa.array([bucket.sources[place] for place in places], pa.string()),
                **label_columns(scores.labels, np.where(certain, texts.proba[kept], np.float32(np.nan))),
            }
            writer.write_table(pa.table(columns, schema=schema))


def _certain(scores: PoolScores, rule: Rule) -> Floats:
    """Give the certain guesses about training rows, NaN elsewhere."""
    guesses = scores.labelled
    return np.where(rule.judge(guesses).certain, guesses, np.float32(np.nan))


def _nothing(survey: Survey, settings: PseudoSettings) -> TooFewRows:
    """Say why no text is kept, and what would keep some."""
    if not survey.texts:
        return TooFewRows("Every text of the pool is a labelled row already.", "Add texts to the pool.")
    highest = survey.highest_of_all if settings.uncertain == "leave-out" else survey.highest_of_any
    if highest == 0:
        return TooFewRows("No model can say anything about the pool's texts.", "Label more rows, and teach again.")
    if settings.empty and not survey.with_some:
        return TooFewRows(
            "No text of the pool has a category that is certain, and pseudo.empty allows others only beside such.",
            "Set pseudo.empty = 0, or lower pseudo.confidence.",
        )
    reached = np.floor(highest * 100) / 100
    # Of many classes the most probable may have less than 0.5, which pseudo.confidence can't be.
    named = ["confidence"] if reached >= 0.5 else ["positive_confidence"]
    named += [n for n in ("positive_confidence", "negative_confidence", "categories") if getattr(settings, n)]
    return TooFewRows(
        f"None of the pool's {survey.texts:,} texts is certain enough; the highest confidence at which one stays is "
        f"{reached:.2f}, and pseudo.confidence is {settings.confidence}.",
        f"Set {' and '.join(f'pseudo.{name}' for name in dict.fromkeys(named))} to {reached:.2f} or less"
        + (', or pseudo.uncertain = "unknown".' if settings.uncertain == "leave-out" else "."),
    )


def _write_json(file: Path, value: Any) -> None:  # noqa: ANN401 - any plain value
    file.write_text(json.dumps(value, indent=1, ensure_ascii=False), encoding="utf-8")
