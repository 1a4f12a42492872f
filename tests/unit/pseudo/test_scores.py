"""Scoring the pool: as the scorer says, no label twice, training rows out of fold, and a kill costs one bucket."""

import json

import numpy as np
import pytest
from small_pool import LABELS, TableScorer, gathered, prepared, scored
from teaching_project import add_category, pipeline

from limbeck.data.prepare import Prepared
from limbeck.errors import RunError
from limbeck.pseudo import gather as gathering
from limbeck.pseudo.guesses import PoolScores
from limbeck.pseudo.scores import TASK_KIND
from limbeck.store import Store
from limbeck.teach.calibrate import load_calibrated
from limbeck.teach.fine_tuned import FineTunedTeacher
from limbeck.teach.kinds import load_teacher
from limbeck.teach.probe import ProbeTeacher

TABLE = {f"text {number}": (number / 100, 1 - number / 100) for number in range(100)}


@pytest.fixture
def small_buckets(monkeypatch):
    monkeypatch.setattr(gathering, "BUCKET_BYTES", 500)


def read(pool, folder, labels=LABELS, train=1, out_of_fold=None):
    told = json.loads((folder / "scores.json").read_text(encoding="utf-8"))
    guesses = np.full((train, len(labels)), np.nan, np.float32) if out_of_fold is None else np.array(out_of_fold)
    scores = PoolScores(pool, folder, tuple(told["labels"]), tuple(told["buckets"]), guesses.astype(np.float32), False)
    return {text: row for bucket, proba in scores for text, row in zip(bucket.texts, proba.tolist(), strict=True)}


def finished(folder):
    return {key: manifest["finished"] for key, manifest in Store(folder / ".limbeck").newest_first(TASK_KIND)}


def test_every_text_has_what_the_scorer_says(tmp_path, small_buckets):
    pool, told = gathered(tmp_path, [*TABLE, *TABLE])
    scorer = TableScorer(TABLE)
    found = read(pool, scored(tmp_path, pool, scorer))
    assert len(told.buckets) > 5 and found.keys() == TABLE.keys()
    for text, row in TABLE.items():
        assert found[text] == pytest.approx(row, abs=1e-3)
    assert {scorer.asked[text] for text in TABLE} == {1}


def test_what_is_nearly_certain_is_not_stored_as_certain(tmp_path):
    pool, _ = gathered(tmp_path, ["sure"])
    found = read(pool, scored(tmp_path, pool, TableScorer({"sure": (0.99999, 1.0)})))
    assert all(0.999 < value < 1 for value in found["sure"])


def test_nothing_is_scored_twice(tmp_path, small_buckets):
    pool, _ = gathered(tmp_path, TABLE)
    scored(tmp_path, pool, TableScorer(TABLE))
    before = finished(tmp_path)
    again = TableScorer(TABLE)
    folder = scored(tmp_path, pool, again)
    assert not again.asked.keys() & TABLE.keys() and finished(tmp_path) == before
    assert len(read(pool, folder)) == 100
    forced = TableScorer(TABLE)
    scored(tmp_path, pool, forced, force=True)
    assert {forced.asked[text] for text in TABLE} == {1}


def test_only_the_label_that_changed_is_scored_again_and_old_files_stay(tmp_path, small_buckets):
    pool, _ = gathered(tmp_path, TABLE)
    first = scored(tmp_path, pool, TableScorer(TABLE), identity={"heat": "a", "wifi": "a"})
    files = {file: file.stat().st_ino for file in first.rglob("*.parquet")}
    seen = []

    class Other(TableScorer):
        def only(self, labels):
            seen.append(list(labels))
            return TableScorer({text: (0.25,) for text in TABLE}, labels)

    second = scored(tmp_path, pool, Other(TABLE), identity={"heat": "a", "wifi": "b"})
    assert seen == [["wifi"]]
    for text, row in read(pool, second).items():
        assert row == pytest.approx([TABLE[text][0], 0.25], abs=1e-3)
    assert files == {file: file.stat().st_ino for file in first.rglob("*.parquet")}
    assert read(pool, first)["text 3"] == pytest.approx(TABLE["text 3"], abs=1e-3)


def test_a_scorer_that_cannot_be_divided_is_asked_for_all_but_only_what_is_missing_is_kept(tmp_path):
    pool, _ = gathered(tmp_path, TABLE)
    scored(tmp_path, pool, TableScorer(TABLE), identity={"heat": "a", "wifi": "a"})
    folder = scored(tmp_path, pool, TableScorer(dict.fromkeys(TABLE, (0.5, 0.25))), identity={"heat": "a", "wifi": "b"})
    assert read(pool, folder)["text 3"] == pytest.approx([0.03, 0.25], abs=1e-3)
    [files] = json.loads((folder / "scores.json").read_text(encoding="utf-8"))["buckets"]
    assert sorted(files.values()) == [["heat"], ["wifi"]]


def test_a_text_that_gets_labelled_costs_no_scoring_one_that_loses_its_label_does(tmp_path):
    scored_before, labelled = TableScorer(TABLE), TableScorer(TABLE)
    data = prepared(train=["text 7"])
    pool, _ = gathered(tmp_path / "a", TABLE)
    scored(tmp_path, pool, scored_before)
    with_label, told = gathered(tmp_path / "b", TABLE, data)
    folder = scored(tmp_path, with_label, labelled, data)
    assert told.labelled == 1 and not labelled.asked.keys() & TABLE.keys()
    assert read(with_label, folder, out_of_fold=[[0.9, 0.8]])["text 7"] == pytest.approx([0.9, 0.8])
    Store(tmp_path / ".limbeck").remove(tmp_path / ".limbeck" / TASK_KIND)
    scored(tmp_path, with_label, labelled, data)
    assert labelled.asked["text 7"] == 0 and labelled.asked["text 8"] == 1
    unlabelled = TableScorer(TABLE)
    assert read(pool, scored(tmp_path, pool, unlabelled))["text 7"] == pytest.approx(TABLE["text 7"], abs=1e-3)
    assert unlabelled.asked["text 7"] == 1


