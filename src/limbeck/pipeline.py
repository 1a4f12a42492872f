"""The chain: its steps in order, their keys, what is out of date and why, and running them."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from limbeck.config import Config, Project, load_project
from limbeck.errors import InputChanged, LimbeckError, ResultBroken, RunError, UnknownStep, nearest
from limbeck.steps import STEPS, Step, StepRun
from limbeck.store import FileHashes, Store, code_version, function_version, key_of, library_versions
from limbeck.track import Tracker, make_tracker

RESULTS = "results"
FIGURES = "figures.json"
# Results that a step builds on.
REMEMBERED = 20
# A file that is not the project's own is called by so many parts of its path.
OUTSIDE = 3


@dataclass(frozen=True)
class StepState:
    """How a step stands: done, stale (it was done for other inputs) or missing; `why` says what changed.

    `content` is a hash of the result's files: what later steps depend on.
    """

    step: Step
    key: str
    state: str
    why: tuple[str, ...] = ()
    seconds: float | None = None
    figures: Mapping[str, float] = field(default_factory=dict)
    content: str = ""

    @property
    def done(self) -> bool:
        """Whether there is nothing to do."""
        return self.state == "done"


class Pipeline:
    """The steps of one project."""

    def __init__(self, project: Project) -> None:
        """Look at a project; nothing is read or written yet."""
        self.project = project
        self.store = Store(project.workdir)
        config = project.config
        chosen = [step for step in STEPS if config.task in step.tasks and step.wanted(config)]
        names = {step.name for step in chosen}
        self.steps = tuple(replace(s, after=tuple(n for n in s.after if n in names)) for s in chosen)
        self._hashes = FileHashes(project.workdir / "hashes.json")

    @classmethod
    def open(cls, folder: Path | str = ".", overrides: Sequence[str] = ()) -> Pipeline:
        """Open the project in a folder; `overrides` are settings like "distill.epochs=3"."""
        return cls(load_project(Path(folder), overrides))

    def status(self) -> list[StepState]:
        """Say of every step whether it is done, and if not, why."""
        states: dict[str, StepState] = {}
        for step in self.steps:
            states[step.name] = self._state(step, states)
        return list(states.values())

    def folder(self, name: str) -> Path | None:
        """Give the folder of a step's current result, if it is done."""
        for state in self.status():
            if state.step.name == name and state.done:
                return self.store.folder(f"{RESULTS}/{name}", state.key)
        return None

    def run(
        self,
        until: str | None = None,
        force: bool = False,
        on_step: Callable[[StepState, str], None] = lambda state, event: None,
        only: str | None = None,
        patience: float = 0.0,
    ) -> list[StepState]:
        """Execute what is out of date: everything, or `until` and the steps that it needs; with `force`, all of it.

        With `only`, that step alone; those that it needs must be done. A project that another process holds is waited
        for, at most `patience` seconds.

        `on_step` is told 'start', 'done' or 'fresh' (there was nothing to do). Finished steps survive any kill.
        """
        wanted = self._up_to(only or until)
        with self.store.lock(patience):
            self.store.sweep()
            tracker = make_tracker(self.project)
            states: dict[str, StepState] = {}
            for step in wanted:
                state = self._state(step, states)
                if only not in (None, step.name):
                    if not state.done:
                        why = f"The step {step.name}, which {only} needs, is not up to date: {'; '.join(state.why)}."
                        raise RunError(why, f"Do it first: limbeck run --until {step.name}")
                elif state.done and not force:
                    on_step(state, "fresh")
                else:
                    on_step(state, "start")
                    state = self._execute(step, states, force)
                    on_step(state, "done")
                states[step.name] = state
                self._report(step, state.key, tracker)
            self._hashes.save()
        return [states[only]] if only else list(states.values())

    def settings(self, until: str) -> dict[str, Any]:
        """Give all settings that a step, and those that it needs, depend on, by their dotted names."""
        found: dict[str, Any] = {}
        for step in self._up_to(until):
            found |= self._settings(step)
        return dict(_leaves(found))

    def _up_to(self, until: str | None) -> tuple[Step, ...]:
        if until is None:
            return self.steps
        names = [step.name for step in self.steps]
        if until not in names:
            raise UnknownStep(
                f"There is no step '{until}' for the task {self.project.config.task}.", nearest(until, names)
            )
        needed = {until}
        for step in reversed(self.steps):
            if step.name in needed:
                needed.update(step.after)
        return tuple(step for step in self.steps if step.name in needed)

    def _execute(self, step: Step, done: Mapping[str, StepState], force: bool) -> StepState:
        started = time.monotonic()
        kind = f"{RESULTS}/{step.name}"
        inputs = self._inputs(step, done)
        key = key_of(inputs)
        about = {"step": step.name, "inputs": inputs, "config": self.project.config.model_dump(mode="json")}
        folders = {name: self.store.folder(f"{RESULTS}/{name}", done[name].key) for name in step.after}
        with self.store.write(kind, key, about) as folder:
            made_with = {"code": inputs["code"], "libraries": inputs["libraries"]}
            before = () if force else self._before(step, inputs)
            figures = step.run(StepRun(self.project, self.store, folder, folders, made_with, before, force))
            outcome = {"figures": figures, "seconds": round(time.monotonic() - started, 3)}
            (folder / FIGURES).write_text(json.dumps(outcome, indent=1), encoding="utf-8")
            changed = _changes(inputs["files"], self._inputs(step, done)["files"])
            if changed:
                raise InputChanged(
                    f"The file {changed[0][0]} changed while it was read.", "Run again when it is at rest."
                )
        return self._finished(step, key)

    def _finished(self, step: Step, key: str) -> StepState:
        folder = self.store.folder(f"{RESULTS}/{step.name}", key)
        outcome = json.loads((folder / FIGURES).read_text(encoding="utf-8"))
        manifest = self.store.manifest(f"{RESULTS}/{step.name}", key) or {"files": {}}
        # Its seconds differ from run to run.
        content = key_of({name: digest for name, digest in manifest["files"].items() if name != FIGURES})
        return StepState(step, key, "done", (), outcome["seconds"], outcome["figures"], content)

    def _before(self, step: Step, inputs: Mapping[str, Any]) -> tuple[Path, ...]:
        """Give the step's newest sound results that it may build on."""
        found: list[Path] = []
        if not step.builds_on:
            return ()
        kind = f"{RESULTS}/{step.name}"
        same = {name: inputs["settings"][name] for name in step.builds_on}
        for key, manifest in self.store.newest_first(kind):
            settings = manifest["inputs"]["settings"]
            if {name: settings.get(name) for name in same} == same and self.store.intact(kind, key):
                found.append(self.store.folder(kind, key))
            if len(found) == REMEMBERED:
                break
        return tuple(found)

    def _state(self, step: Step, before: Mapping[str, StepState]) -> StepState:
        kind = f"{RESULTS}/{step.name}"
        try:
            inputs = self._inputs(step, before)
        except LimbeckError as error:
            return StepState(step, "", "missing", (error.message,))
        key = key_of(inputs)
        if self.store.find(kind, key) is None:
            return StepState(step, key, *self._why(kind, inputs))
        try:
            self.store.check(kind, key)
        except ResultBroken as error:
            return StepState(step, key, "stale", (error.message,))
        return self._finished(step, key)

    def _inputs(self, step: Step, before: Mapping[str, StepState]) -> dict[str, Any]:
        """Collect all that a step's result depends on, as plain values; their hash is its key."""
        return {
            "settings": self._settings(step),
            "code": {package: code_version(package) for package in step.code}
            | {f"limbeck.steps.{step.name}": function_version(step.run)},
            "libraries": library_versions(step.libraries),
            "files": self._named(step.files(self.project)),
            "after": {name: before[name].content or before[name].key for name in step.after},
        }

    def _settings(self, step: Step) -> dict[str, Any]:
        values = self.project.config.model_dump(mode="json")
        for name in step.unmoved_by:
            section, _, key = name.partition(".")
            values[section].pop(key)
        idle = step.idle(self.project.config)
        return {name: _value(values, name) for name in step.settings if name not in idle}

    def _named(self, files: Sequence[Path]) -> dict[str, str]:
        """Give files' hashes by name; a file from elsewhere, as an encoder's, may lie elsewhere on another machine."""
        root, named = self.project.root, dict[str, str]()
        for path in files:
            outside = not path.is_relative_to(root)
            name = "/".join(path.parts[-OUTSIDE:]) if outside else path.relative_to(root).as_posix()
            named[str(path) if name in named else name] = self._hashes.of(path)
        return named

    def _why(self, kind: str, inputs: Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
        latest = self.store.latest(kind)
        if latest is None:
            return "missing", ("never run",)
        old = latest[1]["inputs"]
        reasons = [
            f"{name} changed: {was!r} → {now!r}" for name, was, now in _changes(old["settings"], inputs["settings"])
        ]
        reasons += [f"code of {name} changed" for name, _, _ in _changes(old["code"], inputs["code"])]
        libraries = _changes(old["libraries"], inputs["libraries"])
        reasons += [f"{name} changed: {was} → {now}" for name, was, now in libraries]
        reasons += [f"file {name} changed" for name, _, _ in _changes(old["files"], inputs["files"])]
        reasons += [f"step {name} changes" for name, _, _ in _changes(old["after"], inputs["after"])]
        return "stale", tuple(reasons)

    def _report(self, step: Step, key: str, tracker: Tracker) -> None:
        """Tell the tracker about a result once, even if a kill came between the result and the telling."""
        mark = self.project.workdir / "tracked" / f"{step.name}-{key}-{tracker.name}"
        if tracker.name and not mark.exists():
            kind = f"{RESULTS}/{step.name}"
            manifest = self.store.manifest(kind, key)
            if manifest and tracker.report(step.name, key, manifest, self.store.folder(kind, key)):
                mark.parent.mkdir(parents=True, exist_ok=True)
                mark.touch()


def _value(values: Mapping[str, Any], name: str) -> Any:  # noqa: ANN401 - any plain value
    section, _, key = name.partition(".")
    return values[section][key] if key else values[section]


def _leaves(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        if isinstance(value, Mapping) and value:
            yield from _leaves(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def _changes(old: Mapping[str, Any], new: Mapping[str, Any], prefix: str = "") -> list[tuple[str, Any, Any]]:
    """List the leaves in which two nested mappings differ, as (dotted name, old, new)."""
    found: list[tuple[str, Any, Any]] = []
    for name in sorted({*old, *new}):
        was, now = old.get(name), new.get(name)
        if isinstance(was, Mapping) and isinstance(now, Mapping):
            found += _changes(was, now, f"{prefix}{name}.")
        elif was != now:
            found.append((prefix + name, was, now))
    return found


def config_of(manifest: Mapping[str, Any]) -> Config:
    """Give the whole resolved configuration that a result was made with."""
    return Config.model_validate(manifest["config"])
