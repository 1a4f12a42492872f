"""Which settings a trial gets: TPE, repeatable whoever asks and whenever it was killed, and nothing twice."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.samplers import BaseSampler, TPESampler
from optuna.trial import FrozenTrial, TrialState

from limbeck.tune.space import Between, OneOf, Space, Value

# Trials that are drawn at random before their results say where to look.
STARTUP = 8
# Draws before a space counts as used up.
ATTEMPTS = 50
COUNTING = (TrialState.RUNNING, TrialState.WAITING, TrialState.COMPLETE, TrialState.PRUNED)
# What marks the trial of the present settings.
UNTUNED = "untuned"


class PlacedSampler(BaseSampler):
    """Draws for a trial what hangs on the seed and on its place among the trials that count, and on their results.

    A trial that was lost doesn't count, so whoever comes next stands in its place and draws the same. Two trials that
    run at the same time have different places.
    """

    def __init__(self, space: Space, seed: int) -> None:
        self.space, self.seed = space, seed
        self.distributions = {name: distribution(values) for name, values in space.items()}
        self.used_up = False

    def infer_relative_search_space(self, study: optuna.Study, trial: FrozenTrial) -> dict[str, BaseDistribution]:
        """Give the whole space: all settings are drawn together."""
        return self.distributions

    def sample_relative(
        self, study: optuna.Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """Draw settings that no other trial has; `used_up` says that there are none."""
        others = [other for other in counting(study) if other.number != trial.number]
        place = sum(other.number < trial.number for other in others)
        taken = {key(neat(self.space, other.params)) for other in others}
        drawn: dict[str, Any] = {}
        for attempt in range(ATTEMPTS):
            drawn = self._draw(study, trial, (self.seed * 10_007 + place * 101 + attempt) % 2**32)
            if key(neat(self.space, drawn)) not in taken:
                return drawn
        self.used_up = True
        return drawn

    def sample_independent(
        self, study: optuna.Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:  # noqa: ANN401 - a value of whatever is searched
        """Draw what a retried trial lacks; there is no other use for it."""
        return self.sample_relative(study, trial, self.distributions)[param_name]

    def _draw(self, study: optuna.Study, trial: FrozenTrial, seed: int) -> dict[str, Any]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # TPE of several settings at once counts as experimental
            sampler = TPESampler(
                seed=seed,
                n_startup_trials=STARTUP,
                multivariate=True,
                constant_liar=True,
                warn_independent_sampling=False,
            )
            found = sampler.sample_relative(study, trial, self.distributions)
            for name, values in self.distributions.items():
                if name not in found:
                    found[name] = sampler.sample_independent(study, trial, name, values)
        return found


def distribution(values: Between | OneOf) -> BaseDistribution:
    """Give Optuna's form of a range."""
    if isinstance(values, OneOf):
        return CategoricalDistribution(values.values)
    if values.whole:
        return IntDistribution(int(values.low), int(values.high), log=values.log)
    return FloatDistribution(values.low, values.high, log=values.log)


def counting(study: optuna.Study) -> list[FrozenTrial]:
    """Give the trials that were not lost."""
    return study.get_trials(deepcopy=False, states=COUNTING)


def neat(space: Space, params: Mapping[str, Any]) -> dict[str, Value]:
    """Give what was drawn as settings are written, in the order of the space."""
    return {name: values.neat(params[name]) for name, values in space.items() if name in params}


def key(settings: Mapping[str, Value]) -> tuple[tuple[str, Value], ...]:
    """Give settings as something that sets can hold."""
    return tuple(settings.items())


def suggest(trial: optuna.Trial, name: str, values: Between | OneOf) -> Any:  # noqa: ANN401 - a value of whatever is searched
    """Let a trial say what a setting is."""
    if isinstance(values, OneOf):
        return trial.suggest_categorical(name, values.values)
    if values.whole:
        return trial.suggest_int(name, int(values.low), int(values.high), log=values.log)
    return trial.suggest_float(name, values.low, values.high, log=values.log)
