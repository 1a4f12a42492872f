"""The chain as a scikit-learn classifier: texts and labels in any form, and a bundle that answers."""

import json
import os
import pickle
import subprocess
import sys
import threading
import time

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from texts_given import LABELS, classes, distilled, given, words

import limbeck
from limbeck.errors import BadInput, BadSetting, LimbeckError, ProjectExists, UnknownSetting
from limbeck.store import Store

TEXTS, LISTS = given()
MATRIX = np.array([[int(name in names) for name in LABELS] for names in LISTS])
FRESH, _ = given(40, seed=9)


@pytest.fixture(scope="module")
def encoder(template):
    return template / "encoder"


@pytest.fixture(scope="module")
def fitted(encoder):
    return distilled(encoder).fit(TEXTS, LISTS, unlabelled=given(60, seed=5)[0])


def rows_of(project, name):
    return [json.loads(line) for line in (project / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


def test_what_is_fitted_is_a_bundle_distilled_from_a_teacher(fitted):
    bundle = limbeck.load(fitted.bundle_)
    assert bundle.manifest.model.kind == "bag" and bundle.labels == LABELS
    assert "teacher_judging_macro_f1" in bundle.manifest.figures
    np.testing.assert_array_equal(bundle.predict_proba(FRESH), fitted.predict_proba(FRESH).astype(np.float32))
    assert bundle.predict(FRESH) == fitted.predict(FRESH)
    assert fitted.thresholds_.tolist() == bundle.thresholds.tolist()
    assert fitted.figures_["macro_f1"] == bundle.manifest.figures["judging_macro_f1"] > 0.5


def test_two_fits_of_the_same_rows_answer_the_same(fitted, encoder):
    again = distilled(encoder).fit(TEXTS, LISTS, unlabelled=given(60, seed=5)[0])
    np.testing.assert_array_equal(again.predict_proba(FRESH), fitted.predict_proba(FRESH))


def test_without_unlabelled_texts_the_pool_is_made_up_of_training_texts(encoder, tmp_path):
    model = distilled(encoder, folder=tmp_path, settings={"distill.epochs": 1}).fit(TEXTS, classes(LISTS))
    (project,) = tmp_path.iterdir()
    pool = [row["text"] for row in rows_of(project, "pool")]
    known = set(" ".join(row["text"] for row in rows_of(project, "train")).split())
    assert len(pool) > len(TEXTS) and not set(pool) & set(TEXTS) and set(" ".join(pool).split()) <= known
    assert set(model.predict(FRESH)) <= set(model.classes_)


def test_unlabelled_texts_and_rows_that_nobody_looked_at_are_the_pool(encoder, tmp_path):
    labels = [None if number % 3 == 0 else name for number, name in enumerate(classes(LISTS))]
    model = distilled(encoder, folder=tmp_path, settings={"distill.epochs": 1})
    model.fit(TEXTS, labels, unlabelled=FRESH)
    (project,) = tmp_path.iterdir()
    assert {row["text"] for row in rows_of(project, "pool")} == {*FRESH, *TEXTS[::3]}
    assert not {row["text"] for row in rows_of(project, "train") + rows_of(project, "dev")} & set(TEXTS[::3])


def test_dev_is_split_off_stratified_and_there_is_no_test_set(tmp_path):
    words(folder=tmp_path, dev_share=0.25).fit(TEXTS, MATRIX)
    (project,) = tmp_path.iterdir()
    train, dev = rows_of(project, "train"), rows_of(project, "dev")
    assert len(train) + len(dev) == len(TEXTS) and not {r["text"] for r in train} & {r["text"] for r in dev}
    for column in range(3):
        assert abs(sum(row[str(column)] for row in dev) - MATRIX[:, column].sum() / 4) < 2
    assert limbeck.load_project(project).config.data.test == "" and not (project / "test.jsonl").exists()


def test_answers_have_the_form_that_labels_had():
    lists = words().fit(TEXTS, LISTS)
    assert lists.classes_.tolist() == list(LABELS) and lists.predict(TEXTS[:1])[0] == LISTS[0]
    matrix = words().fit(TEXTS, MATRIX)
    assert matrix.classes_.tolist() == [0, 1, 2] and matrix.predict(TEXTS).shape == MATRIX.shape
    frame = words().fit(pd.Series(TEXTS), pd.DataFrame(MATRIX, columns=LABELS))
    assert frame.classes_.tolist() == list(LABELS)
    np.testing.assert_array_equal(frame.predict(np.array(TEXTS)), matrix.predict(TEXTS))
    names = words().fit(np.array(TEXTS), np.array(classes(LISTS)))
    assert names.classes_.tolist() == ["heat", "late", "none", "wifi"] and names.predict(TEXTS[:3]).shape == (3,)
    yes = words().fit(TEXTS, MATRIX[:, 0].astype(bool))
    assert yes.classes_.tolist() == [False, True] and yes.predict(TEXTS).dtype == bool
    np.testing.assert_allclose(yes.predict_proba(TEXTS).sum(axis=1), 1)


def test_unknown_is_not_no(tmp_path):
    cells = MATRIX.astype(float)
    cells[np.random.default_rng(0).random(cells.shape) < 0.5] = np.nan
    model = words(folder=tmp_path).fit(TEXTS, cells)
    (project,) = tmp_path.iterdir()
    rows = {row["text"]: row for row in rows_of(project, "train") + rows_of(project, "dev")}
    for text, row in zip(TEXTS, cells, strict=True):
        if not np.isnan(row).all():
            assert [rows[text][str(column)] for column in range(3)] == [None if np.isnan(v) else v for v in row]
    assert model.score(TEXTS, cells) > 0.9 and model.score(TEXTS, MATRIX) > 0.9


def test_a_score_counts_rows_whose_known_labels_are_right():
    model = words().fit(TEXTS, LISTS)
    right = model.predict(TEXTS[:4])
    wrong = [[*right[0], "never heard of"], None, right[2], right[3]]
    assert model.score(TEXTS[:4], right) == 1
    assert model.score(TEXTS[:4], wrong) == pytest.approx(2 / 3)
    assert model.score(TEXTS[:4], wrong, sample_weight=[0, 1, 1, 1]) == 1


def test_rows_to_score_may_be_few_and_alike():
    model = words().fit(TEXTS, MATRIX)
    answers = model.predict(TEXTS[:2])
    assert model.score(TEXTS[:1], answers[:1]) == 1 and model.score(TEXTS[:2], answers.tolist()) == 1
    assert np.isnan(model.score(TEXTS[:1], np.full((1, 3), np.nan)))
    with pytest.raises(BadInput, match="shape"):
        model.score(TEXTS[:2], answers[:, :2])
    one = words().fit(TEXTS, classes(LISTS))
    assert one.score(TEXTS[:2], one.predict(TEXTS[:2])) == 1 and one.score(TEXTS[:1], ["never heard of"]) == 0


def test_labels_may_be_called_like_the_columns_of_files():
    renamed = [[{"heat": "text", "late": "labels", "wifi": "label"}[name] for name in names] for names in LISTS]
    assert words().fit(TEXTS, renamed).predict(TEXTS[:5]) == [sorted(names) for names in renamed[:5]]


def test_the_same_rows_are_not_learnt_twice_and_others_apart(tmp_path, capsys):
    words(folder=tmp_path).fit(TEXTS, LISTS)
    again = words(folder=tmp_path, verbose=True).fit(TEXTS, LISTS)
    told = capsys.readouterr().err.splitlines()
    assert told and all(line.endswith("up to date") for line in told)
    assert again.bundle_.is_relative_to(tmp_path)
    words(folder=tmp_path).fit(TEXTS[:80], LISTS[:80])
    assert len(list(tmp_path.iterdir())) == 2


def test_a_pickle_holds_the_bundle_s_files_and_needs_no_folder(tmp_path):
    model = words(folder=tmp_path / "kept").fit(TEXTS, LISTS)
    joblib.dump(model, tmp_path / "model.joblib")
    before, copied = model.predict_proba(FRESH), pickle.loads(pickle.dumps(model))
    model.bundle_.rename(tmp_path / "elsewhere")
    for other in (copied, joblib.load(tmp_path / "model.joblib")):
        np.testing.assert_array_equal(other.predict_proba(FRESH), before)
        assert other.bundle_ != model.bundle_ and limbeck.load(other.bundle_).labels == LABELS
    names = sorted(file.name for file in copied.bundle_.iterdir())
    assert names == ["README.md", "bundle.json", "model.onnx", "tokenizer.json"]


def test_a_bundle_that_nobody_keeps_goes_with_its_estimator():
    model = words().fit(TEXTS, LISTS)
    first = model.bundle_
    model.fit(TEXTS[:100], LISTS[:100])
    second = model.bundle_
    assert not first.exists() and second.stat().st_mode & 0o077 == 0, "nobody else reads it"
    if (child := os.fork()) == 0:
        try:
            model.__dict__.pop("_cleaning")()
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    assert second.exists(), "a fork's end is not the owner's"
    del model
    assert not second.exists()


def test_nothing_is_left_behind_when_python_ends(tmp_path):
    code = "from texts_given import given, words; model = words().fit(*given()); print(model.bundle_, model.bundle_.is_dir())"
    world = os.environ | {"TMPDIR": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], env=world, capture_output=True, text=True, check=True)
    assert done.stdout.split()[1] == "True" and not list(tmp_path.glob("limbeck-*"))


def test_saving_gives_a_bundle_for_any_use(tmp_path):
    model = words().fit(TEXTS, LISTS)
    assert limbeck.load(model.save(tmp_path / "bundle")).predict(FRESH) == model.predict(FRESH)
    with pytest.raises(ProjectExists):
        model.save(tmp_path / "bundle")


def test_it_works_inside_scikit_learn_s_tools(tmp_path):
    model = words(folder=tmp_path)
    assert clone(model).get_params() == model.get_params()
    scores = cross_val_score(model, TEXTS, MATRIX, cv=2, error_score="raise")
    assert scores.shape == (2,) and scores.min() > 0.5
    assert cross_val_score(model, TEXTS, LISTS, cv=KFold(2), error_score="raise").min() > 0.5
    chain = make_pipeline(FunctionTransformer(lambda texts: [text.lower() for text in texts]), model)
    search = GridSearchCV(chain, {"limbeckclassifier__student": ["tfidf-logreg", "svm"]}, cv=2, error_score="raise")
    search.fit(TEXTS, classes(LISTS))
    assert search.score(TEXTS, classes(LISTS)) > 0.8 and len(search.cv_results_["params"]) == 2


def test_fits_of_the_same_rows_wait_for_each_other(tmp_path):
    words(folder=tmp_path).fit(TEXTS, MATRIX)
    (project,) = tmp_path.iterdir()
    held, free = threading.Event(), threading.Event()

    def hold():
        with Store(project / ".limbeck").lock():
            held.set()
            free.wait(10)

    other = threading.Thread(target=hold)
    other.start()
    held.wait(10)
    threading.Timer(0.3, free.set).start()
    began = time.monotonic()
    words(folder=tmp_path).fit(TEXTS, MATRIX)
    assert free.is_set() and time.monotonic() - began > 0.2
    other.join()


@pytest.mark.parametrize(
    ("texts", "labels", "said"),
    [
        ([], [], "No label is known"),
        ("one text", ["a"], "not a list of texts"),
        (None, ["a"], "not a list of texts"),
        (TEXTS, classes(LISTS)[:-1], "There are 120 texts, but labels of 119."),
        ([*TEXTS[:-1], 7], classes(LISTS), "texts[119] is of the type int"),
        ([*TEXTS[:-1], None], classes(LISTS), "texts[119] is None"),
        (np.array([TEXTS, TEXTS]).T, classes(LISTS), "2 dimensions"),
        (TEXTS, ["same"] * 120, "1 class only"),
        (TEXTS, [["same"]] * 120, "one class only"),
        (TEXTS, np.ones((120, 2)), "one class only"),
        (TEXTS, [None] * 120, "No label is known"),
        (TEXTS, np.full(120, np.nan), "No label is known"),
        (TEXTS, np.full((120, 3), np.nan), "No label is known"),
        (TEXTS, MATRIX * 2, "something else than 1, 0 and NaN"),
        (TEXTS, np.array([["a", "b"]] * 120), "something else than numbers"),
        (TEXTS, None, "requires y to be passed"),
        (TEXTS[:6], classes(LISTS)[:6], "it takes 10"),
        (["the same"] * 20, ["a", "b"] * 10, "is 1 sample"),
        ([" "] * 20, ["a", "b"] * 10, "are 0 samples"),
        (TEXTS, [f" {name}" for name in classes(LISTS)], "can't be named"),
    ],
)
def test_what_can_t_be_learnt_is_refused_with_a_sentence(texts, labels, said):
    with pytest.raises(BadInput) as caught:
        words().fit(texts, labels)
    assert said in str(caught.value) and isinstance(caught.value, ValueError) and isinstance(caught.value, LimbeckError)


def test_questions_that_can_t_be_answered():
    with pytest.raises(NotFittedError):
        words().predict(["a text"])
    model = words().fit(TEXTS, LISTS)
    for strange in ("one text", [1.5], [None], np.array([["a", "b"]])):
        with pytest.raises(BadInput):
            model.predict(strange)
    assert model.predict([]) == [] and model.predict_proba([]).shape == (0, 3)
    assert len(model.predict(["", "x" * 100_000])) == 2


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"settings": {"distil.epochs": 3}}, UnknownSetting),
        ({"settings": {"epochs": 3}}, BadSetting),
        ({"settings": {"data.dev": "mine.csv"}}, BadSetting),
        ({"dev_share": 0.9}, BadSetting),
        ({"size": "huge"}, BadSetting),
        ({"student": "bag"}, BadSetting),
        ({"teacher": "nobody"}, BadSetting),
    ],
)
def test_a_parameter_that_can_t_be_is_told_by_fit(changed, error):
    model = words(**changed) if "settings" not in changed else words().set_params(**changed)
    with pytest.raises(error):
        model.fit(TEXTS, LISTS)
