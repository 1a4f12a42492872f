"""Bundles as MLflow models, against a real MLflow with a SQLite file."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from bundles import write_bundle

import limbeck
from limbeck import flavour
from limbeck.errors import BadInput, BundleMissing, ExtraMissing, ProjectExists

mlflow = pytest.importorskip("mlflow", reason="the extra 'track' is not installed")
pd = pytest.importorskip("pandas")

TEXTS = ["The train was late!", "hot wifi", "the train"]


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    return write_bundle(tmp_path_factory.mktemp("made") / "by-hand", figures={"judging_macro_f1": 0.75})


@pytest.fixture(scope="module")
def logged(bundle, tmp_path_factory):
    place = tmp_path_factory.mktemp("store")
    before = mlflow.get_tracking_uri(), mlflow.get_registry_uri()
    mlflow.set_tracking_uri(f"sqlite:///{place / 'mlflow.db'}")
    mlflow.set_experiment(experiment_id=mlflow.create_experiment("here", artifact_location=(place / "files").as_uri()))
    with mlflow.start_run():
        yield flavour.log_model(bundle, "feedback", registered_model_name="rail", metadata={"team": "rail"})
    mlflow.set_tracking_uri(before[0])
    mlflow.set_registry_uri(before[1])


@pytest.fixture(scope="module")
def saved(bundle, tmp_path_factory):
    target = tmp_path_factory.mktemp("saved") / "model"
    flavour.save_model(bundle, target)
    return target


def test_a_logged_bundle_answers_by_run_and_by_registered_name_as_it_does_itself(bundle, logged):
    mine = limbeck.load(bundle)
    by_run = f"runs:/{logged.run_id}/feedback"
    for uri in (by_run, "models:/rail/1", logged.model_uri):
        table = mlflow.pyfunc.load_model(uri).predict(pd.DataFrame({"text": TEXTS}))
        np.testing.assert_array_equal(table[list(mine.labels)].to_numpy(np.float32), mine.predict_proba(TEXTS))
        assert table["labels"].tolist() == mine.predict(TEXTS) == [["late"], ["hot", "wifi"], []]
    for uri in (by_run, "models:/rail/1"):
        assert flavour.load_model(uri).predict(TEXTS) == mine.predict(TEXTS)


def test_tables_columns_and_lists_are_taken(saved):
    model = mlflow.pyfunc.load_model(str(saved))
    expected = model.predict(pd.DataFrame({"text": TEXTS}))["labels"].tolist()
    for given in (TEXTS, np.array(TEXTS), pd.Series(TEXTS), pd.Series(TEXTS, name="text")):
        assert model.predict(given)["labels"].tolist() == expected
    kept = model.predict(pd.DataFrame({"text": TEXTS}, index=[7, 3, 5]))
    assert kept.index.tolist() == [7, 3, 5] and kept["labels"].tolist() == expected
    assert model.predict("hot wifi")["labels"].tolist() == [["hot", "wifi"]]
    assert model.predict(pd.DataFrame({"text": []}, dtype=str)).shape == (0, 4)


def test_another_column_is_never_taken_for_the_text(saved):
    model = mlflow.pyfunc.load_model(str(saved))
    with pytest.raises(BadInput, match="There is no column 'text' but id"):
        model.predict(pd.DataFrame({"id": ["a", "b", "c"], "text": TEXTS}))
    with pytest.raises(BadInput, match="not a text"):
        flavour.TablePredictor(limbeck.load(saved / "data" / "bundle")).predict(["a", None])


def test_what_mlflow_keeps_is_the_bundle_with_card_figures_signature_and_a_small_runtime(bundle, saved, logged):
    about = mlflow.models.Model.load(str(saved))
    assert about.flavors["python_function"]["loader_module"] == "limbeck.flavour"
    assert about.flavors["limbeck"]["task"] == "multilabel"
    assert about.metadata["figures"] == {"judging_macro_f1": 0.75}
    assert about.metadata["labels"] == {"late": 0.5, "hot": 0.5, "wifi": 0.5}
    assert about.signature.outputs.input_names() == ["late", "hot", "wifi", "labels"]
    assert json.loads((saved / about.saved_input_example_info["artifact_path"]).read_text(encoding="utf-8"))
    assert (saved / "README.md").read_text(encoding="utf-8") == "# By hand\n"
    wanted = (saved / "requirements.txt").read_text(encoding="utf-8").split()
    assert {line.partition("==")[0] for line in wanted} == {"mlflow", *flavour.RUNTIME}
    kept = {file.name: file.read_bytes() for file in (saved / "data" / "bundle").iterdir()}
    assert kept == {file.name: file.read_bytes() for file in bundle.iterdir()}
    assert not [file for file in saved.rglob("*") if file.suffix in (".pkl", ".pickle", ".py")]
    assert mlflow.models.get_model_info(logged.model_uri).metadata["team"] == "rail"


def test_a_fresh_process_loads_and_answers_without_torch(saved):
    code = (
        "import sys, mlflow.pyfunc, pandas; "
        f"model = mlflow.pyfunc.load_model({str(saved)!r}); "
        f"print(model.predict(pandas.DataFrame({{'text': {TEXTS!r}}}))['labels'].tolist()); "
        "print([name for name in ('torch', 'transformers', 'sklearn') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"MLFLOW_DISABLE_TELEMETRY": "true"},
    )
    assert done.stdout.splitlines() == ["[['late'], ['hot', 'wifi'], []]", "[]"]


def test_a_label_called_labels_keeps_its_column(tmp_path):
    from limbeck.runtime.manifest import Label

    names = [Label(name=name, title=name, threshold=0.5) for name in ("labels", "hot", "wifi")]
    table = flavour.TablePredictor(limbeck.load(write_bundle(tmp_path / "b", labels=names))).predict(["late"])
    assert table.columns.tolist() == ["labels", "hot", "wifi", "labels_"] and table["labels_"].tolist() == [["labels"]]


def test_what_is_no_bundle_begins_nothing(tmp_path, bundle):
    with pytest.raises(BundleMissing):
        flavour.log_model(tmp_path, "nothing")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    with pytest.raises(ProjectExists):
        flavour.save_model(bundle, tmp_path / "full")
    with pytest.raises(BundleMissing):
        flavour.load_model(str(tmp_path))


def test_without_mlflow_the_extra_is_named(bundle, monkeypatch):
    monkeypatch.setitem(sys.modules, "mlflow", None)
    for call in (lambda: flavour.log_model(bundle, "a"), lambda: flavour.load_model("models:/a/1")):
        with pytest.raises(ExtraMissing, match=r"limbeck\[track\]"):
            call()
