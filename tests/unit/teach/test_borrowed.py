"""Another project's teacher: it keeps its own answers, and a blend may hold it beside a teacher of this project."""

import json

import numpy as np
import pytest
from small_project import make_texts
from teaching_project import copy_of, pipeline

from limbeck.errors import BadSetting
from limbeck.teach.blend import mix
from limbeck.teach.kinds import load_teacher

TEXTS = [text for text, _ in make_texts(12, 31)]


@pytest.fixture(scope="module")
def specialist(template, tmp_path_factory):
    """A taught project that knows two of the three categories."""
    folder = copy_of(template, tmp_path_factory.mktemp("specialist") / "p")
    (folder / "labels" / "late.csv").unlink()
    chain = pipeline(folder, "partial", "teach.folds=1", "data.unknown_labels=ignore")
    chain.run(until="teach")
    return chain.folder("teach")


def test_it_answers_as_it_did_at_home(project, specialist):
    chain = pipeline(project, "folder", f"teach.folder={specialist}", "students.kinds=[]")
    chain.run(until="measure")
    teacher = load_teacher(chain.folder("teach"), project)
    at_home = load_teacher(specialist, project).predict_proba(TEXTS)
    assert teacher.labels == ("heat", "late", "wifi")
    assert teacher.predict_proba(TEXTS)[:, [0, 2]] == pytest.approx(at_home, abs=1e-5)
    assert teacher.only(["wifi"]).predict_proba(TEXTS)[:, 0] == pytest.approx(at_home[:, 1], abs=1e-5)
    assert set(teacher.identity()) == set(teacher.labels)
    skipped = json.loads((chain.folder("teach") / "skipped.json").read_text(encoding="utf-8"))
    assert skipped == {"folder": {"late": "the teacher has no such label"}}


def test_of_training_rows_it_says_nothing_because_it_may_have_learnt_them(project, specialist):
    chain = pipeline(project, "folder", f"teach.folder={specialist}")
    chain.run(until="teach")
    assert np.isnan(np.load(chain.folder("teach") / "out_of_fold.npy")).all()


def test_a_blend_of_a_generalist_and_a_specialist(project, specialist):
    chain = pipeline(project, "blend", f"teach.folder={specialist}", 'teach.blend=["probe", "folder"]', "teach.folds=0")
    chain.run(until="teach")
    blend = load_teacher(chain.folder("teach"), project)
    parts = [part.predict_proba(TEXTS) for part in blend.teachers]
    assert blend.predict_proba(TEXTS) == pytest.approx(mix(parts, blend.weights), abs=1e-5)
    # What the specialist can't say of training rows, the generalist says.
    assert not np.isnan(np.load(chain.folder("teach") / "out_of_fold.npy")).any()


def test_a_teacher_of_other_things_is_refused(project, specialist):
    for name in ("heat", "wifi"):
        (project / "labels" / f"{name}.csv").unlink()
    chain = pipeline(project, "folder", f"teach.folder={specialist}", "data.unknown_labels=ignore")
    with pytest.raises(BadSetting, match="None of the teacher's labels"):
        chain.run(until="teach")
