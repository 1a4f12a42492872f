"""Blends: weights from the tuning half, cells that one teacher leaves open, storing."""

import json

import numpy as np
import pytest
from teaching_project import pipeline, teaching_project

from limbeck.data.prepare import Prepared
from limbeck.data.splits import TUNING
from limbeck.measure import average_precision
from limbeck.teach.blend import fit_weights, mix
from limbeck.teach.kinds import load_teacher


def noisy(truth, noise, seed):
    rng = np.random.default_rng(seed)
    return np.clip(0.3 + 0.4 * truth + noise * rng.normal(size=truth.shape), 0, 1).astype(np.float32)


def labels(rows=400, columns=3):
    return (np.random.default_rng(0).random((rows, columns)) < 0.3).astype(np.float32)


def test_the_better_teacher_weighs_more_and_two_that_err_apart_beat_either():
    truth = labels()
    good, fair, useless = noisy(truth, 0.25, 1), noisy(truth, 0.35, 2), noisy(truth * 0, 0.3, 3)
    weights = fit_weights(truth, [good, fair, useless], one_class=False)
    assert sum(weights) == pytest.approx(1)
    assert weights[0] > weights[1] > weights[2]
    fresh = labels(4000)
    parts = [noisy(fresh, 0.25, 4), noisy(fresh, 0.35, 5), noisy(fresh * 0, 0.3, 6)]
    scores = [
        np.mean([average_precision(fresh[:, c], p[:, c]) for c in range(3)]) for p in (*parts, mix(parts, weights))
    ]
    assert scores[3] > max(scores[:3])


def test_unknown_truth_does_not_count():
    truth = labels()
    good, bad = noisy(truth, 0.2, 1), noisy(1 - truth, 0.2, 2)
    unknown = truth.copy()
    unknown[200:] = np.nan
    misled = np.where(np.isnan(unknown), bad, good)
    assert fit_weights(unknown, [misled, bad], one_class=False)[0] >= 0.9


def test_with_one_class_the_likelier_teacher_weighs_more():
    classes = np.random.default_rng(0).integers(0, 3, 300)
    truth = np.eye(3, dtype=np.float32)[classes]
    sure, unsure = 0.8 * truth + 0.2 / 3, np.full_like(truth, 1 / 3)
    weights = fit_weights(truth, [sure, unsure], one_class=True)
    assert weights == [1.0, 0.0]


def test_a_cell_that_one_leaves_open_is_filled_by_the_others():
    one = np.array([[0.2, np.nan]], dtype=np.float32)
    other = np.array([[0.6, 0.9]], dtype=np.float32)
    both = np.array([[np.nan]], dtype=np.float32)
    odds = (0.2 / 0.8) ** 0.25 * (0.6 / 0.4) ** 0.75
    assert mix([one, other], [0.25, 0.75]) == pytest.approx(np.array([[odds / (1 + odds), 0.9]]))
    assert np.isnan(mix([both, both], [0.5, 0.5])).all()


def test_with_one_class_the_mean_is_over_logarithms_and_adds_up_to_one():
    one, other = np.array([[0.5, 0.5, 0.0]]), np.array([[0.8, 0.1, 0.1]])
    parts = np.array([np.sqrt(0.5 * 0.8), np.sqrt(0.5 * 0.1), np.sqrt(1e-6 * 0.1)])
    assert mix([one, other], [0.5, 0.5], one_class=True) == pytest.approx((parts / parts.sum())[None])


def test_a_blend_is_taught_stored_and_loaded(tmp_path):
    project = teaching_project(tmp_path / "p")
    chain = pipeline(project, "blend", "train.epochs=4")
    chain.run(until="teach")
    folder = chain.folder("teach")
    teacher = load_teacher(folder, project)
    parts = [load_teacher(folder / f"part-{number}", project) for number in range(2)]
    assert [part.card.kind for part in parts] == ["probe", "partial"]
    texts = ["the wifi dropped", "an hour behind the timetable", ""]
    expected = mix([part.predict_proba(texts) for part in parts], teacher.weights)
    assert teacher.predict_proba(texts) == pytest.approx(expected, abs=1e-6)
    tuning = Prepared.load(chain.folder("data")).dev_half(TUNING)
    scores = [part.predict_proba(tuning.texts) for part in parts]
    assert list(teacher.weights) == fit_weights(tuning.labels, scores, one_class=False)
    assert json.loads((folder / "tasks.json").read_text(encoding="utf-8"))["weights"].keys() == {"probe", "partial"}
    assert not np.isnan(np.load(folder / "out_of_fold.npy")).all()
