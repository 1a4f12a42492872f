"""A study in a database, which several processes and machines may share, and what becomes of trials that are lost."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import socket
import time
import uuid
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import optuna
from optuna.trial import FrozenTrial, TrialState, create_trial
from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from limbeck.annotate.database import address_of, is_file, place_of, shown
from limbeck.errors import OtherStudy, StudyUnreachable
from limbeck.tune.found import DATABASE, FOLDER
from limbeck.tune.sampling import UNTUNED, PlacedSampler, counting
from limbeck.tune.space import Space, Value

# Seconds between signs of life, and of silence after which a trial is given to somebody else.
BEAT, SILENCE = 20, 90
# A trial that takes its process with it so often is not tried again.
TRIES = 3
ABOUT, WORKER, TRIED, WHY = "about", "worker", "tried", "why"
# Seconds for another process that makes a study or its tables, and what a database says of tables that are there.
PATIENCE = 10.0
_THERE = re.compile("already exists|duplicate key|UNIQUE constraint|is locked", re.IGNORECASE)


def storage_of(workdir: Path, told: str) -> str:
    """Give the URL of the database: the one that was told, or of a file in the working folder."""
    return told or f"sqlite:///{(workdir / FOLDER / DATABASE).resolve()}"


def shown_storage(url: str) -> str:
    """Give a database's address without what is secret in it."""
    return shown(_address(url))


def _address(url: str) -> URL:
    """Read a URL; what isn't SQLite or PostgreSQL is left to SQLAlchemy and its drivers."""
    kind = url.partition("://")[0].partition("+")[0]
    if "://" not in url or kind in ("sqlite", "postgresql", "postgres"):
        return address_of(url)
    try:
        return make_url(url)
    except (ArgumentError, ValueError):
        raise StudyUnreachable("The address of the studies is no URL.", "Correct --storage or tune.storage.") from None


def open_study(
    url: str,
    name: str,
    about: Mapping[str, Any],
    space: Space,
    present: Mapping[str, Value],
    seed: int,
    fresh: bool = False,
) -> optuna.Study:
    """Open a study, or make it, with the present settings as its first trial.

    `about` is all that makes scores comparable; a study that is about something else is refused.
    """
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    about = {**about, "local": url.startswith("sqlite:") and f"/{FOLDER}/{DATABASE}" in url}
    try:
        storage = _ready(url)
        if fresh:
            with contextlib.suppress(KeyError):
                optuna.delete_study(study_name=name, storage=storage)
        try:
            study = optuna.create_study(study_name=name, storage=storage, direction="maximize")
        except optuna.exceptions.DuplicatedStudyError:
            study = optuna.load_study(study_name=name, storage=storage)
            _wait_for_its_maker(study)
    except (SQLAlchemyError, optuna.exceptions.StorageInternalError, RuntimeError, ImportError) as error:
        raise _unreachable(url, error) from None
    if ABOUT in study.user_attrs:
        _compare(name, study.user_attrs[ABOUT], about)
    if not any(trial.user_attrs.get(UNTUNED) for trial in counting(study)):
        study.enqueue_trial(dict(present), user_attrs={UNTUNED: True})
    # Last, so that whoever waits for it finds the study whole.
    study.set_user_attr(ABOUT, about)
    study.sampler = PlacedSampler(space, seed)
    return study


def close(study: optuna.Study) -> None:
    """Let go of the database."""
    backend = study._storage
    engine = getattr(getattr(backend, "_backend", backend), "engine", None)
    if engine is not None:
        engine.dispose()


def _ready(url: str) -> optuna.storages.RDBStorage:
    """Connect, and make the tables; another process may be making them at this very moment."""
    last = time.monotonic() + PATIENCE
    while True:
        try:
            return _storage(url)
        except (SQLAlchemyError, optuna.exceptions.StorageInternalError) as error:
            if not _THERE.search(str(error)) or time.monotonic() > last:
                raise
            time.sleep(0.5)


def _storage(url: str) -> optuna.storages.RDBStorage:
    address = _address(url)
    told: dict[str, Any] = {"connect_timeout": 10} if address.get_backend_name() == "postgresql" else {}
    if is_file(address):
        file = Path(str(address.database))
        file.parent.mkdir(parents=True, exist_ok=True)
        told = {"timeout": 60}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # signs of life count as experimental
        return optuna.storages.RDBStorage(
            address.render_as_string(hide_password=False),
            engine_kwargs={"connect_args": told, "pool_pre_ping": True},
            heartbeat_interval=BEAT,
            grace_period=SILENCE,
            heartbeat_stale_trial_callback=_lost,
        )


def _unreachable(url: str, error: Exception) -> StudyUnreachable:
    address = _address(url)
    cause = getattr(error, "orig", None) or error.__cause__ or error
    reason = str(getattr(cause, "orig", cause)).strip().partition("\n")[0].rstrip(".")
    for secret in filter(None, [str(address.password or "")]):
        reason = reason.replace(secret, "***")
    return StudyUnreachable(
        f"The studies in {shown(address)} can't be opened: {reason}.",
        "Check the address given by --storage or tune.storage, and that the database is there.",
        place_of(address),
    )


