"""One trial: the project's own chain with other settings, watched while it trains, and scored on dev's tuning half."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

import optuna
from optuna.trial import FrozenTrial, TrialState

from limbeck.config import Project, load_project
from limbeck.errors import LimbeckError, RunError, TooFewRows
from limbeck.pipeline import RESULTS, Pipeline
from limbeck.store import Store
from limbeck.training.watch import Evaluation, TrainingEnded, watched
from limbeck.tune.models import Made, scores
from limbeck.tune.pruning import Curve, behind, place, reached
from limbeck.tune.sampling import UNTUNED, counting, key, neat, suggest
from limbeck.tune.space import Space, Target, Value, as_overrides, present
from limbeck.tune.study import TRIED, WHY, WORKER, Worker, ask_again

# Seconds of waiting for a folder in which another process works.
HELD = 3600.0
# A trial that trains may go on past the time by this share of it, until its next evaluation.
GRACE = 0.05
# What a trial's models are worth, and what it made that no other needs.
MODELS, OWN = "models", "own"


class Elsewhere(Exception):
    """Others do it: a trial has the same settings, or there are enough already."""


class Cut(Exception):
    """The time is over; the trial is asked again some day."""


@dataclass(frozen=True)
class Work:
    """What all trials of a call share; `trials` is how many there may be in the study."""

    root: Path
    overrides: tuple[str, ...]
    target: Target
    space: Space
    project: Project
    worker: Worker
    trials: int
    began: float = field(default_factory=time.monotonic)
    seconds: float = math.inf

    @property
    def kinds(self) -> list[str]:
        """The kinds of model that a trial makes."""
        return list(self.target.kinds(self.project.config))

    @property
    def until(self) -> str:
        """The step that ends a trial."""
        return self.target.until(self.project.config)

    @property
    def present(self) -> dict[str, Any]:
        """The values that the searched settings have."""
        return {name: present(self.project.config, name) for name in self.space}

    @property
    def left(self) -> float:
        """Seconds that are left."""
        return self.seconds - (time.monotonic() - self.began)

    def pipeline(self, settings: Mapping[str, Value] | None = None) -> Pipeline:
        """Give the chain with settings, without the steps that the target doesn't need."""
        told = [*self.overrides, *self.target.fixed, *as_overrides(settings or {})]
        return Pipeline(load_project(self.root, told))

    def make(self, pipeline: Pipeline) -> Made:
        """Run a chain as far as the target; what other trials made already is not made again."""
        states = pipeline.run(until=self.until, patience=HELD)
        folders = {
            state.step.name: pipeline.store.folder(f"{RESULTS}/{state.step.name}", state.key) for state in states
        }
        return Made(pipeline.project, pipeline.store, folders)


def objective(work: Work, study: optuna.Study, trial: optuna.Trial) -> float:
    """Do a trial and give its score: the mean F1 of its models."""
    trial.set_user_attr(WORKER, work.worker.told)
    untuned = bool(trial.user_attrs.get(UNTUNED))
    settings = _settings(work, trial, untuned)
    _refuse_twins(work, study, trial, settings, untuned)
    watch = _watch(work, study, trial, untuned)
    pipeline = work.pipeline({} if untuned else settings)
    try:
        with watched(watch):
            made = work.make(pipeline)
        found = scores(made, work.target.name, work.kinds)
    except TrainingEnded as ended:
        if ended.goes_on:
            ask_again(study, _frozen(study, trial), int(trial.user_attrs.get(TRIED, 0)))
            raise Cut from None
        trial.set_user_attr(WHY, "its training was worse than half of the others' at the same point")
        _remove(pipeline.store, _own(work, pipeline))
        raise optuna.TrialPruned from None
    except LimbeckError as error:
        if untuned or isinstance(error, RunError):
            raise
        # Settings of which nothing comes are worse than any others.
        trial.set_user_attr(WHY, error.message)
        _remove(pipeline.store, _own(work, pipeline))
        raise optuna.TrialPruned from None
    if any(math.isnan(score) for score in found.values()):
        raise TooFewRows("F1 is not defined on dev's tuning half.", "Add labelled texts to data.dev.")
    score = fmean(found.values())
    trial.set_user_attr(MODELS, found)
    own = _own(work, pipeline)
    trial.set_user_attr(OWN, own)
    if not untuned:
        beaten = score <= max((t.values[0] for t in complete(study)), default=-1.0)
        _remove(pipeline.store, own if beaten else _of_earlier(work, study, made))
    return score


