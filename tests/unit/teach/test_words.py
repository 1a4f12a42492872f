"""Baselines as teachers: their own answers, rows unseen, growing, and a place beside an encoder."""

from dataclasses import replace

import numpy as np
import pytest
from small_project import make_texts
from teaching_project import add_category, pipeline

from limbeck.baselines import BaselineScorer
from limbeck.data.prepare import Prepared
from limbeck.distill.course import taught_encoder
from limbeck.measure.compare import load_measured
from limbeck.teach.kinds import load_teacher

TEXTS = [text for text, _ in make_texts(20, 31)]


def test_it_answers_as_the_baseline_does(project):
    chain = pipeline(project, "tfidf-logreg", 'baselines.kinds=["tfidf-logreg"]', "students.kinds=[]")
    chain.run(until="measure")
    teacher = load_teacher(chain.folder("teach"), project)
    baseline = BaselineScorer.load(chain.folder("baselines") / "tfidf-logreg")
    # The order of rows is another, and with it the folds that chose the strength.
    assert np.corrcoef(teacher.predict_proba(TEXTS).ravel(), baseline.predict_proba(TEXTS).ravel())[0, 1] > 0.98
    figures = load_measured(chain.folder("measure"))["teacher-tfidf-logreg"]["figures"]
    assert figures["judging"]["macro_f1"] > 0.8


def test_rows_are_scored_by_models_that_did_not_learn_them(project):
    chain = pipeline(project, "tfidf-logreg", "teach.folds=2")
    chain.run(until="teach")
    prepared = Prepared.load(chain.folder("data"))
    unseen = np.load(chain.folder("teach") / "out_of_fold.npy")
    assert np.array_equal(np.isnan(unseen).any(axis=1), prepared.folds >= 2)
    # Of what it has learnt it is surer.
    seen = load_teacher(chain.folder("teach"), project).predict_proba(prepared.train.texts)
    known = ~np.isnan(prepared.train.labels) & ~np.isnan(unseen)
    truth = prepared.train.labels[known]
    assert np.abs(truth - seen[known]).mean() < 0.9 * np.abs(truth - unseen[known]).mean()


def test_a_new_category_trains_only_itself(project):
    tasks = project / ".limbeck" / "tasks" / "baselines"
    pipeline(project, "tfidf-logreg", "teach.folds=1").run(until="teach")
    before = {folder.name for folder in tasks.iterdir()}
    add_category(project)
    chain = pipeline(project, "tfidf-logreg", "teach.folds=1")
    chain.run(until="teach")
    after = {folder.name for folder in tasks.iterdir()}
    assert len(before) == 6 and before < after and len(after) == 8
    assert load_teacher(chain.folder("teach"), project).labels == ("heat", "kind", "late", "wifi")


def test_beside_an_encoder_students_start_from_the_encoder(project):
    chain = pipeline(project, "blend", 'teach.blend=["tfidf-logreg", "partial"]', "teach.folds=1", "train.epochs=1")
    chain.run(until="teach")
    blend = replace(load_teacher(chain.folder("teach"), project), weights=(0.9, 0.1))
    mine, its = taught_encoder(blend).state_dict(), taught_encoder(blend.teachers[1]).state_dict()
    assert all(np.array_equal(mine[name], its[name]) for name in its)


@pytest.mark.parametrize("kind", ["svm", "xgboost"])
def test_the_other_kinds_teach_as_well(project, kind):
    chain = pipeline(project, kind, "teach.folds=1", "baselines.trials=2")
    chain.run(until="teach")
    proba = load_teacher(chain.folder("teach"), project).predict_proba(["the wifi dropped again", "a kind crew"])
    assert proba[0, 2] > proba[1, 2]
