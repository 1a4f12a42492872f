"""OpenVINO runs a bundle's graph where the bundle says so and it is there; else onnxruntime gives the same answers."""

import hashlib
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from bundles import graph, manifest, write_bundle

import limbeck
from limbeck.compress.cascade import join, write_cascade
from limbeck.compress.recipes import need_backends
from limbeck.data.dataset import Dataset
from limbeck.errors import BundleBroken, ExtraMissing
from limbeck.runtime.bundle import FACTS, read_bundle, write_facts
from limbeck.runtime.openvino_session import NotRunnable, run_by_openvino
from limbeck.runtime.predictor import Predictor
from limbeck.runtime.session import OtherBackend

TEXTS = ["the train was late", "hot, hot!", "the wifi was late", "", "unheard of", "late late wifi"]
# What an interpreter without the package does when it is asked for.
WITHOUT = "import sys; sys.modules['openvino'] = None; "


def by(backend):
    return replace(manifest().model, backend=backend)


def bundle_for(folder, backend):
    write_bundle(folder)
    write_facts(folder, manifest(model=by(backend)))
    return folder


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    root = tmp_path_factory.mktemp("openvino")
    backends = ("onnxruntime", "openvino", "openvino-bf16")
    return {"plain": write_bundle(root / "plain")} | {name: bundle_for(root / name, name) for name in backends}


