"""What a bundle answers: one text or many, short or long, with one thread or several."""

import subprocess
import sys
import warnings

import numpy as np
import pytest
from bundles import write_bundle

import limbeck
from limbeck.runtime.predictor import LongText
from limbeck.runtime.stream import answers_to
from limbeck.scorer import Scorer

TEXTS = ["the train was late", "hot, hot!", "the wifi was late", "", "unheard of"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_bundle(tmp_path_factory.mktemp("predictor") / "b")


@pytest.fixture(scope="module")
def model(folder):
    return limbeck.load(folder)


def test_labels_past_their_thresholds(model):
    assert model.predict(TEXTS) == [["late"], ["hot"], ["late", "wifi"], [], []]


def test_it_is_a_scorer(model):
    assert isinstance(model, Scorer)


def test_one_at_a_time_is_as_together(model):
    together = model.predict_proba(TEXTS)
    assert together.shape == (5, 3) and together.dtype == np.float32
    assert np.array_equal(together, np.concatenate([model.predict_proba([text]) for text in TEXTS]))


def test_threads_change_nothing(folder, model):
    texts = TEXTS * 300
    assert np.array_equal(limbeck.load(folder, threads=2).predict_proba(texts), model.predict_proba(texts))


def test_no_text_has_no_answer(model):
    assert model.predict([]) == []
    assert model.predict_proba([]).shape == (0, 3)
    assert model.embed([]).shape == (0, 3)


def test_answers_tell_everything(model):
    answer = model.answer("the train was late")
    assert answer.labels == ("late",)
    assert answer.probabilities["late"] == pytest.approx(1 / (1 + np.exp(-4)), abs=1e-6)
    assert (answer.tokens, answer.windows, answer.truncated) == (6, 1, False)


def test_embeddings_are_the_second_output(model):
    assert model.embed(["late", "late hot"]).tolist() == [[4, -4, -4], [4, 4, -4]]


@pytest.mark.parametrize("texts", ["one text", ["a", None], [1.5], [b"bytes"]])
def test_what_is_no_list_of_texts_is_refused(model, texts):
    with pytest.raises(TypeError, match="text"):
        model.predict(texts)


def test_a_cut_text_is_told_of(folder):
    model = limbeck.load(folder)
    with pytest.warns(LongText):
        assert model.predict(["the " * 10 + "late"]) == [[]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # once is enough
        assert model.answer("the " * 10 + "late").truncated


@pytest.mark.parametrize(("combine", "expected"), [("max", 4.0), ("mean", None)])
def test_windows_read_all_of_it(tmp_path, combine, expected):
    reading = {"long_texts": "windows", "overlap": 2, "combine": combine}
    model = limbeck.load(write_bundle(tmp_path / "b", reading=reading))
    answer = model.answer("the " * 10 + "late")
    assert answer.windows == 3 and not answer.truncated
    one = 1 / (1 + np.exp(-4))
    likely = one if expected else (one + 2 * (1 - one)) / 3
    assert answer.probabilities["late"] == pytest.approx(likely, abs=1e-6)
    both = model.predict_proba(["the " * 10 + "late", "hot"])
    assert both[0, 0] == pytest.approx(likely, abs=1e-6)
    assert both[1] == pytest.approx(model.predict_proba(["hot"])[0])


def test_a_class_is_always_given(tmp_path):
    model = limbeck.load(write_bundle(tmp_path / "b", task="multiclass"))
    assert model.predict(["the train", "wifi"]) == [["late"], ["wifi"]]


def test_a_stream_is_answered_in_order(model):
    told = list(answers_to(model, iter(TEXTS), at_once=2))
    assert [one["text"] for one in told] == TEXTS
    assert [one["labels"] for one in told] == model.predict(TEXTS)
    assert "probabilities" not in next(iter(answers_to(model, TEXTS, 2, probabilities=False)))


def test_serving_imports_nothing_heavy(folder):
    """In a fresh interpreter, loading and answering must not bring in what only training needs."""
    code = (
        "import sys, limbeck\n"
        f"assert limbeck.load({str(folder)!r}).predict(['late', 'hot']) == [['late'], ['hot']]\n"
        "heavy = {'torch', 'transformers', 'sklearn', 'pandas', 'scipy', 'onnx', 'pydantic'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
