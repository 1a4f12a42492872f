"""A bundle that finds entities, as an MLflow model."""

from dataclasses import asdict

import pytest

from limbeck import flavour, load

mlflow = pytest.importorskip("mlflow", reason="the extra 'track' is not installed")


def test_mlflow_gives_the_spans_that_the_bundle_gives(tagged, tmp_path):
    bundle = tagged.folder("compress") / "cnn"
    flavour.save_model(bundle, tmp_path / "model")
    texts = ["Ida lives in Bonn", "the wifi never worked", ""]
    table = mlflow.pyfunc.load_model(str(tmp_path / "model")).predict(texts)
    expected = [[asdict(entity) for entity in mine] for mine in load(bundle).predict(texts)]
    assert table.columns.tolist() == ["spans"] and table["spans"].tolist() == expected and expected[0]
    assert flavour.load_model(str(tmp_path / "model")).tag(texts) == load(bundle).tag(texts)
    assert mlflow.models.Model.load(str(tmp_path / "model")).signature.outputs.input_names() == ["spans"]
