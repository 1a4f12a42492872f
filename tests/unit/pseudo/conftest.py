"""A project whose pool holds everything that a pool may hold, taught, scored and selected once."""

import json

import pytest
from small_pool import LONG
from small_project import make_texts
from teaching_project import copy_of, pipeline, teaching_project

from limbeck.data.prepare import Prepared


def fill_pool(folder):
    """Write a pool with repeated, empty and long texts, and with texts of training, dev and test."""
    chain = pipeline(folder, "probe")
    chain.run(until="data")
    data = Prepared.load(chain.folder("data"))
    texts = [text for text, _ in make_texts(40, seed=5)]
    lines = [
        *texts,  # rows 0 to 39
        texts[3],  # 40
        "  ",  # 41
        data.train.texts[0],  # 42
        data.train.texts[1].upper() + "!",  # 43
        data.dev.texts[0],  # 44
        data.test.texts[0].upper(),  # 45
        LONG,  # 46
        texts[3] + " ",  # 47
        "",  # 48
    ]
    rows = [json.dumps({"text": text, "source": f"s{number}"}) for number, text in enumerate(lines)]
    (folder / "pool.jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")


@pytest.fixture(scope="session")
def template(tmp_path_factory):
    folder = teaching_project(tmp_path_factory.mktemp("pseudo") / "p")
    fill_pool(folder)
    return folder


@pytest.fixture(scope="session")
def scored_project(template, tmp_path_factory):
    """The project after its selection; don't change it."""
    folder = copy_of(template, tmp_path_factory.mktemp("scored") / "p")
    pipeline(folder, "probe").run(until="select")
    return folder
