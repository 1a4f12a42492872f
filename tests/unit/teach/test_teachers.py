"""Teachers of every kind: they learn partial labels, survive storing, keep finished tasks and score out of fold."""

import json
import shutil
import time
from dataclasses import replace

import numpy as np
import pytest
from small_project import WORDS, make_texts
from teaching_project import QUICK, copy_of, multiclass_project, pipeline, teaching_project

from limbeck.config import load_project
from limbeck.data.prepare import Prepared
from limbeck.data.splits import TUNING
from limbeck.errors import EncoderMissing
from limbeck.measure import average_precision, evaluate
from limbeck.pipeline import Pipeline
from limbeck.scorer import Scorer
from limbeck.teach import fine_tuned_tasks
from limbeck.teach.calibrate import load_calibrated
from limbeck.teach.features import FeatureCache
from limbeck.teach.kinds import load_teacher
from limbeck.training.loop import fit


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    return teaching_project(tmp_path_factory.mktemp("teach") / "p")


@pytest.mark.parametrize("kind", ["probe", "partial", "binary-ensemble"])
def test_every_kind_learns_and_survives_storing(project, kind):
    chain = pipeline(project, kind)
    chain.run(until="measure")
    teacher = load_teacher(chain.folder("teach"), project)
    assert isinstance(teacher, Scorer) and teacher.labels == ("heat", "late", "wifi")
    made = make_texts(80, 77)
    labels = np.array([[float(name in on) for name in teacher.labels] for _, on in made], dtype=np.float32)
    proba = teacher.predict_proba([text for text, _ in made])
    # The tiny encoder was never trained, so a probe of it knows little, and 70 rows teach it no more than a bit.
    least = {"probe": 0.5, "partial": 0.75, "binary-ensemble": 0.6}[kind]
    assert np.mean([average_precision(labels[:, c], proba[:, c]) for c in range(3)]) > least
    figures = {state.step.name: state.figures for state in chain.status()}["measure"]
    assert figures[f"teacher-{kind}.test.macro_f1"] > least - 0.2
    assert not [f for f in chain.folder("teach").rglob("*") if f.suffix in (".pkl", ".bin", ".pt")]


@pytest.mark.parametrize("kind", ["probe", "partial"])
def test_training_rows_are_scored_by_models_that_did_not_see_them(project, kind):
    chain = pipeline(project, kind)
    chain.run(until="teach")
    prepared = Prepared.load(chain.folder("data"))
    proba = np.load(chain.folder("teach") / "out_of_fold.npy")
    assert np.isnan(proba[prepared.folds >= 2]).all() and not np.isnan(proba[prepared.folds < 2]).any()
    teacher = load_teacher(chain.folder("teach"), project)
    for fold in range(2):
        mine = np.flatnonzero(prepared.folds == fold)
        texts = [prepared.train.texts[row] for row in mine]
        if kind == "probe":
            blind = teacher.committee(texts)[fold]
        else:
            blind = replace(teacher, members=(teacher.members[fold],)).predict_proba(texts)
            assert teacher.members[fold].fold == fold
        # Kept features are float16, fresh ones are not.
        assert proba[mine] == pytest.approx(blind, abs=1e-3)
        assert not np.allclose(proba[mine], teacher.predict_proba(texts), atol=1e-2)


def test_a_probe_guesses_what_rows_do_not_know_without_seeing_the_fold(project, monkeypatch):
    seen = []

    def record(network, job, checkpoints):
        seen.append(job)
        return fit(network, job, checkpoints)

    monkeypatch.setattr(fine_tuned_tasks, "fit", record)
    for chain in (pipeline(project, "probe"), pipeline(project, "partial", "teach.guesses=0.5")):
        chain.run(until="teach")
    prepared = Prepared.load(chain.folder("data"))
    probe = load_teacher(pipeline(project, "probe").folder("teach"), project)
    committee = probe.committee(prepared.train.texts)
    rows = {text: row for row, text in enumerate(prepared.train.texts)}
    order = [rows[text] for text in sorted(prepared.train.texts)]
    for fold, job in enumerate(seen):
        mine = [row for row in order if prepared.folds[row] != fold]
        unknown = np.isnan(prepared.train.labels[mine])
        assert job.lesson.guess_weight == 0.5 and unknown.any()
        assert np.array_equal(np.isnan(job.lesson.examples.guesses), ~unknown)
        assert job.lesson.examples.guesses[unknown] == pytest.approx(committee[fold][mine][unknown], abs=1e-3)
    assert len(seen) == 2


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
    chain.run(until="measure")
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
        chain.run(until="measure")


