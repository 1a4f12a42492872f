"""Reporting what each step found to MLflow; without it the same figures stand in plain JSON beside each result."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

from limbeck.config import Project
from limbeck.errors import BadSetting, ExtraMissing
from limbeck.store import key_of

# A figure-sized artefact is uploaded, a model or a data set is not: results already keep those.
LARGEST_ARTEFACT = 2_000_000
# Where a step leaves what it saw while training: {series: [{"step": …, figure: …}, …]}.
HISTORY = "history.json"


class Tracker(Protocol):
    """Where results are reported; an empty `name` means nowhere."""

    name: str

    def report(self, step: str, key: str, manifest: Mapping[str, Any], folder: Path) -> bool:
        """Report one finished result; say whether it arrived."""
        ...


class NoTracker:
    """Plain JSON only: the results themselves."""

    name = ""

    def report(self, step: str, key: str, manifest: Mapping[str, Any], folder: Path) -> bool:
        """Do nothing: `figures.json` is already there."""
        return True


class MlflowTracker:
    """An MLflow server, or a SQLite file that MLflow's own tools open."""

    def __init__(self, uri: str, experiment: str, artefacts: Path | None = None) -> None:
        """Report to the tracking store at `uri`; a store without a server keeps files under `artefacts`."""
        # MLflow's client retries a dead server for minutes; a run must not wait for its bookkeeping.
        os.environ.setdefault("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "2")
        os.environ.setdefault("MLFLOW_HTTP_REQUEST_TIMEOUT", "20")
        try:
            from mlflow.tracking import MlflowClient
        except ImportError:
            raise ExtraMissing("track", "Tracking with MLflow") from None
        self.name = f"mlflow-{key_of([uri, experiment])[:8]}"
        self.uri = uri
        self.experiment = experiment
        self.artefacts = artefacts
        from mlflow.exceptions import MlflowException

        try:
            self.client = MlflowClient(tracking_uri=uri)
        except MlflowException as error:
            reason = str(error).splitlines()[0][:200]
            raise BadSetting(f"track.uri = '{uri}' is no place that MLflow knows: {reason}", "Correct it.") from None
        self.gone = False

    def report(self, step: str, key: str, manifest: Mapping[str, Any], folder: Path) -> bool:
        """Report one result as a finished MLflow run; a server that can't be reached is tried again at the next run."""
        if self.gone:
            return False
        from mlflow.entities import Metric, Param
        from mlflow.exceptions import MlflowException

        try:
            experiment = self._experiment_id()
            if self._has(experiment, folder):
                return True
            run = self.client.create_run(
                experiment,
                run_name=f"{step}-{key[:8]}",
                tags={"limbeck.step": step, "limbeck.key": key, "limbeck.result": key_of(str(folder.resolve()))},
            )
            now = int(manifest["finished"] * 1000)
            metrics = [Metric(_metric_name(n), float(v), now, 0) for n, v in _figures(folder).items() if v is not None]
            metrics += [Metric(_metric_name(n), value, now, at) for n, value, at in _history(folder)]
            params = [Param(name, value[:6000]) for name, value in _flat(manifest["config"])]
            for start in range(0, max(len(metrics), len(params)), 100):
                chunk = slice(start, start + 100)
                self.client.log_batch(run.info.run_id, metrics[chunk], params[chunk])
            for file in sorted(folder.rglob("*.json")):
                if file.stat().st_size <= LARGEST_ARTEFACT:
                    inside = file.parent.relative_to(folder).as_posix()
                    self.client.log_artifact(run.info.run_id, str(file), None if inside == "." else inside)
            self.client.set_terminated(run.info.run_id, "FINISHED")
        except (MlflowException, OSError) as error:
            reason = str(error).splitlines()[0][:200]
            self.gone = True
            print(
                f"MLflow at {self.uri} did not take step '{step}' ({reason}); the next run tries again.",
                file=sys.stderr,
            )
            return False
        return True

    def _experiment_id(self) -> str:
        found = self.client.get_experiment_by_name(self.experiment)
        if found:
            return str(found.experiment_id)
        place = self.artefacts.resolve().as_uri() if self.artefacts else None
        return str(self.client.create_experiment(self.experiment, artifact_location=place))

    def _has(self, experiment: str, folder: Path) -> bool:
        """Say whether this result arrived before a kill could note that it had."""
        same = f"tags.`limbeck.result` = '{key_of(str(folder.resolve()))}' and attributes.status = 'FINISHED'"
        return bool(self.client.search_runs([experiment], same, max_results=1))


def make_tracker(project: Project) -> Tracker:
    """Give the tracker that the configuration asks for."""
    settings = project.config.track
    if not settings.mlflow:
        return NoTracker()
    if settings.uri:
        return MlflowTracker(settings.uri, settings.experiment)
    file = (project.workdir / "mlflow.sqlite3").resolve()
    return MlflowTracker(f"sqlite:///{file}", settings.experiment, project.workdir / "mlflow-artefacts")


def _figures(folder: Path) -> dict[str, float]:
    outcome = json.loads((folder / "figures.json").read_text(encoding="utf-8"))
    return {**outcome["figures"], "seconds": outcome["seconds"]}


def _history(folder: Path) -> Iterator[tuple[str, float, int]]:
    """Give every figure of every evaluation during training, as (name, value, step)."""
    file = folder / HISTORY
    series = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    for name, evaluations in series.items():
        for figures in evaluations:
            for figure, value in figures.items():
                if figure != "step" and isinstance(value, (int, float)) and not isinstance(value, bool):
                    yield f"{name}.{figure}", float(value), int(figures["step"])


def _metric_name(name: str) -> str:
    return "".join(mark if mark.isalnum() or mark in "_-./ " else "_" for mark in name)


def _flat(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{_metric_name(name)}.")
        else:
            yield prefix + _metric_name(name), str(value)
