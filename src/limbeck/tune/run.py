"""The search: trials until there are enough of them, the time is over, or nothing is left to try."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from limbeck.config import load_project
from limbeck.data.splits import JUDGING, TUNING
from limbeck.errors import BadSetting, ExtraMissing, NothingToTune, TooFewRows, TuneError
from limbeck.pipeline import RESULTS
from limbeck.progress import bar
from limbeck.tune.found import FOLDER, Tuned
from limbeck.tune.space import described, space_of, target_named

if TYPE_CHECKING:
    import optuna

    from limbeck.tune.trials import Work

Tell = Callable[[str], None]
# Seconds between looks at the trials of others.
LOOK = 1.0


def tune(
    root: Path | str,
    target: str,
    overrides: Sequence[str] = (),
    *,
    trials: int | None = None,
    seconds: float | None = None,
    storage: str | None = None,
    study: str | None = None,
    fresh: bool = False,
    tell: Tell = lambda sentence: None,
) -> Tuned:
    """Search for better settings of `target`: baselines, teach or distill; `overrides` are settings like "seed=1".

    What isn't given comes from the section [tune]; 0 seconds are no limit. The first trial has the present settings, so
    the best is never worse on dev's tuning half. A call goes on with what earlier ones, and other machines, have tried;
    with `fresh` it forgets them. Raises `OtherStudy` if these had other settings or other data.
    """
    project = load_project(Path(root), overrides)
    settings = project.config.tune
    chosen = target_named(target)
    space = space_of(chosen, project.config, settings.keep)
    trials = settings.trials if trials is None else trials
    seconds = settings.seconds if seconds is None else seconds
    if trials < 1 or seconds < 0:
        raise BadSetting(f"{trials} trials in {seconds:g} seconds can't be done.", "Ask for at least one trial.")
    try:
        import optuna  # noqa: F401 - is it there?
        import sqlalchemy  # noqa: F401
    except ImportError:
        raise ExtraMissing("tune", "The search") from None
    from limbeck.tune import study as studies
    from limbeck.tune.trials import Work

    worker = studies.Worker(project.workdir / FOLDER)
    work = Work(Path(root), tuple(overrides), chosen, space, project, worker, trials, seconds=seconds or math.inf)
    url = studies.storage_of(project.workdir, settings.storage if storage is None else storage)
    name = (settings.study if study is None else study) or f"{project.root.resolve().name}-{target}"
    first = {name: value for name, value in work.present.items() if value in space[name]}
    opened = studies.open_study(url, name, _about(work), space, first, project.config.seed, fresh)
    try:
        with worker.at_work():
            return _search(work, opened, studies.shown_storage(url), tell)
    finally:
        studies.close(opened)


def _about(work: Work) -> dict[str, Any]:
    """Read the data, and collect all that makes the trials of a study comparable."""
    from limbeck.tune.trials import HELD

    pipeline = work.pipeline()
    if work.until not in [step.name for step in pipeline.steps]:
        raise NothingToTune(f"This project has no step {work.until} to tune.", work.target.needs)
    [data] = pipeline.run(until="data", patience=HELD)
    _check_halves(work, pipeline.store.folder(f"{RESULTS}/data", data.key))
    settings = pipeline.settings(work.until)
    return {
        # Made of what the files hold, not of where they are: it is the same on all machines.
        "data": data.key,
        "kinds": work.kinds,
        "space": described(work.space),
        # What is searched varies by itself, and where files are doesn't matter.
        "settings": {n: v for n, v in settings.items() if n not in work.space and not n.startswith("data.")},
        "present": work.present,
    }


def _check_halves(work: Work, data: Path) -> None:
    """See that there is something to tune and to judge by."""
    if work.project.config.task == "ner":
        from limbeck.data.tagged import PreparedSentences

        sentences = PreparedSentences.load(data)
        there = [any(s.spans() for s in sentences.dev_half(half)) for half in (TUNING, JUDGING)]
    else:
        from limbeck.data.prepare import Prepared

        prepared = Prepared.load(data)
        there = [bool((prepared.dev_half(half).labels == 1).any()) for half in (TUNING, JUDGING)]
    if not all(there):
        raise TooFewRows(
            f"Dev's {'judging' if there[0] else 'tuning'} half has nothing to find, so nothing can be tuned by it.",
            "Add labelled texts to data.dev.",
        )


def _search(work: Work, study: optuna.Study, storage: str, tell: Tell) -> Tuned:
    from optuna.trial import TrialState

    from limbeck.tune.outcome import judge, outcome, says, write
    from limbeck.tune.sampling import UNTUNED, PlacedSampler, counting
    from limbeck.tune.study import find_lost
    from limbeck.tune.trials import Cut, Elsewhere, objective

    assert isinstance(study.sampler, PlacedSampler)
    sampler, stopped, shown = study.sampler, False, 0
    with bar(says(work, study), work.trials) as advance:
        while True:
            find_lost(study, work.worker)
            all_of_them = counting(study)
            states = [trial.state for trial in all_of_them]
            ended = states.count(TrialState.COMPLETE) + states.count(TrialState.PRUNED)
            advance(ended - shown, instead=says(work, study))
            shown = ended
            # Without the trial of the present settings there is nothing to compare with, whatever time it takes.
            due = any(t.state == TrialState.WAITING and t.user_attrs.get(UNTUNED) for t in all_of_them)
            stopped = work.left <= 0 and not due
            if stopped:
                break
            if TrialState.WAITING not in states and (sampler.used_up or len(states) >= work.trials):
                if ended == len(states):
                    break
                time.sleep(LOOK)  # others are at work; what they lose is done here
                continue
            study.optimize(lambda trial: objective(work, study, trial), n_trials=1, catch=(Elsewhere, Cut))
            found = outcome(work, study, storage)
            if found is not None:
                write(work, found)
                tell(says(work, study, len(found.trials)))
    found = outcome(work, study, storage, stopped)
    if found is None:
        raise TuneError(
            "The trial of the present settings isn't finished: another process has it.", "Wait for it, or try again."
        )
    if not found.best.untuned:
        tell("Both settings are judged on dev's judging half …")
    done = judge(work, study, found)
    write(work, done)
    return done
