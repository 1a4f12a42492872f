"""A bundle is refused unless every byte is as it was made, and nothing in it leads elsewhere."""

import hashlib
import json
import os
import pickle
import shutil
from pathlib import Path

import pytest
from bundles import graph, write_bundle

import limbeck
from limbeck.errors import BundleBroken, BundleMissing, BundleUnsafe, BundleVersion
from limbeck.runtime import bundle as bundles
from limbeck.runtime.graphfile import NoGraph, wants_other_files


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return write_bundle(tmp_path_factory.mktemp("bundle") / "b")


@pytest.fixture
def folder(made, tmp_path):
    return Path(shutil.copytree(made, tmp_path / "b"))


def retell(folder, change):
    """Change what bundle.json says, and sign it anew: whoever can write files can do that."""
    told = json.loads((folder / "bundle.json").read_text())
    change(told)
    told["sha256"] = "0" * 64
    text = json.dumps(told)
    told["sha256"] = hashlib.sha256(text.encode()).hexdigest()
    (folder / "bundle.json").write_text(json.dumps(told))


def flip(file, at):
    content = bytearray(file.read_bytes())
    content[at] ^= 1
    file.write_bytes(bytes(content))


def cut(name):
    return lambda folder: (folder / name).write_bytes((folder / name).read_bytes()[:-10])


def remove(name):
    return lambda folder: (folder / name).unlink()


def add(name, content=b"x"):
    return lambda folder: (folder / name).write_bytes(content)


def tell(change):
    return lambda folder: retell(folder, change)


def linked(folder):
    (folder.parent / "elsewhere").write_bytes((folder / "model.onnx").read_bytes())
    (folder / "model.onnx").unlink()
    (folder / "model.onnx").symlink_to(folder.parent / "elsewhere")


def external(where):
    def change(folder):
        (folder / "model.onnx").write_bytes(graph(external=where))
        content = (folder / "model.onnx").read_bytes()
        facts = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        retell(folder, lambda told: told["files"].update({"model.onnx": facts}))

    return change


def swapped(content):
    def change(folder):
        (folder / "model.onnx").write_bytes(content)
        facts = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        retell(folder, lambda told: told["files"].update({"model.onnx": facts}))

    return change


def outside(told):
    told["files"]["../secret"] = told["files"]["README.md"]


def absolute(told):
    told["files"]["/etc/passwd"] = told["files"]["README.md"]


BAD = {
    "no bundle.json": (remove("bundle.json"), BundleMissing),
    "no model": (remove("model.onnx"), BundleBroken),
    "no tokeniser": (remove("tokenizer.json"), BundleBroken),
    "no card": (remove("README.md"), BundleBroken),
    "cut model": (cut("model.onnx"), BundleBroken),
    "cut tokeniser": (cut("tokenizer.json"), BundleBroken),
    "cut bundle.json": (cut("bundle.json"), BundleBroken),
    "empty bundle.json": (add("bundle.json", b""), BundleBroken),
    "bundle.json is a list": (add("bundle.json", b"[]"), BundleBroken),
    "bundle.json is no UTF-8": (add("bundle.json", b"\xff\xfe{}"), BundleBroken),
    "deeply nested bundle.json": (add("bundle.json", b"[" * 100_000), BundleBroken),
    "a changed byte in the model": (lambda f: flip(f / "model.onnx", 200), BundleBroken),
    "a changed byte in the tokeniser": (lambda f: flip(f / "tokenizer.json", 200), BundleBroken),
    "a changed byte in the card": (lambda f: flip(f / "README.md", 3), BundleBroken),
    "a changed threshold": (
        lambda f: (f / "bundle.json").write_text((f / "bundle.json").read_text().replace("0.5", "0.6", 1)),
        BundleBroken,
    ),
    "a later format": (tell(lambda told: told.update(format=2)), BundleVersion),
    "no format": (tell(lambda told: told.pop("format")), BundleVersion),
    "a fact that nobody knows": (tell(lambda told: told.update(run="rm -rf")), BundleBroken),
    "a threshold of 7": (tell(lambda told: told["labels"][0].update(threshold=7)), BundleBroken),
    "no labels": (tell(lambda told: told.update(labels=[])), BundleBroken),
    "a pickle": (add("model.pkl", pickle.dumps(1)), BundleUnsafe),
    "a pickle that is told of": (
        lambda f: (add("w.pkl")(f), retell(f, lambda told: told["files"].update({"w.pkl": told["files"]["README.md"]}))),
        BundleUnsafe,
    ),
    "a folder": (lambda f: (f / "more").mkdir(), BundleUnsafe),
    "a file that isn't told of": (add("config.json", b"{}"), BundleUnsafe),
    "a path outside": (tell(outside), BundleUnsafe),
    "an absolute path": (tell(absolute), BundleUnsafe),
    "a link": (linked, BundleUnsafe),
    "numbers in another file": (external("weights.bin"), BundleUnsafe),
    "numbers in a file outside": (external("../../etc/passwd"), BundleUnsafe),
    "text instead of a model": (swapped(b"hello, this is no model"), BundleBroken),
    "an empty model": (swapped(b""), BundleBroken),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_a_bad_bundle_is_refused(folder, case):
    spoil, error = BAD[case]
    spoil(folder)
    with pytest.raises(error) as refused:
        limbeck.load(folder)
    assert refused.value.message and refused.value.fix


def test_a_pipe_is_not_waited_for(folder):
    (folder / "model.onnx").unlink()
    os.mkfifo(folder / "model.onnx")
    with pytest.raises(BundleUnsafe):
        limbeck.load(folder)


def test_a_file_larger_than_any_is_not_read(folder, monkeypatch):
    monkeypatch.setitem(bundles.LARGEST, "model.onnx", 10)
    with pytest.raises(BundleUnsafe, match="no bundle's has more than 10"):
        limbeck.load(folder)


def test_a_model_that_the_runtime_refuses(folder):
    other = graph().replace(b"ReduceSum", b"ReduceSon")
    swapped(other)(folder)
    with pytest.raises(BundleBroken, match="can't be loaded"):
        limbeck.load(folder)


def test_every_byte_counts(folder):
    """No byte of any file may change unseen."""
    for file in sorted(folder.iterdir()):
        content = file.read_bytes()
        for at in range(0, len(content), max(1, len(content) // 25)):
            flip(file, at)
            with pytest.raises((BundleBroken, BundleVersion, BundleUnsafe)):
                limbeck.load(folder)
            file.write_bytes(content)
    limbeck.load(folder)


def test_looking_for_other_files_reads_any_model():
    assert not wants_other_files(graph())
    assert wants_other_files(graph(external="x"))
    for broken in (b"", b"\x08", b"\x3a\xff\xff\xff\x7f", b"\x0b", b"\xff" * 20):
        with pytest.raises(NoGraph):
            wants_other_files(broken)
