"""Two models in one bundle: what the small one is sure of stays, all else is the larger one's answer."""

from types import SimpleNamespace

import numpy as np
import onnx
import pytest
from bundles import graph, write_bundle
from hypothesis import given
from hypothesis import strategies as st
from onnx import numpy_helper
from serving import running
from typer.testing import CliRunner

import limbeck
from limbeck.cli import app
from limbeck.compress.cascade import join, write_cascade
from limbeck.data.dataset import Dataset
from limbeck.errors import BadSetting, BundleBroken, BundleUnsafe
from limbeck.runtime.bundle import read_bundle
from limbeck.runtime.cascade import Cascade, Passing
from limbeck.runtime.manifest import Label
from limbeck.serve.settings import ServeSettings

NAMES = ("late", "hot", "wifi")


def doubtful_graph():
    """A model that is sure of 'late' and 'wifi', and sees of 'hot' no more than that something may be there."""
    model = onnx.load_from_string(graph())
    for tensor in model.graph.initializer:
        if tensor.name == "table":
            table = numpy_helper.to_array(tensor).copy()
            table[5, 1] = 3.9
            tensor.CopyFrom(numpy_helper.from_array(table, "table"))
    return model.SerializeToString()


def rows(count=60):
    texts, labels = [], []
    for number in range(count):
        on = [number % 3 == 0, number % 5 == 0, number % 7 == 0]
        texts.append(" ".join(["the train", *(name for name, is_on in zip(NAMES, on, strict=True) if is_on)]))
        labels.append(on)
    return Dataset(texts, np.array(labels, dtype=np.float32), NAMES)


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    root = tmp_path_factory.mktemp("cascade")
    limits = [
        Label(name=name, title=name.title(), threshold=limit)
        for name, limit in zip(NAMES, (0.3, 0.6, 0.9), strict=True)
    ]
    write_bundle(root / "small", doubtful_graph())
    write_bundle(root / "larger", labels=limits)
    joined = join(read_bundle(root / "small"), read_bundle(root / "larger"), rows())
    write_cascade(root / "both", joined.bundle, {"macro-F1": 1.0})
    return SimpleNamespace(root=root, joined=joined)


def test_only_what_is_in_doubt_is_passed_on(folders):
    small, larger, both = (limbeck.load(folders.root / name) for name in ("small", "larger", "both"))
    assert isinstance(both, Cascade)
    assert small.predict(["hot"]) == [[]] and larger.predict(["hot"]) == both.predict(["hot"]) == [["hot"]]
    before = both.passed_on
    assert both.predict(["late", "wifi", "late , wifi", "the"]) == [["late"], ["wifi"], ["late", "wifi"], []]
    assert both.passed_on == before and both.asked > 4
    # The share of texts with 'hot', which the limit was fitted on.
    assert folders.joined.chosen.passed_on == pytest.approx(0.2, abs=0.03) and folders.joined.larger_f1 == 1


def test_every_way_to_ask_gives_the_same(folders):
    both = limbeck.load(folders.root / "both")
    texts = rows(30).texts
    proba = both.predict_proba(texts)
    np.testing.assert_allclose(proba, np.concatenate([both.predict_proba([text]) for text in texts]), atol=1e-6)
    np.testing.assert_allclose(proba, both.score(texts).proba, atol=1e-6)
    assert [list(one.labels) for one in both.answers(texts)] == both.predict(texts) == both.chosen(proba)
    assert both.embed(texts[:2]).shape == (2, 3)
    with pytest.raises(TypeError, match="give a list"):
        both.predict("hot")


def test_a_cascade_is_no_worse_than_its_larger_model(folders):
    both, larger = (limbeck.load(folders.root / name) for name in ("both", "larger"))
    assert both.predict(rows().texts) == larger.predict(rows().texts)


@given(
    st.lists(st.floats(0, 1, width=32), min_size=3, max_size=3),
    st.lists(st.floats(0, 1, width=32), min_size=3, max_size=3),
    st.lists(st.floats(0, 1, width=32), min_size=3, max_size=3),
)
def test_moved_probabilities_mean_the_same_at_the_other_s_thresholds(proba, mine, theirs):
    row, limits, others = (np.array(one, dtype=np.float32) for one in (proba, mine, theirs))
    moved = Passing(limits, others, 0.0, False).moved(row[None])[0]
    yes = row >= limits
    assert ((moved >= others) == yes)[(others > 0) | yes].all()
    assert (moved >= 0).all() and (moved <= 1 + 1e-6).all()


def test_bundles_that_don_t_fit_together_are_refused(folders, tmp_path):
    small = read_bundle(folders.root / "small")
    other = [Label(name=name, title=name, threshold=0.5) for name in ("late", "hot", "cold")]
    odd = read_bundle(write_bundle(tmp_path / "odd", labels=other))
    for pair in ((small, odd), (small, read_bundle(folders.root / "both"))):
        with pytest.raises(BadSetting):
            join(*pair, rows())


def test_its_files_are_checked_like_any_other(folders, tmp_path):
    import shutil

    for name, error in (("larger.onnx", BundleBroken), ("larger-tokenizer.json", BundleBroken)):
        broken = shutil.copytree(folders.root / "both", tmp_path / name)
        (broken / name).write_bytes((broken / name).read_bytes()[:-1] + b"x")
        with pytest.raises(error):
            limbeck.load(broken)
        (broken / name).unlink()
        with pytest.raises(error):
            limbeck.load(broken)
    plain = shutil.copytree(folders.root / "small", tmp_path / "plain")
    shutil.copy(folders.root / "both" / "larger.onnx", plain)
    with pytest.raises(BundleUnsafe):
        limbeck.load(plain)


def test_it_is_served(folders):
    import json
    import urllib.request

    with running(ServeSettings({"both": str(folders.root / "both")})) as server:
        asked = urllib.request.Request(f"{server.url}/v1/predict", b'{"texts": ["hot", "late"]}')
        told = json.loads(urllib.request.urlopen(asked).read())
    assert [answer["labels"] for answer in told["answers"]] == [["hot"], ["late"]]
    assert told["thresholds"]["wifi"] == 0.9


def test_the_command_says_what_it_gives(template, tmp_path):
    from teaching_project import QUICK, copy_of, pipeline

    project = copy_of(template, tmp_path / "p")
    settings = ["distill.enough=0", "distill.steps=40", "students.size=small", 'students.kinds=["bag", "cnn"]']
    chain = pipeline(project, "probe", *settings, 'compress.recipes=["tables"]')
    chain.run(until="compress")
    made = chain.folder("compress")
    told = [part for s in [*QUICK, "encoder.name=encoder", "teach.kind=probe"] for part in ("--set", s)]
    arguments = ["cascade", str(made / "bag"), str(made / "cnn"), str(tmp_path / "both"), "-p", str(project), *told]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    assert "passed on" in done.output and "cascade" in done.output
    assert isinstance(limbeck.load(tmp_path / "both"), Cascade)
    assert "worst case" in (tmp_path / "both" / "README.md").read_text(encoding="utf-8")
    again = CliRunner().invoke(app, arguments)
    assert again.exit_code and "already there" in str(again.exception)
