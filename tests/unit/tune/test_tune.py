"""The search begins with the present settings, repeats, goes on where it was killed, and judges once."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from small_project import write_project
from tagging_project import QUICK as QUICK_TAGGING
from tagging_project import tagging_project
from teaching_project import QUICK, copy_of

from limbeck.config import load_project
from limbeck.errors import BadSetting, NothingToTune, OtherStudy, StudyUnreachable, TooFewRows
from limbeck.pipeline import Pipeline
from limbeck.tune import TARGETS, tune
from limbeck.tune.found import PRUNED
from limbeck.tune.space import space_of

HERE = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3] / "src")}
# So little freedom that nearly any other strength is better.
POOR = ["baselines.logreg_c=0.001"]
STUDENT = [
    *QUICK,
    "encoder.name=encoder",
    "teach.kind=probe",
    "distill.enough=0",
    "distill.steps=40",
    'students.kinds=["bag"]',
    "distill.head_rate=0.0006",
]


@pytest.fixture
def words(tmp_path):
    return write_project(tmp_path / "words")


@pytest.fixture(scope="module")
def student(template, tmp_path_factory):
    """Give a project whose student was tuned, and what it came to."""
    folder = copy_of(template, tmp_path_factory.mktemp("tune") / "p")
    return folder, tune(folder, "distill", STUDENT, trials=7, seconds=0)


def settings_of(found):
    return [trial.settings for trial in found.trials]


def test_it_begins_with_the_present_settings_and_ends_with_the_best(words):
    found = tune(words, "baselines", POOR, trials=4, seconds=0)
    first, *others = found.trials
    assert first.untuned and first == found.untuned and not any(trial.untuned for trial in others)
    assert found.best.score == max(trial.score for trial in found.trials) > found.untuned.score
    assert set(found.best.settings) == {f"baselines.{n}" for n in ("logreg_c", "logreg_words", "positive_weight")}
    [gain] = found.judged
    assert gain.tuned > gain.untuned and gain.difference.low > 0
    kept = json.loads((words / ".limbeck" / "tune" / "baselines.json").read_text(encoding="utf-8"))
    assert kept["judged"] and len(kept["trials"]) == 4 and kept["storage"].endswith("studies.sqlite3")


def test_a_killed_search_goes_on_and_ends_as_an_undisturbed_one(tmp_path):
    whole = tune(write_project(tmp_path / "whole" / "p"), "baselines", POOR, trials=6, seconds=0)
    cut = write_project(tmp_path / "cut" / "p")
    command = [sys.executable, "-m", "limbeck", "tune", "-p", str(cut), "--target", "baselines", "--trials", "6"]
    child = subprocess.Popen([*command, "--set", POOR[0]], stdout=subprocess.DEVNULL, env=HERE)
    told = cut / ".limbeck" / "tune" / "baselines.json"
    last = time.monotonic() + 60
    while not (told.exists() and len(json.loads(told.read_text())["trials"]) >= 2):
        assert child.poll() is None and time.monotonic() < last
        time.sleep(0.02)
    time.sleep(0.1)
    child.kill()
    child.wait()
    before = json.loads(told.read_text())["trials"]
    found = tune(cut, "baselines", POOR, trials=6, seconds=0)
    assert 2 <= len(before) < 6
    assert settings_of(found) == settings_of(whole)
    assert [trial.score for trial in found.trials] == [trial.score for trial in whole.trials]
    assert {trial["number"] for trial in before} <= {trial.number for trial in found.trials}


def test_more_trials_go_on_and_the_same_seed_gives_the_same_trials(words):
    few = tune(words, "baselines", POOR, trials=2, seconds=0)
    more = tune(words, "baselines", POOR, trials=3, seconds=0)
    assert settings_of(more)[:2] == settings_of(few) and len(more.trials) == 3
    again = tune(words, "baselines", POOR, trials=2, seconds=0, fresh=True)
    assert settings_of(again) == settings_of(few)
    assert [trial.score for trial in again.trials] == [trial.score for trial in few.trials]
    other = tune(words, "baselines", [*POOR, "seed=4"], trials=2, seconds=0, study="other")
    assert settings_of(other)[1] != settings_of(few)[1]


def test_time_ends_it_after_the_present_settings(words):
    found = tune(words, "baselines", POOR, trials=50, seconds=0.001)
    assert [trial.untuned for trial in found.trials] == [True] and found.stopped_by_time and found.judged == ()


def test_a_student_is_tuned_and_the_chain_uses_what_was_found(student):
    folder, found = student
    assert found.best.score > found.untuned.score and found.judged[0].model == "bag"
    tuned = Pipeline(load_project(folder, [*STUDENT, *found.overrides]))
    assert {state.step.name: state.state for state in tuned.status()}["distill"] == "done"


def test_only_the_best_and_the_present_settings_keep_their_results(student):
    folder, found = student
    assert len(found.trials) == 7 and not found.best.untuned
    for kind in ("results/distill", "tasks/students"):
        assert len(list((folder / ".limbeck" / kind).iterdir())) == 2
    assert not list((folder / ".limbeck").glob("training/*/*")) and not list((folder / ".limbeck" / "tmp").glob("*"))


def test_trials_that_fall_behind_end_early_and_leave_nothing(student):
    folder, found = student
    ended = [trial for trial in found.trials if trial.state == PRUNED]
    assert ended and all("worse than half" in trial.why and trial.score is None for trial in ended)
    assert min(trial.number for trial in ended) > 3 and not found.untuned.why
    # The present settings and the best ones have their selected texts; no other trial has.
    assert len(list((folder / ".limbeck" / "results" / "select").iterdir())) == 2


def test_a_trial_that_trains_past_the_time_is_cut_and_goes_on_in_the_next_call(template, tmp_path):
    folder = copy_of(template, tmp_path / "p")
    # The first trial also makes the teacher; what follows takes far longer than there is time.
    tune(folder, "distill", STUDENT, trials=1, seconds=0)
    slow = [*STUDENT, "distill.steps=40", "tune.prune=false"]
    cut = tune(folder, "distill", slow, trials=2, seconds=0.3)
    assert cut.stopped_by_time and len(cut.trials) == 1
    assert list((folder / ".limbeck" / "training").glob("*/*"))
    done = tune(folder, "distill", slow, trials=2, seconds=0)
    assert len(done.trials) == 2 and done.trials[1].score is not None
    assert not list((folder / ".limbeck" / "training").glob("*/*"))


def test_entities_are_tuned_by_their_own_f1(tmp_path):
    folder = tagging_project(tmp_path / "p")
    more = [*QUICK_TAGGING, "distill.steps=20", "train.steps=20", 'students.kinds=["cnn"]', "distill.head_rate=0.0005"]
    found = tune(folder, "distill", more, trials=2, seconds=0)
    assert found.measure == "F1" and "distill.sequences" in found.searched and "distill.balance" not in found.searched
    assert all(trial.score is None or set(trial.models) == {"cnn"} for trial in found.trials)


def test_a_study_of_other_settings_or_data_is_refused(words):
    tune(words, "baselines", POOR, trials=1, seconds=0)
    with pytest.raises(OtherStudy, match=r"baselines\.min_positives") as error:
        tune(words, "baselines", [*POOR, "baselines.min_positives=7"], trials=1, seconds=0)
    assert "--fresh" in error.value.fix
    with pytest.raises(OtherStudy, match=r"baselines\.logreg_words"):
        tune(words, "baselines", [*POOR, 'tune.keep=["baselines.logreg_words"]'], trials=1, seconds=0)
    with (words / "dev.jsonl").open("a") as file:
        file.write('{"text": "a late train once more", "labels": ["late"]}\n')
    with pytest.raises(OtherStudy, match="data"):
        tune(words, "baselines", POOR, trials=1, seconds=0)


def test_what_can_t_be_tuned_is_told(words):
    with pytest.raises(NothingToTune, match="no target 'destill'") as error:
        tune(words, "destill")
    assert "distill" in error.value.fix
    with pytest.raises(NothingToTune, match=r"nothing to search for distill"):
        tune(words, "distill")
    with pytest.raises(NothingToTune, match="is no setting"):
        tune(words, "baselines", ['tune.keep=["baselines.logreg"]'])
    with pytest.raises(BadSetting):
        tune(words, "baselines", trials=0)
    with pytest.raises(StudyUnreachable, match="can't be opened"):
        tune(words, "baselines", storage="postgresql://nobody:geheim@127.0.0.1:1/none")
    with pytest.raises(StudyUnreachable):
        tune(words, "baselines", storage="cobol://x/y")


def test_a_dev_set_without_anything_to_find_is_refused(words):
    rows = [json.loads(line) for line in (words / "dev.jsonl").read_text().splitlines()]
    (words / "dev.jsonl").write_text("".join(json.dumps(row | {"labels": []}) + "\n" for row in rows))
    with pytest.raises(TooFewRows, match="nothing to find"):
        tune(words, "baselines", trials=1)


@pytest.mark.parametrize("target", TARGETS)
def test_every_setting_that_is_searched_exists(target, words):
    kinds = '["svm", "tfidf-logreg", "xgboost", "bag", "transformer"]'
    for task in ("multilabel", "ner"):
        told = [
            f"task={task}",
            "teach.kind=blend",
            'teach.blend=["probe", "partial", "svm"]',
            f"students.kinds={kinds}",
            'baselines.kinds=["svm", "tfidf-logreg"]',
        ]
        config = load_project(words, told).config
        if (target, task) == ("baselines", "ner"):
            continue
        for name, values in space_of(TARGETS[target], config).items():
            ends = values.values if hasattr(values, "values") else (values.neat(values.low), values.neat(values.high))
            for value in ends:
                load_project(words, [*told, f"{name}={json.dumps(value)}"])


def test_a_folder_that_another_search_uses_is_shared(tmp_path):
    folder = write_project(tmp_path / "p")
    command = [sys.executable, "-m", "limbeck", "tune", "-p", str(folder), "--target", "baselines", "--trials", "3"]
    told = [*command, "--set", POOR[0], "--json"]
    children = [subprocess.Popen(told, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=HERE) for _ in range(2)]
    both = [json.loads(child.communicate(timeout=90)[0]) for child in children]
    tried = [json.dumps(trial["settings"], sort_keys=True) for trial in both[0]["trials"]]
    assert len(tried) == 3 == len(set(tried))
    assert both[0]["best"] == both[1]["best"]