def complete(study: optuna.Study) -> list[FrozenTrial]:
    """Give the trials that have a score."""
    return study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))


def _settings(work: Work, trial: optuna.Trial, untuned: bool) -> dict[str, Value]:
    """Give a trial's settings; of the present ones those that could have been drawn."""
    now = work.present
    wanted = {name: values for name, values in work.space.items() if not untuned or now[name] in values}
    return neat(wanted, {name: suggest(trial, name, values) for name, values in wanted.items()})


def _refuse_twins(
    work: Work, study: optuna.Study, trial: optuna.Trial, settings: Mapping[str, Value], untuned: bool
) -> None:
    """Leave a trial to whoever has the same settings; whoever comes second sees it, as both wrote theirs first.

    Of two with the present settings the first stays; of others both may go, and draw again. What is one too many, as
    two processes saw room for a last trial, is left as well.
    """
    others = counting(study)
    if not untuned and sum(other.number < trial.number for other in others) >= work.trials:
        raise Elsewhere
    for other in others:
        if other.number == trial.number or bool(other.user_attrs.get(UNTUNED)) != untuned:
            continue
        if other.number < trial.number if untuned else key(neat(work.space, other.params)) == key(settings):
            raise Elsewhere


def _frozen(study: optuna.Study, trial: optuna.Trial) -> FrozenTrial:
    return next(one for one in study.get_trials() if one.number == trial.number)


def _of_earlier(work: Work, study: optuna.Study, made: Made) -> list[tuple[str, str]]:
    """List what earlier trials in this folder made for themselves and the new best one doesn't use."""
    here = {name: work.worker.told[name] for name in ("host", "folder")}.items()
    mine = [t for t in complete(study) if not t.user_attrs.get(UNTUNED) and here <= t.user_attrs[WORKER].items()]
    used = set(made.folders.values())
    found = [(kind, name) for trial in mine for kind, name in trial.user_attrs.get(OWN, ())]
    return [(kind, name) for kind, name in found if made.store.folder(kind, name) not in used]


def _own(work: Work, pipeline: Pipeline) -> list[tuple[str, str]]:
    """List what a trial made that belongs to it alone."""
    return [(kind, name) for kind, name in pipeline.store.made if kind in work.target.own]


def _remove(store: Store, results: Sequence[tuple[str, str]]) -> None:
    """Remove results of beaten trials: a study of large teachers would fill the disk."""
    with store.lock(HELD):
        for kind, name in results:
            if store.find(kind, name):
                store.remove(store.folder(kind, name))


@dataclass
class _Watch:
    """Follows a trial's training: writes down how far it is, and ends what is behind or past the time."""

    trial: optuna.Trial
    others: Sequence[Curve]
    prunes: bool
    last: float
    curve: dict[int, float] = field(default_factory=dict)
    parts: dict[str, int] = field(default_factory=dict)

    def __call__(self, evaluation: Evaluation) -> None:
        now, before = reached(evaluation), self.parts.get(evaluation.run, 0)
        for part in range(max(1, before + 1), now + 1):
            # Between two evaluations a run is where the earlier one left it.
            at = place(evaluation.run, part)
            earlier = self.curve.get(place(evaluation.run, before))
            self.curve[at] = evaluation.best if part == now or earlier is None else earlier
            self.trial.report(self.curve[at], at)
        self.parts[evaluation.run] = max(now, before)
        if time.monotonic() > self.last:
            raise TrainingEnded(goes_on=True)
        if self.prunes and behind(self.curve, self.others):
            raise TrainingEnded


def _watch(work: Work, study: optuna.Study, trial: optuna.Trial, untuned: bool) -> _Watch:
    prunes = work.project.config.tune.prune and not untuned
    last = math.inf if untuned else time.monotonic() + work.left + GRACE * work.seconds
    return _Watch(trial, [other.intermediate_values for other in complete(study)] if prunes else [], prunes, last)
