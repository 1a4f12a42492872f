"""What a scorer guesses of the pool and of the training rows, calibrated and in one order of labels."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from limbeck.measure.scaling import Calibration
from limbeck.pseudo.buckets import Bucket, bucket_file, bucket_name, read_labels
from limbeck.pseudo.draw import Ranks, rank_limit, ranks
from limbeck.pseudo.scores import FILE_NAME
from limbeck.scorer import Floats
from limbeck.teach.card import FILE_NAME as CARD


@dataclass(frozen=True)
class PoolScores:
    """Probabilities of the buckets in `pool`, read from `scores`; going through it gives them bucket by bucket.

    `out_of_fold` [training rows, labels] is what models that didn't see them say of training rows: texts of the pool
    that equal one take it. NaN is 'nobody can say': all models saw the row, or there is no model of the label.
    """

    pool: Path
    scores: Path
    labels: tuple[str, ...]
    files: tuple[Mapping[str, Sequence[str]], ...]
    out_of_fold: Floats
    one_class: bool
    calibration: Calibration | None = None
    unknown: frozenset[str] = frozenset()

    @staticmethod
    def load(pool: Path, scores: Path, teach: Path, calibrate: Path | None = None) -> PoolScores:
        """Read the results of these steps; without `calibrate` probabilities stay as the teacher gave them."""
        told = json.loads((scores / FILE_NAME).read_text(encoding="utf-8"))
        calibration = None
        if calibrate:
            found = json.loads((calibrate / "calibration.json").read_text(encoding="utf-8"))
            calibration = Calibration.from_dict(found)
        [skipped] = json.loads((teach / "skipped.json").read_text(encoding="utf-8")).values()
        one_class = json.loads((teach / CARD).read_text(encoding="utf-8"))["one_class"]
        return PoolScores(
            pool,
            scores,
            tuple(told["labels"]),
            tuple(told["buckets"]),
            np.load(teach / "out_of_fold.npy", allow_pickle=False),
            one_class,
            calibration,
            frozenset() if one_class else frozenset(skipped),
        )

    def __iter__(self) -> Iterator[tuple[Bucket, Floats]]:
        """Give each bucket with the probabilities [texts, labels] of its texts."""
        return (self.of_bucket(number) for number in range(len(self.files)))

    def of_bucket(self, number: int) -> tuple[Bucket, Floats]:
        """Give one bucket with its probabilities."""
        bucket = Bucket(bucket_file(self.pool, number))
        proba = np.full((len(bucket.row), len(self.labels)), np.nan, dtype=np.float32)
        place_of = {label: place for place, label in enumerate(self.labels)}
        for name, labels in self.files[number].items():
            rows, found = read_labels(self.scores / bucket_name(number) / name, labels)
            columns = np.array([place_of[label] for label in labels])
            proba[np.ix_(np.searchsorted(bucket.row, rows), columns)] = found
        labelled = bucket.train_row >= 0
        proba[labelled] = self.out_of_fold[bucket.train_row[labelled]]
        return bucket, self._put_right(proba)

    def sample(self, rows: int, seed: int) -> tuple[list[str], Floats]:
        """Draw texts that are no training rows, with their probabilities [texts, labels]; not more than `rows`."""

        def drawn() -> Iterator[Ranks]:
            for number in range(len(self.files)):
                bucket = Bucket(bucket_file(self.pool, number))
                yield ranks(bucket.row[bucket.train_row < 0], seed, "sample")

        limit = rank_limit(drawn, rows)
        texts: list[str] = []
        parts = [np.zeros((0, len(self.labels)), dtype=np.float32)]
        for bucket, proba in self:
            mine = bucket.train_row < 0
            if limit is not None:
                mine &= ranks(bucket.row, seed, "sample") < np.uint64(limit)
            texts += [bucket.texts[place] for place in np.flatnonzero(mine)]
            parts.append(proba[mine])
        return texts, np.concatenate(parts)

    @property
    def labelled(self) -> Floats:
        """The probabilities [training rows, labels] of all training rows, out of fold."""
        return self._put_right(self.out_of_fold)

    @property
    def tuning(self) -> Floats:
        """The probabilities [texts, labels] of dev's tuning half; labels without a model have theirs here, too."""
        raw: Floats = np.load(self.scores / "tuning.npy", allow_pickle=False)
        return raw if self.calibration is None else self.calibration(raw)

    def _put_right(self, raw: Floats) -> Floats:
        proba = raw.copy() if self.calibration is None else self.calibration(raw)
        proba[:, [label in self.unknown for label in self.labels]] = np.nan
        return proba
