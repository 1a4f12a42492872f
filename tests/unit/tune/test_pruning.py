"""A trial that trains worse than half of the others is ended, and nothing of it stays."""

import pytest
from teaching_project import QUICK, copy_of

from limbeck.config import load_project
from limbeck.pipeline import Pipeline
from limbeck.training.watch import Evaluation, TrainingEnded, watched
from limbeck.tune.pruning import PARTS, behind, place, reached

SETTINGS = [
    *QUICK,
    "encoder.name=encoder",
    "teach.kind=probe",
    "distill.enough=0",
    "distill.steps=40",
    'students.kinds=["bag"]',
]


def curve(**runs):
    return {place(run, part): value for run, values in runs.items() for part, value in enumerate(values, start=1)}


OTHERS = [curve(a=[0.2, 0.4, at, at, at, at, at, at, at, at]) for at in (0.5, 0.6, 0.7, 0.8)]


def test_who_is_below_the_median_at_the_same_point_is_behind():
    assert behind(curve(a=[0.2, 0.3, 0.64]), OTHERS) and not behind(curve(a=[0.2, 0.3, 0.66]), OTHERS)


def test_nobody_is_behind_too_early_or_with_too_few_to_compare_with():
    assert not behind(curve(a=[0.0, 0.0]), OTHERS)
    assert not behind(curve(a=[0.0, 0.0, 0.0]), OTHERS[:3])
    assert not behind({}, OTHERS)


def test_one_run_among_several_that_went_badly_ends_nothing():
    others = [{**one, **curve(b=[0.5] * PARTS)} for one in OTHERS]
    good = [0.9] * PARTS
    assert not behind(curve(a=good, b=[0.4, 0.4, 0.4]), others)
    assert behind(curve(a=[0.3] * PARTS, b=[0.4, 0.4, 0.4]), others)


def test_a_run_that_trains_no_more_is_at_its_end():
    assert reached(Evaluation("a", 30, 100, 0.5, last=False)) == 3
    assert reached(Evaluation("a", 30, 100, 0.5, last=True)) == PARTS


def test_a_watcher_hears_of_evaluations_and_may_end_a_run(template, tmp_path):
    folder = copy_of(template, tmp_path / "p")
    heard = []

    def stops(evaluation):
        heard.append(evaluation)
        if evaluation.run.startswith("bag") and evaluation.step >= 12:
            raise TrainingEnded

    pipeline = Pipeline(load_project(folder, SETTINGS))
    with pytest.raises(TrainingEnded), watched(stops):
        pipeline.run(until="distill")
    assert [evaluation.step for evaluation in heard] == [4, 8, 12]
    assert all(0 <= evaluation.best <= 1 and evaluation.total == 40 for evaluation in heard)
    assert not list((folder / ".limbeck" / "results").glob("distill/*"))
    assert not list((folder / ".limbeck" / "tmp").glob("*"))
    pipeline.run(until="distill")
    assert len(heard) == 3