def _wait_for_its_maker(study: optuna.Study) -> None:
    """Let another process that has just made the study say what it is about."""
    last = time.monotonic() + PATIENCE
    while ABOUT not in study.user_attrs and time.monotonic() < last:
        time.sleep(0.1)


def _compare(name: str, was: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    changed = [part for part in now if part not in ("space", "settings") and was.get(part) != now[part]]
    for part in ("space", "settings"):
        old, new = was.get(part, {}), now[part]
        changed += [f"{key}" for key in sorted({*old, *new}) if old.get(key) != new.get(key)]
    if changed:
        raise OtherStudy(
            f"The study '{name}' was made for something else: {', '.join(dict.fromkeys(changed))} differs now.",
            "Start over with --fresh, or give this search a name of its own with --study.",
        )


class Worker:
    """This process, as others can see it: it holds a lock for as long as it lives."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.name = f"{uuid.uuid4().hex}.worker"

    @property
    def told(self) -> dict[str, str]:
        """Where others of the same machine find the lock."""
        return {"host": socket.gethostname(), "folder": str(self.folder.resolve()), "name": self.name}

    @contextlib.contextmanager
    def at_work(self) -> Iterator[None]:
        """Hold the lock."""
        self.folder.mkdir(parents=True, exist_ok=True)
        file = self.folder / self.name
        descriptor = os.open(file, os.O_CREAT | os.O_RDWR)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        try:
            yield
        finally:
            file.unlink(missing_ok=True)
            os.close(descriptor)

    def is_alone(self) -> bool:
        """Say whether no other process works in this folder."""
        mine = self.told
        names = [file.name for file in self.folder.glob("*.worker") if file.name != self.name]
        return all(self.is_gone(mine | {"name": name}) for name in names)

    def is_gone(self, other: Mapping[str, str]) -> bool:
        """Say whether a process that worked in this folder of this machine has ended; of others nothing is known."""
        mine = self.told
        if (other["host"], other["folder"]) != (mine["host"], mine["folder"]) or other["name"] == self.name:
            return False
        file = self.folder / other["name"]
        try:
            descriptor = os.open(file, os.O_RDWR)
        except FileNotFoundError:
            return True
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        else:
            file.unlink(missing_ok=True)
            return True
        finally:
            os.close(descriptor)


def _is_local(study: optuna.Study) -> bool:
    """Say whether a study's trials can only be of processes that see its working folder."""
    return bool(study.user_attrs.get(ABOUT, {}).get("local"))


def find_lost(study: optuna.Study, worker: Worker) -> None:
    """Fail the trials of processes that have ended, and ask them again."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        optuna.storages.fail_stale_trials(study)
    for trial in study.get_trials(deepcopy=False, states=(TrialState.RUNNING,)):
        told = trial.user_attrs.get(WORKER)
        began = trial.datetime_start.timestamp() if trial.datetime_start else 0.0
        # Without a worker's name it is just being asked for, or was lost then.
        nameless = time.time() - began > SILENCE or (_is_local(study) and worker.is_alone())
        if worker.is_gone(told) if told else nameless:
            with contextlib.suppress(ValueError, optuna.exceptions.UpdateFinishedTrialError):
                study.tell(trial.number, state=TrialState.FAIL)
                _lost(study, trial)


def ask_again(study: optuna.Study, trial: FrozenTrial, tried: int = 0) -> None:
    """Put a trial that came to no end at the front of those that wait."""
    kept = {name: value for name, value in trial.user_attrs.items() if name not in (WORKER, WHY)}
    fixed = {"fixed_params": trial.system_attrs["fixed_params"]} if "fixed_params" in trial.system_attrs else {}
    study.add_trial(
        create_trial(
            state=TrialState.WAITING,
            params=trial.params,
            distributions=trial.distributions,
            user_attrs=kept | {TRIED: tried},
            system_attrs=fixed,
        )
    )


def _lost(study: optuna.Study, trial: FrozenTrial) -> None:
    """Ask a lost trial again, unless it is what takes processes with it.

    One that was lost before it had all its settings needs no second try: whoever stands in its place draws the same.
    """
    tried = int(trial.user_attrs.get(TRIED, 0)) + 1
    space = study.user_attrs.get(ABOUT, {}).get("space", {})
    if not trial.user_attrs.get(UNTUNED) and not set(space) <= set(trial.params):
        return
    if tried < TRIES or trial.user_attrs.get(UNTUNED):
        ask_again(study, trial, tried)
        return
    study.add_trial(
        create_trial(
            state=TrialState.PRUNED,
            params=trial.params,
            distributions=trial.distributions,
            user_attrs={WHY: f"Its process was lost {tried} times."},
        )
    )
