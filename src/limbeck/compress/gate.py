"""The gate: every recipe is tried, judged on the half of dev that judges, timed, and taken only if it loses little."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Protocol

import numpy as np

from limbeck.compress.draft import Draft
from limbeck.compress.recipes import FLOAT, Circumstances, about, graph_of, need_backends, recipe_of
from limbeck.config import Config
from limbeck.data.dataset import Dataset
from limbeck.measure import Difference, decide, decide_classes, paired_bootstrap
from limbeck.measure.bootstrap import bootstrap_interval
from limbeck.progress import progress
from limbeck.runtime.bundle import Bundle
from limbeck.runtime.predictor import Predictor
from limbeck.scorer import Floats

# Calls before the clock counts, and calls that are timed, each with another text.
WARM_UP, TIMED = 50, 300
# Times that differ by less are the same: the next run may turn them round. So are sizes: nobody minds 5 %. Nor does
# anybody wait for 20 microseconds, for which the fastest students would stay four times as large.
SAME, SAME_US, SAME_SIZE = 1.1, 20.0, 1.05
# The recipes take turns, so that whatever else the machine does hits all of them.
TURNS = 3


@dataclass(frozen=True)
class Verdict:
    """A figure of quality, and what is lost of float's: a share of it, with its paired bootstrap interval.

    `far` is how far its answers are from float's, whatever the right ones are.
    """

    macro_f1: float
    lost: float
    lost_low: float
    lost_high: float
    far: float

    @staticmethod
    def of(of_float: float, gap: Difference, far: float) -> Verdict:
        """Turn a difference to float into a share of it."""
        share = 1 / of_float if of_float > 0 else 0.0
        return Verdict(of_float - gap.estimate, gap.estimate * share, gap.low * share, gap.high * share, far)


@dataclass(frozen=True)
class Trial:
    """A recipe's outcome: macro-F1 on the judging half, what is lost of float's, bytes of the graph, microseconds.

    Of a tagger, `macro_f1` is F1 over all entities by exact match.
    `lost` is a share of the macro-F1 of float with all of its vocabulary, with the paired bootstrap interval `lost_low`
    to `lost_high`. `far` is the mean difference of its probabilities from float's; of a tagger, the share of sentences
    in which it finds something else.
    """

    recipe: str
    about: str
    macro_f1: float
    lost: float
    lost_low: float
    lost_high: float
    bytes: int
    p50_us: float
    within_budget: bool
    taken: bool = False
    why_not: str = ""
    far: float = 0.0

    def as_dict(self) -> dict[str, object]:
        """Give plain values."""
        return asdict(self)


@dataclass(frozen=True)
class Passed:
    """The bundle that went through the gate, and the table of all that were tried."""

    bundle: Bundle
    trials: tuple[Trial, ...]
    why: str

    @property
    def taken(self) -> Trial:
        """The trial of the bundle."""
        return next(trial for trial in self.trials if trial.taken)


class Answering(Protocol):
    """A bundle at work."""

    def predict(self, texts: Sequence[str]) -> Sequence[object]:
        """Answer."""
        ...


class Judge(Protocol):
    """Says what a recipe costs: it loads bundles, has texts to time them with, and compares their answers."""

    @property
    def texts(self) -> Sequence[str]:
        """Texts that answers are timed with."""
        ...

    def load(self, bundle: Bundle) -> Any:  # noqa: ANN401 - something that is Answering, of the judge's own kind
        """Give a bundle at work."""
        ...

    def compare(self, whole: Bundle, tried: Mapping[str, Any]) -> Mapping[str, Verdict]:
        """Judge answers by those of the whole model in float."""
        ...


def through_the_gate(made: Draft, judge: Judge, config: Config, saturates: bool) -> Passed:
    """Try the configured recipes; take the fastest that stays within the budget, or one that is as fast and smaller."""
    take = config.compress.take
    bundles, failed = _tried(config.compress.tried(), made, judge, Circumstances(saturates, made.samples))
    predictors = {name: judge.load(bundle) for name, bundle in bundles.items()}
    verdicts = judge.compare(made.whole, predictors)
    speeds = time_in_turns(predictors, judge.texts)
    budget = config.compress.budget
    trials = [
        Trial(
            name,
            about(name),
            **asdict(verdicts[name]),
            bytes=len(bundle.graph),
            p50_us=speeds[name],
            within_budget=name == FLOAT or verdicts[name].lost <= budget,
        )
        for name, bundle in bundles.items()
    ]
    wanted = [trial for trial in trials if trial.recipe == take] if take else []
    chosen = fastest_or_smaller(wanted or [trial for trial in trials if trial.within_budget])
    nan = float("nan")
    table = [replace(trial, taken=trial.recipe == chosen.recipe) for trial in trials]
    table += [Trial(name, about(name), nan, nan, nan, nan, 0, nan, False, False, why) for name, why in failed.items()]
    return Passed(bundles[chosen.recipe], tuple(table), _why(chosen, trials, budget, take if wanted else ""))


def _tried(
    names: Sequence[str], made: Draft, judge: Judge, circumstances: Circumstances
) -> tuple[dict[str, Bundle], dict[str, str]]:
    """Give the bundles of the recipes that run here, by name, and why others don't."""
    need_backends(names)
    bundles: dict[str, Bundle] = {}
    failed: dict[str, str] = {}
    graphs: dict[str, bytes] = {}
    for name in progress(list(names), "trying recipes"):
        plain = graph_of(name)
        try:
            if plain not in graphs:
                graph = recipe_of(plain)(made.bundle.graph, circumstances)
                # Whatever is to run it: a bundle also has to be of use where only onnxruntime is.
                judge.load(made.with_graph(graph, plain)).predict(judge.texts[:2])
                graphs[plain] = graph
            bundles[name] = made.with_graph(graphs[plain], name)
            _check_backend(bundles[name], judge)
        except Exception as error:  # the quantiser and the runtime fail in many ways; float is still there
            bundles.pop(name, None)
            failed[name] = (str(error).splitlines() or [type(error).__name__])[0]
    return bundles, failed


