"""The search: stored trial by trial, repeatable, and resumed where it was killed."""

import optuna
import pytest

from limbeck.baselines.search import search


class Killed(BaseException):
    """Stands for a process that ends in the middle of a trial."""


def objective(trial: optuna.Trial) -> float:
    return -((trial.suggest_float("x", -5, 5) - 2) ** 2) - trial.suggest_int("n", 0, 3)


def test_it_finds_and_keeps_every_trial(tmp_path):
    found = search("s", objective, trials=25, seconds=60, seed=0, storage=tmp_path / "o.sqlite3")
    assert len(found.trials) == 25 and found.score == max(t["score"] for t in found.trials) > -1.5
    assert abs(found.best["x"] - 2) < 1.3 and not found.stopped_by_time


def test_a_killed_search_ends_as_an_undisturbed_one(tmp_path):
    whole = search("s", objective, 12, 60, 3, tmp_path / "whole.sqlite3")
    calls = []

    def dies(trial: optuna.Trial) -> float:
        calls.append(1)
        if len(calls) == 7:
            trial.suggest_float("x", -5, 5)
            raise Killed
        return objective(trial)

    with pytest.raises(Killed):
        search("s", dies, 12, 60, 3, tmp_path / "cut.sqlite3")
    resumed = search("s", objective, 12, 60, 3, tmp_path / "cut.sqlite3")
    assert [t["settings"] for t in resumed.trials] == [t["settings"] for t in whole.trials]
    assert resumed.best == whole.best


def test_time_ends_it_after_at_least_one_trial(tmp_path):
    found = search("s", objective, 50, 1e-9, 0, tmp_path / "o.sqlite3")
    assert len(found.trials) == 1 and found.stopped_by_time
