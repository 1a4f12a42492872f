"""A short search with Optuna's TPE sampler that is stored trial by trial and repeats exactly."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from limbeck.errors import ExtraMissing

if TYPE_CHECKING:
    import optuna


@dataclass(frozen=True)
class Found:
    """The best settings of a search, their score, and every trial's settings, score and seconds."""

    best: dict[str, Any]
    score: float
    trials: list[dict[str, Any]]
    stopped_by_time: bool


def search(
    name: str,
    objective: Callable[[optuna.Trial], float],
    trials: int,
    seconds: float,
    seed: int,
    storage: Path,
    fresh: bool = False,
) -> Found:
    """Maximise `objective` over `trials` trials, starting no new one after `seconds`.

    The study `name` lives in the SQLite file `storage`. A killed search goes on after its last finished trial and
    ends as an undisturbed one would, because each trial's sampler is seeded by how many were finished before it.
    `fresh` forgets an earlier study of that name.
    """
    try:
        import optuna
    except ImportError:
        raise ExtraMissing("tune", "The search") from None
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    storage.parent.mkdir(parents=True, exist_ok=True)
    backend = optuna.storages.RDBStorage(f"sqlite:///{storage}")
    study = optuna.create_study(study_name=name, storage=backend, direction="maximize", load_if_exists=True)
    if fresh:
        optuna.delete_study(study_name=name, storage=backend)
        study = optuna.create_study(study_name=name, storage=backend, direction="maximize")
    complete = (optuna.trial.TrialState.COMPLETE,)
    for left in study.get_trials(states=(optuna.trial.TrialState.RUNNING,)):
        study.tell(left.number, state=optuna.trial.TrialState.FAIL)  # a killed process left it
    started = time.monotonic()
    done = len(study.get_trials(deepcopy=False, states=complete))
    while done < trials and (done == 0 or time.monotonic() - started < seconds):
        study.sampler = optuna.samplers.TPESampler(
            seed=(seed * 10_007 + done) % 2**32, n_startup_trials=min(8, trials // 2)
        )
        trial = study.ask()
        study.tell(trial, objective(trial))
        done += 1
    finished = study.get_trials(deepcopy=False, states=complete)
    backend.engine.dispose()
    return Found(
        best=dict(study.best_params),
        score=float(study.best_value),
        trials=[
            {"settings": t.params, "score": t.value, "seconds": t.duration.total_seconds() if t.duration else None}
            for t in finished
        ],
        stopped_by_time=done < trials,
    )
