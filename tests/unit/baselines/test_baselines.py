"""Baselines: scorers that learn partial or complete labels, survive storing, and leave out what can't be learnt."""

import json

import numpy as np
import pytest
from sklearn.svm import SVC
from small_project import WORDS, make_texts

from limbeck.baselines import BaselineScorer, train_baseline
from limbeck.baselines.features import WordFeatures
from limbeck.baselines.svm import RbfSvm
from limbeck.baselines.task import FitTask
from limbeck.config import BaselineSettings, parse_config
from limbeck.data.dataset import Dataset
from limbeck.errors import BadSetting
from limbeck.measure import average_precision
from limbeck.scorer import Scorer
from limbeck.store import Store

KINDS = ["svm", "tfidf-logreg", "xgboost"]


def dataset(rows: int, seed: int, partial: bool) -> Dataset:
    made = make_texts(rows, seed)
    labels = np.array([[float(name in on) for name in WORDS] for _, on in made], dtype=np.float32)
    if partial:
        labels[np.random.default_rng(seed).random(labels.shape) < 0.5] = np.nan
    return Dataset([text for text, _ in made], labels, tuple(WORDS))


def config(**baselines):
    return parse_config({"baselines": {"trials": 2, **baselines}})


@pytest.mark.parametrize("partial", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_learns_and_survives_storing(tmp_path, kind, partial):
    scorer = train_baseline(kind, dataset(150, 1, partial), config(), Store(tmp_path / "s")).scorer
    assert isinstance(scorer, Scorer) and scorer.labels == tuple(WORDS)
    assert len(scorer.parts) == (len(WORDS) if partial else 1)
    unseen = dataset(60, 2, partial=False)
    proba = scorer.predict_proba(unseen.texts)
    assert proba.shape == unseen.labels.shape and proba.dtype == np.float32 and 0 <= proba.min() <= proba.max() <= 1
    assert min(average_precision(unseen.labels[:, c], proba[:, c]) for c in range(3)) > 0.8
    (tmp_path / "m").mkdir()
    scorer.save(tmp_path / "m")
    assert not list((tmp_path / "m").rglob("*.pkl"))
    np.testing.assert_allclose(BaselineScorer.load(tmp_path / "m").predict_proba(unseen.texts), proba, atol=1e-7)


def test_the_svm_scores_as_scikit_learn_s_does(tmp_path):
    data = dataset(80, 3, partial=False)
    task = FitTask(
        "t", data.texts, data.labels[:, :1], (2.0,), 0, BaselineSettings(trials=1, seconds=1.0), tmp_path / "o.sqlite3"
    )
    model = RbfSvm.fit(task)
    rows = WordFeatures.fit(data.texts).transform(data.texts)
    reference = SVC(C=model.cost, gamma="scale", class_weight={0: 1.0, 1: 2.0}).fit(rows, data.labels[:, 0])
    machine = model.machines[0]
    margins = (machine.log_odds(rows) - machine.offset) / machine.slope
    np.testing.assert_allclose(margins, reference.decision_function(rows), atol=1e-8)


def test_a_category_that_cannot_be_trained_is_named_and_the_others_go_on(tmp_path):
    data = dataset(100, 1, partial=True)
    data.labels[:, 0] = np.where(np.isnan(data.labels[:, 0]), np.nan, 0)
    trained = train_baseline("tfidf-logreg", data, config(), Store(tmp_path))
    assert list(trained.skipped) == ["heat"] and "0 distinct positive texts" in trained.skipped["heat"]
    proba = trained.scorer.predict_proba(["the wifi dropped"])
    assert proba[0, 0] == 0 and proba[0, 1] > 0.5


def test_positive_weight_above_one_favours_recall(tmp_path):
    data = dataset(150, 1, partial=True)
    texts = dataset(60, 2, partial=False).texts
    low, high = (
        train_baseline("tfidf-logreg", data, config(positive_weight=w), Store(tmp_path)).scorer.predict_proba(texts)
        for w in (0.5, 5.0)
    )
    assert (high > low).mean() > 0.99


def test_one_model_for_all_needs_complete_labels(tmp_path):
    with pytest.raises(BadSetting, match="needs complete labels"):
        train_baseline("tfidf-logreg", dataset(60, 1, partial=True), config(target="multilabel"), Store(tmp_path))


def test_a_finished_task_is_not_trained_again_and_a_damaged_one_is(tmp_path):
    store, data = Store(tmp_path), dataset(90, 1, partial=True)
    train_baseline("tfidf-logreg", data, config(), store)
    folders = sorted((tmp_path / "tasks" / "baselines").iterdir())
    times = [json.loads((f / "manifest.json").read_text(encoding="utf-8"))["finished"] for f in folders]
    (folders[0] / "words.json").write_text("{}", encoding="utf-8")
    train_baseline("tfidf-logreg", data, config(), store)
    again = [json.loads((f / "manifest.json").read_text(encoding="utf-8"))["finished"] for f in folders]
    assert again[0] > times[0] and again[1:] == times[1:]


def test_texts_are_cleaned_as_in_training(tmp_path):
    scorer = train_baseline("tfidf-logreg", dataset(90, 1, partial=True), config(), Store(tmp_path)).scorer
    plain, marked = scorer.predict_proba(["the wifi dropped", "the <b>wifi</b>&nbsp;dropped"])
    assert np.array_equal(plain, marked)


def test_positives_that_are_one_text_in_disguise_are_too_few(tmp_path):
    data = dataset(60, 1, partial=True)
    data.labels[:, 0] = 0
    variants = [f"bad wifi{mark}" for mark in ("", "!", "!!", "?", "...", ".")]
    texts = data.texts + variants
    labels = np.concatenate([data.labels, np.full((6, 3), np.nan, np.float32)])
    labels[-6:, 0] = 1
    trained = train_baseline("tfidf-logreg", Dataset(texts, labels, data.names), config(), Store(tmp_path))
    assert trained.skipped == {"heat": "1 distinct positive text, at least 5 are needed"}


@pytest.mark.parametrize("kind", KINDS)
def test_texts_without_a_word_are_a_reason_not_a_crash(tmp_path, kind):
    emoji = [chr(0x1F600 + i) for i in range(20)]
    labels = np.array([[i % 2] for i in range(20)], dtype=np.float32)
    trained = train_baseline(kind, Dataset(emoji, labels, ("x",)), config(), Store(tmp_path))
    assert "can't be trained" in trained.skipped["x"]
    assert trained.scorer.predict_proba(["hm"]).tolist() == [[0.5]]


def test_a_few_contradictions_do_not_make_complete_labels_partial(tmp_path):
    data = dataset(120, 1, partial=False)
    data.labels[3, 1] = np.nan
    assert len(train_baseline("tfidf-logreg", data, config(), Store(tmp_path)).scorer.parts) == 1
