"""Teachers of every kind: they learn partial labels, survive storing, keep finished tasks and score out of fold."""

import json
import shutil

import numpy as np
import pytest
from small_project import WORDS, make_texts
from teaching_project import QUICK, pipeline, teaching_project

from limbeck.config import load_project
from limbeck.errors import EncoderMissing
from limbeck.measure import average_precision
from limbeck.pipeline import Pipeline
from limbeck.scorer import Scorer
from limbeck.teach.features import FeatureCache
from limbeck.teach.kinds import load_teacher


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    return teaching_project(tmp_path_factory.mktemp("teach") / "p")


@pytest.mark.parametrize("kind", ["probe", "partial", "binary-ensemble"])
def test_every_kind_learns_and_survives_storing(project, kind):
    chain = pipeline(project, kind)
    chain.run()
    teacher = load_teacher(chain.folder("teach"), project)
    assert isinstance(teacher, Scorer) and teacher.labels == ("heat", "late", "wifi")
    made = make_texts(80, 77)
    labels = np.array([[float(name in on) for name in teacher.labels] for _, on in made], dtype=np.float32)
    proba = teacher.predict_proba([text for text, _ in made])
    # The tiny encoder was never trained, so a probe of it knows little, and 70 rows teach it no more than a bit.
    least = {"probe": 0.5, "partial": 0.75, "binary-ensemble": 0.6}[kind]
    assert np.mean([average_precision(labels[:, c], proba[:, c]) for c in range(3)]) > least
    figures = chain.status()[-1].figures
    assert figures[f"teacher-{kind}.test.macro_f1"] > least - 0.2
    assert not [f for f in chain.folder("teach").rglob("*") if f.suffix in (".pkl", ".bin", ".pt")]


@pytest.mark.parametrize("kind", ["probe", "partial"])
def test_training_rows_are_scored_by_models_that_did_not_see_them(project, kind):
    chain = pipeline(project, kind)
    chain.run(until="teach")
    folds = np.load(chain.folder("data") / "folds.npy")
    proba = np.load(chain.folder("teach") / "out_of_fold.npy")
    assert np.isnan(proba[folds >= 2]).all() and not np.isnan(proba[folds < 2]).any()


def test_finished_tasks_are_used_again_when_the_step_is_redone(tmp_path, project):
    folder = tmp_path / "p"
    shutil.copytree(project, folder, ignore=shutil.ignore_patterns(".limbeck"))
    pipeline(folder, "probe").run(until="teach")
    manifests = sorted((folder / ".limbeck" / "tasks" / "probe").glob("*/manifest.json"))
    before = [json.loads(m.read_text(encoding="utf-8"))["finished"] for m in manifests]
    shutil.rmtree(folder / ".limbeck" / "results" / "teach")
    pipeline(folder, "probe").run(until="teach")
    assert len(before) == 3
    assert [json.loads(m.read_text(encoding="utf-8"))["finished"] for m in manifests] == before


def test_features_are_computed_once(project, monkeypatch):
    chain = pipeline(project, "probe")
    chain.run(until="teach")
    from limbeck.teach import features

    def refuse(*_):
        raise AssertionError("the encoder was asked again")

    monkeypatch.setattr(features.Featuriser, "__call__", refuse)
    teacher = load_teacher(chain.folder("teach"), project)
    cache = FeatureCache(chain.store, teacher.card.encoder, teacher.card.max_tokens)
    text = next(iter(make_texts(1, seed=3)))[0]
    assert cache([text, text]).shape[0] == 2


@pytest.mark.parametrize(
    ("layers", "head"), [("last", "linear"), ("last-four", "linear"), ("mix", "mlp"), ("all", "mlp")]
)
def test_probes_read_any_layers_with_any_head(project, layers, head):
    chain = pipeline(project, "probe", f"probe.layers={layers}", f"probe.head={head}", "probe.hidden=8")
    chain.run(until="teach")
    proba = load_teacher(chain.folder("teach"), project).predict_proba(["the wifi dropped"])
    assert proba.shape == (1, len(WORDS)) and 0 <= proba.min() <= proba.max() <= 1


def test_a_category_that_cannot_be_taught_is_named_and_the_others_go_on(tmp_path, project):
    folder = tmp_path / "p"
    shutil.copytree(project, folder)
    (folder / "labels" / "rare.csv").write_text("text,label\nodd thing,1\nplain thing,0\n", encoding="utf-8")
    chain = pipeline(folder, "probe")
    chain.run(until="teach")
    skipped = json.loads((chain.folder("teach") / "skipped.json").read_text(encoding="utf-8"))["probe"]
    assert skipped == {"rare": "1 distinct positive text, at least 5 are needed"}
    assert load_teacher(chain.folder("teach"), folder).predict_proba(["odd thing"])[0, 2] == pytest.approx(0.5)


def test_a_run_without_the_encoder_says_how_to_get_it(project):
    chain = Pipeline(load_project(project, [*QUICK, "teach.kind=probe", "encoder.name=no-such-thing"]))
    assert {s.step.name: s.state for s in chain.status()}["teach"] == "missing"
    with pytest.raises(EncoderMissing, match="pip install"):
        chain.run()