def run(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


def test_answers_are_those_of_onnxruntime(folders):
    mine, theirs = limbeck.load(folders["openvino"]), limbeck.load(folders["plain"])
    np.testing.assert_allclose(mine.predict_proba(TEXTS), theirs.predict_proba(TEXTS), atol=1e-6)
    for text in TEXTS:
        np.testing.assert_allclose(mine.predict_proba([text]), theirs.predict_proba([text]), atol=1e-6)
    np.testing.assert_allclose(mine.embed(TEXTS), theirs.embed(TEXTS), atol=1e-6)
    assert mine.predict(TEXTS) == theirs.predict(TEXTS)


def test_short_floats_are_near_and_only_there_where_they_are_asked_for(folders):
    short, theirs = limbeck.load(folders["openvino-bf16"]), limbeck.load(folders["plain"])
    np.testing.assert_allclose(short.predict_proba(TEXTS), theirs.predict_proba(TEXTS), atol=0.02)


def test_outputs_come_by_name_in_the_order_asked_for():
    session = run_by_openvino(graph(), "openvino", threads=1)
    ids = np.array([[2, 4, 3]])
    feeds = {"attention_mask": np.ones_like(ids), "input_ids": ids}
    proba, logits = session(["probabilities", "logits"], feeds)
    np.testing.assert_allclose(proba, 1 / (1 + np.exp(-logits)), atol=1e-6)
    assert [one.tolist() for one in session(["embedding", "logits"], feeds)] == [[[4, -4, -4]]] * 2
    with pytest.raises(KeyError, match="attention_mask"):
        session(["logits"], {"input_ids": ids})


def test_answers_stay_when_others_are_asked_for():
    session = run_by_openvino(graph(), "openvino", threads=1)
    ids = np.array([[2, 4, 3]])
    [first] = session(["logits"], {"input_ids": ids, "attention_mask": np.ones_like(ids)})
    kept = first.copy()
    session(["logits"], {"input_ids": ids + 1, "attention_mask": np.ones_like(ids)})
    assert np.array_equal(first, kept)


def test_several_threads_may_ask_at_a_time(folders):
    model = limbeck.load(folders["openvino"])
    many = [[text] for text in TEXTS * 50] + [TEXTS[: 1 + n % 5] for n in range(50)]
    expected = [model.predict_proba(texts) for texts in many]
    with ThreadPoolExecutor(8) as workers:
        for found, right in zip(workers.map(model.predict_proba, many), expected, strict=True):
            np.testing.assert_allclose(found, right, atol=1e-6)


def test_batches_of_two_threads_change_nothing(folders):
    texts = TEXTS * 40
    one, two = (limbeck.load(folders["openvino"], threads=threads) for threads in (1, 2))
    np.testing.assert_allclose(two.predict_proba(texts), one.predict_proba(texts), atol=1e-6)


def test_both_models_of_a_cascade_may_be_run_by_it(folders, tmp_path):
    small = read_bundle(folders["plain"])
    labels = np.array([[word in text for word in ("late", "hot", "wifi")] for text in TEXTS], dtype=np.float32)
    joined = join(small, read_bundle(folders["openvino"]), Dataset(TEXTS, labels, ("late", "hot", "wifi"))).bundle
    write_cascade(tmp_path / "one", joined, {})
    both = replace(joined, manifest=replace(joined.manifest, model=by("openvino")))
    write_cascade(tmp_path / "both", both, {})
    for name, mine in (("one", "onnxruntime"), ("both", "openvino")):
        found = read_bundle(tmp_path / name)
        assert (found.manifest.model.backend, found.larger.manifest.model.backend) == (mine, "openvino")
        expected = limbeck.load(folders["plain"]).predict(TEXTS)
        assert limbeck.load(tmp_path / name).predict(TEXTS) == expected


def test_where_it_is_missing_onnxruntime_gives_the_answers_and_says_so_once(folders):
    code = f"""{WITHOUT}import warnings, limbeck
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    models = [limbeck.load(folder, threads=2) for folder in ({str(folders["openvino"])!r}, {str(folders["openvino-bf16"])!r})]
    found = [model.predict({TEXTS!r} * 20)[:6] for model in models]
print(found[0] == found[1], found[0])
print(*[one.message for one in told if "OpenVINO" in str(one.message)], sep="\\n")
"""
    shown, *warned = run(code)[0].splitlines()
    assert shown == f"True {limbeck.load(folders['plain']).predict(TEXTS)}"
    assert len(warned) == 1 and "pip install 'limbeck[openvino]'" in warned[0] and "onnxruntime" in warned[0]


def test_what_it_can_t_read_onnxruntime_runs(tmp_path):
    broken = replace(read_bundle(bundle_for(tmp_path / "b", "openvino")), graph=b"no graph")
    with pytest.raises(NotRunnable, match="can't run this graph"):
        run_by_openvino(broken.graph, "openvino", threads=1)
    with pytest.warns(OtherBackend, match="can't run this graph"), pytest.raises(BundleBroken, match="can't be loaded"):
        Predictor(broken)


def test_only_a_bundle_that_asks_for_it_imports_it_and_then_nobody_is_called(folders):
    code = "import sys, limbeck; limbeck.load({!r}).predict(['late']); print(*[n in sys.modules for n in {}])"
    names = ("openvino", "openvino_telemetry")
    assert run(code.format(str(folders["plain"]), names))[0].split() == ["False", "False"]
    assert run(code.format(str(folders["openvino"]), names))[0].split() == ["True", "False"]


def test_a_recipe_for_what_is_not_installed_names_the_extra(monkeypatch):
    need_backends(["float", "float@openvino"])
    monkeypatch.setitem(sys.modules, "openvino", None)
    need_backends(["float", "int8-channels"])
    with pytest.raises(ExtraMissing, match=r"float@openvino.*pip install 'limbeck\[openvino\]'"):
        need_backends(["float", "float@openvino"])


def test_a_bundle_keeps_its_backend_and_an_old_one_has_onnxruntime(folders, tmp_path):
    for name in ("onnxruntime", "openvino", "openvino-bf16"):
        assert read_bundle(folders[name]).manifest.model.backend == name
    assert json.loads((folders["openvino"] / FACTS).read_text())["model"]["backend"] == "openvino"
    old = _with_model(write_bundle(tmp_path / "old"), lambda model: model.pop("backend"))
    assert read_bundle(old).manifest.model.backend == "onnxruntime"


def test_an_unknown_backend_is_named(tmp_path):
    folder = bundle_for(tmp_path / "b", "abacus")
    with pytest.raises(BundleBroken, match=r"model\.backend.*'onnxruntime', 'openvino'"):
        read_bundle(folder)


def _with_model(folder, change):
    """Rewrite what a bundle says of its model, with the right hash."""
    told = json.loads((folder / FACTS).read_text())
    change(told["model"])
    text = json.dumps(told | {"sha256": "0" * 64})
    (folder / FACTS).write_text(text.replace("0" * 64, hashlib.sha256(text.encode()).hexdigest(), 1))
    return folder
