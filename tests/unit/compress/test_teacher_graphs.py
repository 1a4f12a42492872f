"""Every kind of teacher becomes one graph that gives its probabilities."""

import pickle

import numpy as np
import onnx
import pytest
from small_project import make_texts
from teaching_project import copy_of, pipeline
from tiny_encoders import tiny_classifier

from limbeck.compress import scoring
from limbeck.compress.draft import draft, teacher_graph
from limbeck.compress.recipes import RECIPES, Circumstances
from limbeck.compress.scoring import ExportedTeacher
from limbeck.config import CompressSettings
from limbeck.errors import BadSetting
from limbeck.runtime.predictor import Predictor
from limbeck.teach.calibrate import load_calibrated

TEXTS = [text for text, _ in make_texts(40, seed=31)]
KINDS = {
    "probe": ["teach.kind=probe"],
    "mixed probe": ["teach.kind=probe", "probe.layers=mix", "probe.head=mlp"],
    "partial": ["teach.kind=partial"],
    "partial, frozen layers": ["teach.kind=partial", "train.freeze_layers=1"],
    "binary ensemble": ["teach.kind=binary-ensemble", "teach.folds=1"],
    "blend": ["teach.kind=blend", 'teach.blend=["probe", "partial"]'],
    "finished classifier": ["teach.kind=folder", "teach.folder=ready"],
}


@pytest.fixture(scope="module")
def folder(template, tmp_path_factory):
    made = copy_of(template, tmp_path_factory.mktemp("teachers") / "p")
    tiny_classifier(made / "encoder", made / "ready", ["heat", "late", "wifi"])
    return made


def teacher(folder, *settings):
    done = pipeline(folder, "probe", "train.epochs=2", "data.pool=[]", *settings)
    done.run(until="calibrate")
    return load_calibrated(done.folder("teach"), done.folder("calibrate"), folder)


@pytest.mark.parametrize("kind", KINDS)
def test_a_graph_gives_the_teachers_probabilities(folder, kind):
    taught = teacher(folder, *KINDS[kind])
    trained = teacher_graph(taught)
    half = np.full(3, 0.5, dtype=np.float32)
    made = draft(trained, half, TEXTS, CompressSettings())
    found = Predictor(made.bundle).predict_proba(TEXTS)
    assert np.abs(found - taught.predict_proba(TEXTS)).max() < 5e-4
    small = made.with_graph(RECIPES["int8"](made.bundle.graph, Circumstances(True)), "int8")
    assert np.abs(Predictor(small).predict_proba(TEXTS) - found).max() < 0.1


def test_shared_layers_are_in_the_graph_once(folder):
    apart, shared = (
        teacher_graph(teacher(folder, "teach.kind=partial", f"train.freeze_layers={layers}")).graph for layers in (0, 1)
    )
    sizes = [sum(len(t.raw_data) for t in onnx.load_from_string(g).graph.initializer) for g in (apart, shared)]
    assert sizes[1] < 0.8 * sizes[0]


def test_word_counters_are_no_networks(folder):
    with pytest.raises(BadSetting, match="counts words"):
        teacher_graph(teacher(folder, "teach.kind=tfidf-logreg"))


@pytest.fixture
def many(monkeypatch):
    """Let a few texts count as many."""
    monkeypatch.setattr(scoring, "MANY", len(TEXTS))


def test_many_texts_are_scored_as_a_graph_with_the_same_answers(folder, many):
    taught = teacher(folder, "teach.kind=partial")
    exported = ExportedTeacher(taught)
    exported.predict_proba(TEXTS[:3])
    assert exported.recipe is None
    assert np.abs(exported.predict_proba(TEXTS) - taught.predict_proba(TEXTS)).max() < 5e-4
    assert (exported.recipe, exported.likeness) == ("float", 1.0)


@pytest.mark.parametrize("kind", ["probe", "partial, frozen layers", "finished classifier"])
def test_a_teacher_that_goes_to_another_process_answers_the_same_there(folder, many, kind):
    exported = ExportedTeacher(teacher(folder, *KINDS[kind]))
    exported.predict_proba(TEXTS[:3])  # networks that were loaded stay behind
    exported.prepare(TEXTS)
    sent = pickle.dumps(exported)
    assert np.array_equal(pickle.loads(sent).predict_proba(TEXTS[:9]), exported.predict_proba(TEXTS[:9]))
    assert len(sent) < 2 * len(pickle.dumps(exported._export.predictor.bundle))


@pytest.mark.parametrize(("least", "recipe"), [(0.9, "int8-channels"), (1.0, "float")])
def test_eight_bits_are_taken_if_answers_stay_what_they_were(folder, many, monkeypatch, least, recipe):
    monkeypatch.setattr(scoring, "saturates", lambda: False)
    monkeypatch.setattr(scoring, "ALIKE", least)
    exported = ExportedTeacher(teacher(folder, "teach.kind=partial"), eight_bits=True)
    exported.predict_proba(TEXTS)
    assert exported.recipe == recipe
    assert least <= exported.likeness <= 1


def test_without_vnni_there_are_no_eight_bits(folder, many, monkeypatch):
    monkeypatch.setattr(scoring, "saturates", lambda: True)
    exported = ExportedTeacher(teacher(folder, "teach.kind=partial"), eight_bits=True)
    exported.predict_proba(TEXTS)
    assert exported.recipe == "float"


def test_what_is_no_network_scores_as_it_is(folder, many):
    counts = teacher(folder, "teach.kind=tfidf-logreg")
    exported = ExportedTeacher(counts)
    assert (exported.predict_proba(TEXTS) == counts.predict_proba(TEXTS)).all()
    assert exported.recipe is None


def test_a_teacher_that_cannot_be_exported_is_slower_but_right(folder, many, monkeypatch):
    def fail(_):
        raise RuntimeError("no such operator")

    monkeypatch.setattr(scoring, "teacher_graph", fail)
    taught = teacher(folder, "teach.kind=partial")
    with pytest.warns(UserWarning, match="no such operator"):
        found = ExportedTeacher(taught).predict_proba(TEXTS)
    assert (found == taught.predict_proba(TEXTS)).all()


def test_likeness_looks_at_each_label_around_its_own_mean():
    rare, frequent = (
        np.array([[0.01, 0.9], [0.02, 0.8], [0.03, 0.7]]),
        np.array([[0.03, 0.7], [0.02, 0.8], [0.01, 0.9]]),
    )
    assert scoring.alike(rare, rare) == pytest.approx(1)
    assert scoring.alike(rare, frequent) < -0.9