def test_an_encoder_that_was_installed_elsewhere_is_the_same_encoder(tmp_path, project, monkeypatch):
    folder = copy_of(project, tmp_path / "p")
    there, here = tmp_path / "there", tmp_path / "here"
    (there / "encoder_of_tests").mkdir(parents=True)
    shutil.move(folder / "encoder", there / "encoder_of_tests" / "model")
    (there / "encoder_of_tests" / "__init__.py").touch()
    states = {}
    for site in (there, here):
        if not site.exists():
            shutil.move(there, site)
        with monkeypatch.context() as only:
            only.syspath_prepend(site)
            chain = pipeline(folder, "probe", "encoder.name=encoder-of-tests")
            states[site] = {state.step.name: state.state for state in chain.status()}
            chain.run(until="teach")
    assert (states[there]["teach"], states[here]["teach"]) == ("missing", "done")


@pytest.mark.parametrize("frozen", ["0", "1"])
def test_a_teacher_says_what_its_networks_said_in_training(project, frozen):
    chain = pipeline(project, "partial", f"train.freeze_layers={frozen}", "teach.folds=1", "train.epochs=3")
    chain.run(until="teach")
    teacher = load_teacher(chain.folder("teach"), project)
    assert teacher.frozen == int(frozen)
    [series] = json.loads((chain.folder("teach") / "history.json").read_text(encoding="utf-8")).values()
    best = [figures for figures in series if figures["best"]][-1]
    tuning = Prepared.load(chain.folder("data")).dev_half(TUNING)
    figures = evaluate(tuning.labels, teacher.predict_proba(tuning.texts), teacher.card.thresholds, tuning.names)
    assert figures.macro_f1 == pytest.approx(best["f1_dev"], abs=1e-6)


def test_every_kind_learns_classes_of_which_one_is_right(tmp_path, project):
    folder = multiclass_project(project, tmp_path / "classes")
    made = [(text, on[0]) for text, on in make_texts(150, 9) if len(on) == 1]
    for kind, least in (
        ("probe", 0.5),
        ("partial", 0.8),
        ("binary-ensemble", 0.6),
        ("blend", 0.8),
        ("tfidf-logreg", 0.8),
    ):
        chain = pipeline(folder, kind)
        chain.run(until="measure")
        teacher = load_calibrated(chain.folder("teach"), chain.folder("calibrate"), folder)
        proba = teacher.predict_proba([text for text, _ in made])
        assert proba.sum(axis=1) == pytest.approx(1, abs=1e-5)
        right = np.mean([teacher.labels[best] == on for best, (_, on) in zip(proba.argmax(axis=1), made, strict=True)])
        assert right > least, kind
        out_of_fold = np.load(chain.folder("teach") / "out_of_fold.npy")
        scored = ~np.isnan(out_of_fold).any(axis=1)
        assert scored.any() and out_of_fold[scored].sum(axis=1) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("kind", ["probe", "partial"])
def test_a_text_of_a_hundred_thousand_words_is_cut_and_answered(project, kind):
    chain = pipeline(project, kind)
    chain.run(until="teach")
    teacher = load_teacher(chain.folder("teach"), project)
    started = time.monotonic()
    proba = teacher.predict_proba(["the wifi dropped " * 33_334, "", "the wifi dropped"])
    assert np.isfinite(proba).all() and time.monotonic() - started < 20


@pytest.mark.parametrize("kind", ["partial", "binary-ensemble"])
def test_networks_leave_out_what_cannot_be_taught(tmp_path, project, kind):
    folder = copy_of(project, tmp_path / "p")
    (folder / "labels" / "rare.csv").write_text("text,label\nodd thing,0\nplain thing,0\n", encoding="utf-8")
    chain = pipeline(folder, kind, "train.epochs=1", "teach.folds=1")
    chain.run(until="measure")
    skipped = json.loads((chain.folder("teach") / "skipped.json").read_text(encoding="utf-8"))[kind]
    assert skipped == {"rare": "0 distinct positive texts, at least 5 are needed"}
    proba = load_teacher(chain.folder("teach"), folder).predict_proba(["odd thing"])
    assert proba[0, 2] == 0 and proba[0, 0] > 0
