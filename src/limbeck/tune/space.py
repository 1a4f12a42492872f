"""What is searched, by target. A new setting is a line in a table; a new target is a table and a line in `TARGETS`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from limbeck.config import Config, toml_value
from limbeck.errors import NothingToTune, nearest

Value = float | int | str
Wanted = Callable[[Config], bool]
# More digits than this say nothing about a setting, and are hard to read.
DIGITS = 3


@dataclass(frozen=True)
class Between:
    """Any number from `low` to `high`; by its logarithm if orders of magnitude matter."""

    low: float
    high: float
    log: bool = False
    whole: bool = False

    def __contains__(self, value: object) -> bool:
        """Say whether a setting's value lies inside."""
        return isinstance(value, int | float) and not isinstance(value, bool) and self.low <= value <= self.high

    def neat(self, value: Any) -> Value:  # noqa: ANN401 - what a sampler drew
        """Give a number that was drawn as it is written."""
        return int(value) if self.whole else float(f"{value:.{DIGITS}g}")


@dataclass(frozen=True)
class OneOf:
    """One of a few values."""

    values: tuple[Value, ...]

    def __contains__(self, value: object) -> bool:
        """Say whether a setting's value is among them."""
        return value in self.values

    def neat(self, value: Any) -> Value:  # noqa: ANN401 - what a sampler drew
        """Give a value that was drawn."""
        return next(one for one in self.values if one == value)


@dataclass(frozen=True)
class Searched:
    """A setting and the values that it may take; it is left alone where the project doesn't want it."""

    setting: str
    values: Between | OneOf
    wanted: Wanted = lambda config: True


@dataclass(frozen=True)
class Target:
    """A part of the chain: the step that ends a trial, which kinds of model it makes, and what is searched.

    `fixed` are overrides that spare a trial what it doesn't need. `own` are the kinds of result that belong to a trial
    alone; those of trials that were beaten are removed.
    """

    name: str
    until: Callable[[Config], str]
    kinds: Callable[[Config], Sequence[str]]
    searched: tuple[Searched, ...]
    own: tuple[str, ...]
    fixed: tuple[str, ...] = ()
    needs: str = ""


Space = Mapping[str, Between | OneOf]


def target_named(name: str) -> Target:
    """Give a target."""
    if name not in TARGETS:
        raise NothingToTune(f"There is no target '{name}'.", nearest(name, TARGETS))
    return TARGETS[name]


def space_of(target: Target, config: Config, keep: Sequence[str] = ()) -> dict[str, Between | OneOf]:
    """Give the settings that are searched in a project, `keep` left out, with their values."""
    known = {one.setting for one in target.searched}
    for name in keep:
        every = {one.setting for other in TARGETS.values() for one in other.searched}
        if name not in every:
            raise NothingToTune(f"'{name}' is no setting that is searched.", nearest(name, known))
    found = {
        one.setting: one.values
        for one in target.searched
        if one.setting not in keep and target.kinds(config) and one.wanted(config)
    }
    if not found:
        raise NothingToTune(f"There is nothing to search for {target.name}.", target.needs)
    return found


def present(config: Config, name: str) -> Any:  # noqa: ANN401 - any setting
    """Give the value that a setting has."""
    section, _, key = name.partition(".")
    return getattr(getattr(config, section), key)


def as_overrides(settings: Mapping[str, Value]) -> list[str]:
    """Write settings as `--set` takes them."""
    return [f"{name}={toml_value(value)}" for name, value in settings.items()]


def described(space: Space) -> dict[str, Any]:
    """Give a space as plain values."""
    return {
        name: {"one_of": list(values.values)}
        if isinstance(values, OneOf)
        else {"low": values.low, "high": values.high, "log": values.log, "whole": values.whole}
        for name, values in space.items()
    }


def _baselines(config: Config) -> Sequence[str]:
    return config.baselines.kinds if config.task != "ner" else ()


def _teachers(config: Config) -> Sequence[str]:
    return [kind for kind in config.teach.kinds if kind not in ("none", "folder")]


def _students(config: Config) -> Sequence[str]:
    return config.students.kinds if config.teach.kind != "none" and config.data.pool else ()


def _with(kinds: Callable[[Config], Sequence[str]], *wanted: str, task: str = "") -> Wanted:
    """Say that a setting is searched if one of these kinds is made, and for this task alone if one is named."""
    return lambda config: bool(set(wanted) & set(kinds(config))) and task in ("", config.task)