def test_training_rows_that_every_model_saw_stay_unknown(tmp_path):
    data = prepared(train=["text 7", "text 8"])
    pool, _ = gathered(tmp_path, TABLE, data)
    found = read(pool, scored(tmp_path, pool, TableScorer(TABLE), data), out_of_fold=[[np.nan] * 2, [0.5, 0.25]])
    assert np.isnan(found["text 7"]).all() and found["text 8"] == [0.5, 0.25]


def test_a_broken_file_is_scored_again(tmp_path):
    pool, _ = gathered(tmp_path, TABLE)
    scored(tmp_path, pool, TableScorer(TABLE))
    [file] = (tmp_path / ".limbeck" / TASK_KIND).glob("*/scores.parquet")
    file.unlink()
    file.write_bytes(b"broken")
    again = TableScorer(TABLE)
    assert len(read(pool, scored(tmp_path, pool, again))) == 100
    assert again.asked["text 5"] == 1


def test_a_killed_run_loses_one_bucket_at_most(tmp_path, small_buckets, monkeypatch):
    pool, told = gathered(tmp_path, TABLE)

    class Killed(BaseException):
        """Stands for a process that ends in the middle of a bucket."""

    class Dies(TableScorer):
        def predict_proba(self, texts):
            if len(self.asked) > 50:
                raise Killed
            return super().predict_proba(texts)

    dies, rest = Dies(TABLE), TableScorer(TABLE)
    with pytest.raises(Killed):
        scored(tmp_path, pool, dies)
    kept = len(finished(tmp_path))
    assert 0 < kept < len(told.buckets)
    found = read(pool, scored(tmp_path, pool, rest))
    assert found.keys() == TABLE.keys() and len(finished(tmp_path)) == len(told.buckets)
    assert all((dies.asked + rest.asked)[text] == 1 for text in TABLE)


@pytest.mark.parametrize("wrong", [np.nan, -0.5, 1.5])
def test_what_is_no_probability_is_an_error_that_names_label_and_text(tmp_path, wrong):
    pool, _ = gathered(tmp_path, TABLE)
    with pytest.raises(RunError, match=rf"gives {wrong} as the probability of 'wifi' for 'text 4'"):
        scored(tmp_path, pool, TableScorer({**TABLE, "text 4": (0.5, wrong)}))
    assert not finished(tmp_path)


def load(chain, calibrated):
    folders = [chain.folder(name) for name in ("pool", "pseudo", "teach")]
    return PoolScores.load(*folders, chain.folder("calibrate") if calibrated else None)


@pytest.mark.parametrize("calibrated", [False, True])
def test_a_teacher_s_scores_are_its_own_and_training_rows_are_out_of_fold(scored_project, calibrated):
    chain = pipeline(scored_project, "probe")
    calibrate = chain.folder("calibrate") if calibrated else None
    teacher = load_calibrated(chain.folder("teach"), calibrate, scored_project)
    scores = load(chain, calibrated)
    assert scores.labels == teacher.labels
    [(bucket, proba)] = scores
    fresh = bucket.train_row < 0
    texts = [text for text, new in zip(bucket.texts, fresh, strict=True) if new]
    assert (~fresh).sum() == 2 and proba[fresh] == pytest.approx(teacher.predict_proba(texts), abs=1e-3)
    blind = scores.labelled[bucket.train_row[~fresh]]
    assert proba[~fresh] == pytest.approx(blind, nan_ok=True)
    raw = np.load(chain.folder("teach") / "out_of_fold.npy")
    assert scores.labelled == pytest.approx(raw if not calibrated else scores.calibration(raw), nan_ok=True)
    tuning = Prepared.load(chain.folder("data")).dev_half(0)
    assert scores.tuning == pytest.approx(teacher.predict_proba(tuning.texts), abs=1e-3)


def test_the_pool_s_features_are_not_kept(scored_project):
    kept = (scored_project / ".limbeck" / "features").glob("*/*/keys.json")
    texts = sum(len(json.loads(file.read_text(encoding="utf-8"))) for file in kept)
    data = Prepared.load(pipeline(scored_project, "probe").folder("data"))
    assert texts <= len(data.train) + len(data.dev)


@pytest.mark.parametrize(("kind", "teacher"), [("probe", ProbeTeacher), ("binary-ensemble", FineTunedTeacher)])
def test_a_new_category_scores_itself_alone(project, kind, teacher, monkeypatch):
    told = ["teach.folds=1", "train.epochs=1"]
    pipeline(project, kind, *told).run(until="pseudo")
    before = finished(project)
    add_category(project)
    asked = []
    real = teacher.predict_proba
    monkeypatch.setattr(
        teacher, "predict_proba", lambda self, texts: (asked.append((self, texts)), real(self, texts))[1]
    )
    chain = pipeline(project, kind, *told)
    chain.run(until="pseudo")
    pool = {text for bucket, _ in load(chain, False) for text in bucket.texts}
    assert [scorer.labels for scorer, texts in asked if pool.issuperset(texts)] == [("kind",)]
    after = finished(project)
    assert {key: after[key] for key in before} == before and len(after) == 2 * len(before)
    [(bucket, proba)] = load(chain, False)
    expected = load_teacher(chain.folder("teach"), project).predict_proba(bucket.texts)
    fresh = bucket.train_row < 0
    assert proba[fresh] == pytest.approx(expected[fresh], abs=1e-3)
