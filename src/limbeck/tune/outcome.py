"""What a study has come to: its trials, the best of them, what matters, and what it gave on dev's judging half."""

from __future__ import annotations

import json
import math
import warnings
from dataclasses import asdict, replace

import optuna
from optuna.trial import FrozenTrial, TrialState

from limbeck.measure.bootstrap import Difference
from limbeck.store import write_atomically
from limbeck.tune.found import DONE, PRUNED, Gain, Trial, Tuned, file_of
from limbeck.tune.models import compare
from limbeck.tune.sampling import UNTUNED, neat
from limbeck.tune.space import described
from limbeck.tune.study import WHY
from limbeck.tune.trials import MODELS, Work, complete

# Fewer trials say nothing about what matters.
LEAST = 6


def outcome(work: Work, study: optuna.Study, storage: str, stopped: bool = False) -> Tuned | None:
    """Collect what there is; None before the trial of the present settings is finished."""
    ended = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE, TrialState.PRUNED))
    trials = tuple(_trial(work, trial) for trial in ended)
    untuned = next((trial for trial in trials if trial.untuned and trial.state == DONE), None)
    if untuned is None:
        return None
    # Of equally good ones the present settings, or the first.
    best = max(
        (trial for trial in trials if trial.score is not None),
        key=lambda trial: (trial.score or 0.0, trial.untuned, -trial.number),
    )
    return Tuned(
        work.target.name,
        study.study_name,
        storage,
        "F1" if work.project.config.task == "ner" else "macro-F1",
        described(work.space),
        work.present,
        trials,
        best,
        untuned,
        (),
        importance(work, study),
        stopped,
    )


def _trial(work: Work, trial: FrozenTrial) -> Trial:
    done = trial.state == TrialState.COMPLETE
    return Trial(
        trial.number,
        DONE if done else PRUNED,
        neat(work.space, trial.params),
        trial.values[0] if done else None,
        trial.user_attrs.get(MODELS, {}),
        trial.duration.total_seconds() if trial.duration else None,
        bool(trial.user_attrs.get(UNTUNED)),
        trial.user_attrs.get(WHY, ""),
    )


def importance(work: Work, study: optuna.Study) -> dict[str, float]:
    """Give each setting's share in how trials differ, by functional ANOVA over a forest; the largest first."""
    drawn = [trial for trial in complete(study) if not trial.user_attrs.get(UNTUNED)]
    if len(drawn) < LEAST or len({trial.values[0] for trial in drawn}) < 2:
        return {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        evaluator = optuna.importance.FanovaImportanceEvaluator(seed=work.project.config.seed)
        found = optuna.importance.get_param_importances(study, evaluator=evaluator, params=list(work.space))
    return {name: float(share) for name, share in found.items() if math.isfinite(share)}


def judge(work: Work, study: optuna.Study, found: Tuned) -> Tuned:
    """Compare the best settings with the present ones on dev's judging half, which no trial has seen.

    It is done once for a best trial, by whichever machine ends first.
    """
    if found.best.untuned:
        return found
    name = f"judged {found.best.number}"
    told = study.user_attrs.get(name)
    if told is None:
        tuned, untuned = (work.make(work.pipeline(settings)) for settings in (found.best.settings, None))
        pairs = compare(tuned, untuned, work.target.name, work.kinds)
        told = [
            {"model": model, "untuned": before, "tuned": after, "difference": asdict(difference)}
            for model, (after, before, difference) in pairs.items()
        ]
        study.set_user_attr(name, told)
    gains = [Gain(one["model"], one["untuned"], one["tuned"], Difference(**one["difference"])) for one in told]
    return replace(found, judged=tuple(gains))


def write(work: Work, found: Tuned) -> None:
    """Leave it where the report looks."""
    text = json.dumps(found.as_dict(), indent=1, ensure_ascii=False)
    write_atomically(file_of(work.project.workdir, found.target), text)


def says(work: Work, study: optuna.Study, done: int = 0) -> str:
    """Say how a search stands."""
    best = max(complete(study), key=lambda trial: trial.values[0], default=None)
    left = "" if math.isinf(work.left) else f", {max(0.0, work.left) / 60:.0f} min left"
    told = "" if best is None else f", best {best.values[0]:.4f} (trial {best.number})"
    return f"tuning {work.target.name}" + (f", {done} of {work.trials} trials" if done else "") + told + left
