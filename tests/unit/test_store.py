"""The store: results are whole or absent, and keys see what matters."""

import json
import textwrap
from pathlib import Path

import pytest

from limbeck.errors import ProjectBusy, ResultBroken
from limbeck.store import FileHashes, Store, _code_of, key_of


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


def test_a_result_is_there_only_after_it_was_finished(store):
    with store.write("kind", "k1", {"x": 1}) as folder:
        (folder / "a.txt").write_text("a", encoding="utf-8")
        assert store.find("kind", "k1") is None
    assert (store.find("kind", "k1") / "a.txt").read_text(encoding="utf-8") == "a"
    assert store.manifest("kind", "k1")["x"] == 1


def test_an_error_while_writing_leaves_nothing(store):
    with pytest.raises(ZeroDivisionError), store.write("kind", "k1", {}) as folder:
        (folder / "a.txt").write_text("a", encoding="utf-8")
        raise ZeroDivisionError
    assert store.find("kind", "k1") is None
    assert list((store.root / "tmp").iterdir()) == []


def test_writing_again_replaces(store):
    for content in ("old", "new"):
        with store.write("kind", "k", {}) as folder:
            (folder / "a.txt").write_text(content, encoding="utf-8")
    assert (store.find("kind", "k") / "a.txt").read_text(encoding="utf-8") == "new"


@pytest.mark.parametrize("damage", [lambda f: f.write_text("b", encoding="utf-8"), Path.unlink])
def test_a_changed_or_lost_file_is_noticed(store, damage):
    with store.write("kind", "k", {}) as folder:
        (folder / "a.txt").write_text("a", encoding="utf-8")
    store.check("kind", "k")
    damage(store.folder("kind", "k") / "a.txt")
    with pytest.raises(ResultBroken, match="a.txt"):
        store.check("kind", "k")


def test_two_holders_exclude_each_other_and_the_message_names_the_first(store):
    with store.lock(), pytest.raises(ProjectBusy, match=r"process \d+ since"), Store(store.root).lock():
        pass
    with store.lock():
        pass


def test_keys_depend_on_values_not_on_order():
    assert key_of({"a": 1, "b": [2]}) == key_of({"b": [2], "a": 1}) != key_of({"a": 1, "b": [3]})


def test_the_code_version_sees_code_but_not_comments_or_docstrings(tmp_path):
    def version(source: str) -> str:
        file = tmp_path / "m.py"
        file.write_text(textwrap.dedent(source), encoding="utf-8")
        return _code_of(file)

    plain = version("def f():\n    return 1\n")
    assert plain != version("def f():\n    return 2\n")
    documented = version('"""Module."""\n\ndef f():\n    """Doc."""\n    return 1  # one\n')
    assert documented == version('"""Other."""\ndef f():\n    """Other."""\n\n    return 1\n')


def test_hashes_of_files_follow_their_content_and_survive_a_broken_cache(tmp_path):
    cache, file = tmp_path / "hashes.json", tmp_path / "a.csv"
    file.write_text("a", encoding="utf-8")
    hashes = FileHashes(cache)
    first = hashes.of(file)
    hashes.save()
    file.write_text("bb", encoding="utf-8")
    assert FileHashes(cache).of(file) != first
    for broken in ("{broken", "[1]"):
        cache.write_text(broken, encoding="utf-8")
        assert FileHashes(cache).of(file) == hashes.of(file)


@pytest.mark.parametrize("content", ["", "[]", '{"x": 1}'])
def test_a_broken_manifest_is_a_broken_result(store, content):
    with store.write("kind", "k", {}):
        pass
    (store.folder("kind", "k") / "manifest.json").write_text(content, encoding="utf-8")
    assert not store.intact("kind", "k") and store.latest("kind") is None


def test_latest_is_the_one_finished_last(store):
    for key in ("k2", "k1"):
        with store.write("kind", key, {"name": key}):
            pass
    assert store.latest("kind")[0] == "k1" and store.latest("none") is None
    assert json.loads((store.folder("kind", "k1") / "manifest.json").read_text(encoding="utf-8"))["files"] == {}
