"""The three steps in the chain: what makes each run again, and when they are there at all."""

import json
import shutil

import numpy as np
import pyarrow.parquet as pq
import pytest
from small_project import write_project
from teaching_project import copy_of, multiclass_project, pipeline

from limbeck.config import load_project
from limbeck.data.prepare import Prepared
from limbeck.errors import FileMissing
from limbeck.pipeline import Pipeline
from limbeck.pseudo.guesses import PoolScores
from limbeck.pseudo.scores import TASK_KIND

STEPS = ("pool", "pseudo", "select")


def stale(project, *settings):
    return {s.step.name for s in pipeline(project, "probe", *settings).status() if s.step.name in STEPS and not s.done}


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("pseudo.confidence=0.7", {"select"}),
        ("seed=0", set()),
        ('data.titles={ heat = "Heat" }', set()),
        ("measure.min_positives=4", {"pseudo", "select"}),  # the teacher's own thresholds, too
        ("calibrate.method=temperature", {"select"}),
        ("calibrate.method=none", {"select"}),
        ("train.checkpoint_seconds=5", set()),
        ("students.size=small", set()),
        ("pseudo.scoring=exact", {"pseudo", "select"}),
    ],
)
def test_a_setting_makes_stale_what_it_touches(scored_project, setting, expected):
    assert stale(scored_project, setting) == expected


def test_a_new_row_in_the_pool_makes_all_of_it_stale(project, scored_project):
    shutil.copytree(scored_project / ".limbeck", project / ".limbeck")
    assert stale(project) == set()
    with (project / "pool.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps({"text": "one more"}) + "\n")
    assert stale(project) == set(STEPS)


def test_exact_scores_use_no_bucket_that_was_scored_otherwise(scored_project, project):
    shutil.copytree(scored_project / ".limbeck", project / ".limbeck")
    tasks = project / ".limbeck" / TASK_KIND
    before = {task.name for task in tasks.iterdir()}
    pipeline(project, "probe", "pseudo.scoring=exact").run(until="pseudo")
    assert len({task.name for task in tasks.iterdir()} - before) == len(before) > 0


def test_steps_are_there_for_a_teacher_with_students_and_a_pool(tmp_path):
    folder = write_project(tmp_path / "p")

    def names(*settings):
        steps = Pipeline(load_project(folder, ["baselines.kinds=[]", *settings])).steps
        return [step.name for step in steps if step.name in STEPS]

    assert names("teach.kind=probe") == list(STEPS)
    assert names() == names("teach.kind=probe", "data.pool=[]") == names("teach.kind=probe", "students.kinds=[]") == []


def test_a_pool_that_is_missing_is_named(project):
    (project / "pool.jsonl").unlink()
    with pytest.raises(FileMissing, match="pool.jsonl"):
        pipeline(project, "probe").run(until="pool")


def test_a_category_without_a_model_stays_unknown(project):
    (project / "labels" / "rare.csv").write_text("text,label\nodd thing,1\nplain thing,0\n", encoding="utf-8")
    chain = pipeline(project, "probe")
    chain.run(until="select")
    table = pq.read_table(chain.folder("select") / "selected.parquet")
    assert table.num_rows > 30 and np.isnan(table.column("rare").to_numpy()).all()
    assert not np.isnan(table.column("heat").to_numpy()).any()
    assert np.isnan(np.load(chain.folder("select") / "labelled.npy")[:, 2]).all()


def test_classes_go_the_same_way(template, tmp_path):
    folder = multiclass_project(template, tmp_path / "classes")
    chain = pipeline(folder, "probe", "pseudo.confidence=0.5")
    chain.run(until="select")
    table = pq.read_table(chain.folder("select") / "selected.parquet")
    cells = np.stack([table.column(name).to_numpy() for name in ("heat", "late", "wifi")], axis=1).astype(np.float32)
    assert cells.sum(axis=1) == pytest.approx(1, abs=3e-3) and cells.max(axis=1).min() >= 0.499
    thresholds = json.loads((chain.folder("select") / "thresholds.json").read_text(encoding="utf-8"))
    assert thresholds["thresholds"] == [0.5] * 3


def test_a_run_repeated_gives_the_same_bytes(scored_project, template, tmp_path):
    again = copy_of(template, tmp_path / "again")
    chain, first = pipeline(again, "probe"), pipeline(scored_project, "probe")
    chain.run(until="select")
    for name in ("selected.parquet", "labelled.npy", "selection.json"):
        assert (chain.folder("select") / name).read_bytes() == (first.folder("select") / name).read_bytes()


def test_a_sample_holds_texts_of_the_pool_with_their_own_guesses(scored_project):
    chain = pipeline(scored_project, "probe")
    scores = PoolScores.load(*(chain.folder(name) for name in ("pool", "pseudo", "teach", "calibrate")))
    everything, guesses = scores.sample(10_000, seed=0)
    by_text = dict(zip(everything, guesses, strict=True))
    learnt = {text.lower() for text in Prepared.load(chain.folder("data")).train.texts}
    assert len(by_text) == len(everything) == 41 and not learnt & {text.lower().rstrip("!") for text in everything}
    some, theirs = scores.sample(10, seed=0)
    assert len(some) == 10 and some == scores.sample(10, seed=0)[0]
    np.testing.assert_array_equal(theirs, [by_text[text] for text in some])
    assert set(some) != set(scores.sample(10, seed=1)[0])
