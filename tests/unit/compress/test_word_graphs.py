"""Baselines become bundles of word ids that give the same probabilities."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_project import make_texts
from teaching_project import multiclass_project

import limbeck
import limbeck.errors
from limbeck.baselines import BaselineScorer
from limbeck.baselines.features import WordFeatures
from limbeck.compress import words
from limbeck.compress.draft import draft
from limbeck.compress.words import words_graph
from limbeck.config import CompressSettings, load_project
from limbeck.errors import BadSetting, RunError
from limbeck.pipeline import Pipeline
from limbeck.runtime.predictor import Predictor
from limbeck.steps.compressing import CHOSEN, TABLE

KINDS = ["svm", "tfidf-logreg", "xgboost"]
ALONE = ["compress.baselines=true", "teach.kind=none", "data.pool=[]", "baselines.trials=2"]
ODD = ["", "???", "Straße ΣΊΣΥΦΟΣ x² e\u0301a", "late late late, LATE!", "_a_ b-c d'e", "word " * 5000]


@pytest.fixture(scope="module")
def done(template_of_words):
    made = Pipeline(load_project(template_of_words, [*ALONE, f"baselines.kinds={json.dumps(KINDS)}"]))
    made.run()
    return made


@pytest.fixture(scope="module")
def template_of_words(tmp_path_factory):
    from small_project import write_project

    return write_project(tmp_path_factory.mktemp("words") / "p")


@pytest.mark.parametrize("kind", KINDS)
def test_a_bundle_says_what_its_baseline_says(done, kind):
    texts = [text for text, _ in make_texts(60, seed=9)] + ODD
    baseline = BaselineScorer.load(done.folder("baselines") / kind)
    made = draft(words_graph(baseline), np.full(len(baseline.labels), 0.5), texts[:5], CompressSettings())
    found = Predictor(made.bundle, warn=False).predict_proba(texts)
    shortened = [" ".join(text.split()[: words.MAX_TOKENS - 1]) for text in texts]
    assert np.abs(found - baseline.predict_proba(shortened)).max() < 1e-5
    one = Predictor(made.bundle, warn=False).predict_proba(texts[:1])
    assert np.abs(one - found[:1]).max() < 1e-6


def test_baselines_alone_make_a_bundle(done):
    folder = done.folder("compress")
    chosen = json.loads((folder / CHOSEN).read_text())["model"]
    assert chosen in [f"baseline-{kind}" for kind in KINDS]
    model = limbeck.load(folder / chosen)
    assert model.predict(["The train was late."]) is not None
    assert "No teacher" in (folder / chosen / "README.md").read_text()
    with pytest.raises(limbeck.errors.BundleBroken, match="no embeddings"):
        model.embed(["a"])


def test_one_class(template, tmp_path):
    folder = multiclass_project(template, tmp_path / "m")
    made = Pipeline(load_project(folder, [*ALONE, 'baselines.kinds=["tfidf-logreg"]']))
    made.run()
    model = limbeck.load(made.folder("compress") / "baseline-tfidf-logreg")
    baseline = BaselineScorer.load(made.folder("baselines") / "tfidf-logreg")
    texts = [text for text, _ in make_texts(20, seed=3)]
    found = model.predict_proba(texts)
    assert np.allclose(found.sum(axis=1), 1, atol=1e-5)
    assert np.abs(found - baseline.predict_proba(texts)).max() < 0.05


def test_a_baseline_that_is_too_large_is_told_of(done, monkeypatch):
    monkeypatch.setattr(words, "LARGEST", 10)
    with pytest.raises(BadSetting, match="support vectors"):
        words_graph(BaselineScorer.load(done.folder("baselines") / "svm"))
    folder = done.project.root
    fewer = Pipeline(load_project(folder, [*ALONE, 'baselines.kinds=["svm", "tfidf-logreg"]']))
    fewer.run()
    told = json.loads((fewer.folder("compress") / TABLE).read_text())
    assert "support vectors" in told["baseline-svm"]["why"]
    assert not (fewer.folder("compress") / "baseline-svm").exists()
    with pytest.raises(RunError, match="support vectors"):
        Pipeline(load_project(folder, [*ALONE, 'baselines.kinds=["svm"]'])).run()


@settings(max_examples=200, deadline=None)
@given(
    st.text(st.characters(max_codepoint=0xFFFF, exclude_categories=["Cs", "Cn"], exclude_characters="Σ"), max_size=60)
)
def test_words_are_split_as_scikit_learn_splits_them(text):
    from sklearn.feature_extraction.text import CountVectorizer

    split = CountVectorizer(token_pattern=r"(?u)\b\w+\b").build_analyzer()
    tokenizer = words._tokeniser({words.PAD: 0, words.UNKNOWN: 1, words.START: 2})
    lowered = tokenizer.normalizer.normalize_str(text)
    assert [word for word, _ in tokenizer.pre_tokenizer.pre_tokenize_str(lowered)] == split(text)


def test_features_are_those_of_scikit_learn():
    texts = [text for text, _ in make_texts(50, seed=2)]
    features = WordFeatures.fit(texts, longest=2, tfidf=True, least_texts=2)
    ids = {
        w: n
        for n, w in enumerate([words.PAD, words.UNKNOWN, words.START, *(w for w in features.words if " " not in w)])
    }
    graph = words._Graph(ids)
    rows = graph.weighed(features)
    model = graph.model(rows, True, len(features.words))
    import onnxruntime

    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    tokenizer = words._tokeniser(ids)
    for text in texts[:10]:
        shown = np.array([tokenizer.encode(text).ids])
        [found] = session.run(["probabilities"], {"input_ids": shown, "attention_mask": np.ones_like(shown)})
        assert np.abs(found - features.transform([text]).toarray()).max() < 1e-6
