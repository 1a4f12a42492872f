"""A pool, prepared rows and a scorer that are all made by hand."""

import json
from collections import Counter
from pathlib import Path

import numpy as np

from limbeck.config import DataSettings, parse_config
from limbeck.data.dataset import Dataset
from limbeck.data.prepare import Prepared
from limbeck.pseudo.gather import gather
from limbeck.pseudo.guesses import PoolScores
from limbeck.pseudo.scores import score_pool
from limbeck.pseudo.select import select
from limbeck.store import Store
from limbeck.text import Cleaner

LABELS = ("heat", "wifi")
MADE_WITH = {"code": {"a": "1"}, "libraries": {}}
NAN = float("nan")
LONG = "the wifi dropped " * 3_000
# Thresholds are then 0.5.
PLAIN = {"thresholds": "line-search", "min_positives": 10_000}


class TableScorer:
    """Answers from a table [labels] by text, 0 for texts that aren't in it; counts what it was asked."""

    def __init__(self, table, labels=LABELS):
        self.table, self.labels = table, tuple(labels)
        self.asked = Counter()

    def predict_proba(self, texts):
        self.asked.update(texts)
        nothing = [0.0] * len(self.labels)
        return np.array([self.table.get(text, nothing) for text in texts], dtype=np.float32)


def rows(texts, labels=None, names=LABELS):
    cells = np.zeros((len(texts), len(names))) if labels is None else labels
    return Dataset(list(texts), np.array(cells, dtype=np.float32).reshape(len(texts), len(names)), tuple(names))


def prepared(
    train=("a train row",), labels=None, dev=("a dev row", "another dev row"), test=("a test row",), names=LABELS
):
    halves = np.arange(len(dev)) % 2
    return Prepared(
        rows(train, labels, names),
        np.zeros(len(train), np.int8),
        rows(dev, names=names),
        halves.astype(np.int8),
        rows(test, names=names),
    )


def write_pool(file: Path, texts, source=""):
    file.write_text("".join(json.dumps({"text": t, "source": source}) + "\n" for t in texts), encoding="utf-8")
    return file


def gathered(folder: Path, texts, data=None, **settings):
    """Gather a pool of these texts into a new folder."""
    folder.mkdir(parents=True, exist_ok=True)
    pool = folder / "pool"
    pool.mkdir()
    file = write_pool(folder / "pool.jsonl", texts)
    return pool, gather([file], DataSettings(**settings), Cleaner(), data or prepared(), pool)


def scored(folder: Path, pool: Path, scorer, data=None, identity=None, force=False):
    """Score a gathered pool; give the folder."""
    out = folder / f"scores-{len(list(folder.glob('scores-*')))}"
    out.mkdir()
    names = identity or dict.fromkeys(scorer.labels, "it")
    score_pool(pool, out, scorer, names, Store(folder / ".limbeck"), MADE_WITH, force)
    np.save(out / "tuning.npy", scorer.predict_proba((data or prepared()).dev_half(0).texts))
    return out


def selection(folder: Path, table, data=None, out_of_fold=None, task="multilabel", parents=None, **pseudo):
    """Gather, score and select the texts of `table`; give the folder."""
    data = data or prepared()
    labels = data.train.names
    pool, _ = gathered(folder, table, data)
    config = parse_config({"task": task, "pseudo": pseudo, "measure": PLAIN, "data": {"parents": parents or {}}})
    guesses = np.full((len(data.train), len(labels)), np.nan, np.float32) if out_of_fold is None else out_of_fold
    found = scored(folder, pool, TableScorer(dict(table), labels), data)
    told = json.loads((found / "scores.json").read_text(encoding="utf-8"))
    scores = PoolScores(
        pool, found, labels, tuple(told["buckets"]), np.array(guesses, np.float32), task == "multiclass"
    )
    out = folder / "select"
    out.mkdir()
    select(scores, data, config, out)
    return out
