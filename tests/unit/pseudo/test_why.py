"""Why a row is kept or left out: every verdict, and always the one that the selection came to."""

import json
import math
import shutil

import pyarrow.parquet as pq
import pytest
from small_pool import LONG
from teaching_project import pipeline

from limbeck.pseudo.why import explain


def stories(chain, *numbers):
    states = chain.run(until="select")
    folders = {state.step.name: chain.store.folder(f"results/{state.step.name}", state.key) for state in states}
    found = [explain(number, folders, chain.project.config) for number in numbers]
    json.dumps([story.as_dict() for story in found], allow_nan=False)
    return found, folders


@pytest.fixture(scope="module")
def told(scored_project, tmp_path_factory):
    """Tell of rows under any settings, in a copy: each setting leaves a selection that others would find done."""
    folder = shutil.copytree(scored_project, tmp_path_factory.mktemp("told") / "p")
    return lambda *numbers, settings=(): stories(pipeline(folder, "probe", *settings), *numbers)


def test_rows_that_are_no_texts_of_the_pool(told):
    [outside, below, blank, last, dev, test], _ = told(49, -1, 41, 48, 44, 45)
    assert outside.verdict == below.verdict == "missing" and "from 0 to 48" in outside.sentence
    assert blank.verdict == last.verdict == "empty"
    assert dev.verdict == test.verdict == "judge" and dev.text is None and dev.answers == ()


def test_a_repeated_text_tells_the_story_of_its_first_row(told):
    [first, again, with_space], _ = told(3, 40, 47)
    assert first.same_as is None and again.same_as == with_space.same_as == 3
    assert again.row == 40 and again.verdict == first.verdict and again.answers == first.answers
    assert again.sentence.startswith("It has the same text as row 3, and each text counts once. Row 3: ")


def test_a_labelled_row_tells_what_it_knows_and_what_is_guessed_out_of_fold(told):
    [same, alike], _ = told(42, 43)
    assert same.verdict == alike.verdict == "labelled" and "labels/" in same.sentence
    assert {answer.verdict.split()[0] for answer in same.answers} >= {"labelled"}
    [unfilled], _ = told(43, settings=["pseudo.fill_labelled=false"])
    guessed = [answer.verdict for answer in unfilled.answers if "labelled" not in answer.verdict]
    assert all(verdict == "unknown" or verdict.endswith("not filled in") for verdict in guessed)


def test_an_uncertain_text_names_the_categories(told):
    found, _ = told(*range(40), settings=["pseudo.confidence=0.8"])
    left_out = [story for story in found if story.verdict == "uncertain"]
    assert left_out and {story.verdict for story in found} == {"kept", "uncertain"}
    for story in left_out:
        names = [answer.category for answer in story.answers if answer.confidence < answer.needed]
        assert names and all(name in story.sentence for name in names)
        assert all(answer.verdict.endswith("uncertain") == (answer.category in names) for answer in story.answers)


SETTINGS = {
    "all": [],
    "strict": ["pseudo.confidence=0.8"],
    "unknown": ["pseudo.confidence=0.9", "pseudo.uncertain=unknown"],
    "caps": ["pseudo.confidence=0.6", "pseudo.empty=0.1", "pseudo.rows=12"],
    "raw": ["calibrate.method=none"],
}


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_the_verdict_is_what_the_selection_came_to(told, settings):
    found, folders = told(*range(40), 46, settings=settings)
    table = pq.read_table(folders["select"] / "selected.parquet").to_pylist()
    selected = {row["row"]: row for row in table}
    assert {story.row for story in found if story.verdict == "kept"} == selected.keys()
    assert selected[3]["count"] == 3 if 3 in selected else True
    for story in found:
        if story.verdict == "kept":
            for answer in story.answers:
                cell = float(selected[story.row][answer.category])
                assert math.isnan(cell) == answer.verdict.endswith("uncertain")
                assert math.isnan(cell) or cell == pytest.approx(answer.probability, abs=1e-3)


def test_caps_are_told_apart(told):
    found, _ = told(*range(40), settings=SETTINGS["caps"])
    assert {"capped", "not drawn", "kept", "uncertain"} == {story.verdict for story in found}
    sentences = {story.verdict: story.sentence for story in found}
    assert "pseudo.empty" in sentences["capped"] and "pseudo.rows" in sentences["not drawn"]
    assert all(
        "yes" not in {answer.verdict for answer in story.answers} for story in found if story.verdict == "capped"
    )


def test_a_long_text_is_cut_and_guessed(told):
    [story], _ = told(46)
    assert story.text == LONG.strip() and all(answer.probability is not None for answer in story.answers)


def test_a_near_copy_names_the_row_that_stays(scored_project, tmp_path):
    folder = shutil.copytree(scored_project, tmp_path / "p")
    pool = folder / "pool.jsonl"
    lines = pool.read_text(encoding="utf-8").splitlines()
    first = json.loads(lines[0])["text"]
    copy = f"{first} - {first}!"
    pool.write_text("\n".join([*lines, json.dumps({"text": copy}), json.dumps({"text": copy})]), encoding="utf-8")
    [stays, near, again], folders = stories(pipeline(folder, "probe", "data.near_duplicates=0.7"), 0, 49, 50)
    assert near.verdict == again.verdict == "near copy" and near.near_to == again.near_to == 0
    assert near.text == copy and near.answers == stays.answers and stays.near_to is None
    assert near.sentence.startswith("Left out: a near copy of row 0 (") and near.sentence.endswith(stays.sentence)
    selected = pq.read_table(folders["select"] / "selected.parquet").column("row").to_pylist()
    assert 49 not in selected and 50 not in selected