def _check_backend(bundle: Bundle, judge: Judge) -> None:
    """Raise if a bundle's own backend can't run it, where loading would turn to onnxruntime."""
    backend = bundle.manifest.model.backend
    if backend != "onnxruntime":
        from limbeck.runtime.openvino_session import run_by_openvino

        run_by_openvino(bundle.graph, backend, threads=1)
        judge.load(bundle).predict(judge.texts[:2])


def fastest_or_smaller(trials: Sequence[Trial]) -> Trial:
    """Choose the fastest; if one that is as fast but for the noise of timing is clearly smaller, the smaller one.

    Among several such the one whose answers are nearest to float's: what they lose on a few hundred rows is chance, and
    so is which of them was timed as the fastest.
    """
    fastest = min(trial.p50_us for trial in trials)
    fast = [trial for trial in trials if trial.p50_us <= max(SAME * fastest, fastest + SAME_US)]
    smallest = min(trial.bytes for trial in fast)
    small = [trial for trial in fast if trial.bytes <= SAME_SIZE * smallest]
    return min(small, key=lambda trial: (trial.far, trial.p50_us))


@dataclass(frozen=True)
class LabelJudge:
    """Judges classifiers by macro-F1 on rows that tuned nothing."""

    rows: Dataset
    config: Config

    @property
    def texts(self) -> Sequence[str]:
        """The texts of the rows."""
        return self.rows.texts

    def load(self, bundle: Bundle) -> Predictor:
        """Give a bundle at work."""
        return Predictor(bundle, self.config.compress.threads, warn=False)

    def compare(self, whole: Bundle, tried: Mapping[str, Predictor]) -> dict[str, Verdict]:
        """Compare decisions by the paired bootstrap."""
        limits = np.array([label.threshold for label in whole.manifest.labels])
        measure, one_class = self.config.measure, self.config.task == "multiclass"
        settings: dict[str, Any] = {"rounds": measure.rounds, "level": measure.level, "seed": self.config.seed}

        def decisions(proba: Floats) -> Any:  # noqa: ANN401 - an array of numbers or of truths
            return decide_classes(proba) if one_class else decide(proba, limits)

        plain = Predictor(whole, warn=False).predict_proba(self.texts)
        chosen = decisions(plain)
        of_float = bootstrap_interval(self.rows.labels, chosen, **settings).estimate
        verdicts = {}
        for name, model in tried.items():
            proba = model.predict_proba(self.texts)
            gap = paired_bootstrap(self.rows.labels, chosen, decisions(proba), **settings)
            verdicts[name] = Verdict.of(of_float, gap, float(np.abs(proba - plain).mean()) if proba.size else 0.0)
        return verdicts


def answer_times(model: Answering, texts: Sequence[str], calls: int) -> Floats:
    """Give how long an answer to one text takes, from raw text to labels, in microseconds [calls]."""
    taken = []
    for at in range(WARM_UP + calls):
        text = [texts[(at * 7919) % len(texts)]]
        began = time.perf_counter()
        model.predict(text)
        taken.append((time.perf_counter() - began) * 1e6)
    return np.array(taken[WARM_UP:])


def time_in_turns(predictors: Mapping[str, Answering], texts: Sequence[str]) -> dict[str, float]:
    """Give the median time of an answer to one text, from raw text to labels, in microseconds."""
    taken: dict[str, list[float]] = {name: [] for name in predictors}
    shown = [[texts[(at * 7919) % len(texts)]] for at in range(WARM_UP + TIMED)] if texts else []
    for turn in range(TURNS):
        for name, predictor in predictors.items():
            for text in shown[:WARM_UP]:
                predictor.predict(text)
            for text in shown[WARM_UP + turn :: TURNS]:
                began = time.perf_counter()
                predictor.predict(text)
                taken[name].append(time.perf_counter() - began)
    return {name: float(np.median(found)) * 1e6 if found else 0.0 for name, found in taken.items()}


def _why(chosen: Trial, trials: Sequence[Trial], budget: float, take: str) -> str:
    if take:
        return f"{chosen.recipe} is what compress.take says."
    if chosen.recipe != FLOAT:
        good = [trial for trial in trials if trial.within_budget]
        fastest = min(good, key=lambda trial: trial.p50_us)
        if fastest is chosen:
            return f"{chosen.recipe} is the fastest of those that lose at most {budget:.1%}."
        reason = f"as fast as {fastest.recipe} but for {chosen.p50_us - fastest.p50_us:.0f} µs"
        if chosen.bytes * SAME_SIZE < fastest.bytes:
            return f"Of those that lose at most {budget:.1%}, {chosen.recipe} is {reason}, and smaller."
        return f"Of those that lose at most {budget:.1%}, {chosen.recipe} is {reason}, and nearest to float's answers."
    if all(trial.within_budget for trial in trials):
        return "Float is kept: no recipe is faster."
    lost = ", ".join(f"{trial.recipe} {trial.lost:.1%}" for trial in trials if not trial.within_budget)
    return f"Float is kept: every faster recipe loses more than {budget:.1%} of macro-F1 ({lost})."