def _counting(kinds: Callable[[Config], Sequence[str]]) -> tuple[Searched, ...]:
    """Give the settings of models that count words."""
    return (
        Searched("baselines.svm_c", Between(0.1, 100, log=True), _with(kinds, "svm")),
        Searched("baselines.svm_gamma", Between(0.001, 1, log=True), _with(kinds, "svm")),
        Searched("baselines.logreg_c", Between(0.1, 100, log=True), _with(kinds, "tfidf-logreg")),
        Searched("baselines.logreg_words", Between(1, 3, whole=True), _with(kinds, "tfidf-logreg")),
        Searched(
            "baselines.positive_weight",
            OneOf(("balanced", 1.0, 2.0, 4.0)),
            _with(kinds, "svm", "tfidf-logreg", "xgboost"),
        ),
    )


TUNED = ("partial", "binary-ensemble")
_fine_tunes = _with(_teachers, *TUNED)
NETWORKS = ("bag", "cnn", "bilstm", "transformer")

BASELINES = Target(
    "baselines",
    until=lambda config: "baselines",
    kinds=_baselines,
    searched=_counting(_baselines),
    own=("results/baselines", "tasks/baselines"),
    fixed=("teach.kind=none",),
    needs="Set baselines.kinds. With entities there are none.",
)

TEACH = Target(
    "teach",
    until=lambda config: "calibrate" if config.task != "ner" and config.calibrate.method != "none" else "teach",
    kinds=_teachers,
    searched=(
        Searched("probe.layers", OneOf(("all", "last", "last-four", "mix")), _with(_teachers, "probe")),
        Searched("probe.head", OneOf(("linear", "mlp")), lambda c: _with(_teachers, "probe")(c) and c.task != "ner"),
        Searched("train.rate", Between(2e-5, 1e-3, log=True), _with(_teachers, *TUNED)),
        Searched("train.head_rate", Between(2e-4, 1e-2, log=True), _with(_teachers, *TUNED)),
        # Steps, where they are set, go before epochs.
        Searched("train.epochs", Between(2, 10, whole=True), lambda c: _fine_tunes(c) and not c.train.steps),
        Searched(
            "train.steps", Between(100, 3000, log=True, whole=True), lambda c: _fine_tunes(c) and c.train.steps > 0
        ),
        Searched("train.freeze_layers", OneOf(("half", 0)), _with(_teachers, *TUNED)),
        Searched("train.dropout", Between(0.0, 0.4), _with(_teachers, *TUNED)),
        Searched(
            "train.positive_weight",
            OneOf((1.0, 2.0, 4.0, "balanced")),
            _with(_teachers, "probe", *TUNED, task="multilabel"),
        ),
        Searched("teach.guesses", Between(0.0, 2.0), _with(_teachers, "partial", task="multilabel")),
        *_counting(_teachers),
    ),
    own=("results/teach", "results/calibrate", *(f"tasks/{k}" for k in ("networks", "probe", "taggers", "baselines"))),
    fixed=("baselines.kinds=[]", "students.kinds=[]"),
    needs="Set teach.kind to a kind that is taught here.",
)

DISTILL = Target(
    "distill",
    until=lambda config: "distill",
    kinds=_students,
    searched=(
        Searched("students.size", OneOf(("small", "medium", "large")), _with(_students, "bag", "cnn", "bilstm")),
        Searched("distill.head_rate", Between(5e-4, 1e-2, log=True), _with(_students, *NETWORKS)),
        Searched("distill.rate", Between(2e-5, 1e-3, log=True), _with(_students, "transformer")),
        Searched("distill.temperature", Between(1.0, 4.0), _with(_students, *NETWORKS)),
        Searched("distill.task", Between(0.0, 2.0), _with(_students, *NETWORKS)),
        Searched("distill.soft", Between(0.25, 2.0), _with(_students, *NETWORKS)),
        Searched("distill.hard", Between(0.0, 1.0), _with(_students, *NETWORKS)),
        Searched("distill.sequences", Between(0.0, 1.0), _with(_students, *NETWORKS, task="ner")),
        Searched("distill.labelled", Between(0.05, 0.6), _with(_students, *NETWORKS)),
        Searched("distill.dropout", Between(0.0, 0.5), _with(_students, *NETWORKS)),
        Searched("distill.drop_tokens", Between(0.0, 0.3), _with(_students, *NETWORKS)),
        Searched("distill.balance", Between(0.0, 0.5), _with(_students, *NETWORKS, task="multilabel")),
        Searched("pseudo.confidence", Between(0.5, 0.95)),
        *_counting(_students),
    ),
    own=(
        *("results/select", "results/distill"),
        *(f"tasks/{kind}" for kind in ("students", "tagger-students", "made-up", "baselines")),
    ),
    fixed=("baselines.kinds=[]",),
    needs="Students need a teacher and a pool: set teach.kind, data.pool and students.kinds.",
)

TARGETS = {target.name: target for target in (BASELINES, TEACH, DISTILL)}
