"""What a server did lately, for its owner: by each worker, and by all of them together."""

from __future__ import annotations

import json
import os
import time
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from limbeck.serve.drift import DriftReport, compare
from limbeck.serve.metrics import Gauge
from limbeck.serve.shelf import Shelf
from limbeck.serve.window import Snapshot, merged

# Latencies and seconds that are remembered.
LATENCIES, SECONDS = 2000, 60
# A worker that has written nothing for so long is gone.
STALE = 10.0
PERCENTILES = (50, 95, 99)


class Live:
    """A worker's view of itself, and of the others through the files that each writes into one folder."""

    def __init__(self, shelf: Shelf, folder: Path | None = None) -> None:
        """Tell of the models of a shelf; `folder` is where several workers write."""
        self._shelf, self._folder = shelf, folder
        self._latencies: deque[float] = deque(maxlen=LATENCIES)
        self._seconds: deque[tuple[int, int]] = deque(maxlen=SECONDS)
        self.votes = {"yes": 0, "no": 0}
        self.started = time.time()

    def answered(self, texts: int, seconds: float) -> None:
        """Remember an answer."""
        self._latencies.append(seconds)
        now = int(time.time())
        if self._seconds and self._seconds[-1][0] == now:
            self._seconds[-1] = (now, self._seconds[-1][1] + texts)
        else:
            self._seconds.append((now, texts))

    def own(self) -> dict[str, Any]:
        """Give this worker's figures as plain values."""
        return {
            "pid": os.getpid(),
            "at": time.time(),
            "started": self.started,
            "latencies": [round(value, 6) for value in self._latencies],
            "seconds": list(self._seconds),
            "votes": dict(self.votes),
            "models": {
                name: {"version": served.model.version, "window": served.window.snapshot()}
                for name, served in self._shelf.models.items()
            },
        }

    def write(self) -> None:
        """Tell the other workers."""
        if self._folder is not None:
            file = self._folder / f"worker-{os.getpid()}.json"
            part = file.with_suffix(".part")
            part.write_text(json.dumps(self.own()), encoding="utf-8")
            part.replace(file)

    def all(self) -> list[dict[str, Any]]:
        """Give the figures of all workers that are there."""
        found = [self.own()]
        for file in self._folder.glob("worker-*.json") if self._folder is not None else ():
            try:
                told = json.loads(file.read_text(encoding="utf-8"))
            except (OSError, ValueError):  # it is being written, or its worker just went
                continue
            if told["pid"] != os.getpid() and time.time() - told["at"] < STALE:
                found.append(told)
        return found

    def _window(self, name: str, workers: Iterable[Mapping[str, Any]]) -> Snapshot:
        """Add up what a model's workers answered; only those that have this worker's version."""
        version = self._shelf.models[name].model.version
        told = [worker["models"][name] for worker in workers if name in worker["models"]]
        return merged(one["window"] for one in told if one["version"] == version)

    def _drift(self, name: str, window: Snapshot) -> DriftReport:
        return compare(self._shelf.models[name].model.manifest.reference, window)

    def gauges(self) -> list[Gauge]:
        """Give what is computed when it is asked for: drift, and how often each label is given."""
        workers = self.all()
        drifts: list[tuple[dict[str, str], float]] = []
        moved: list[tuple[dict[str, str], float]] = []
        rates: list[tuple[dict[str, str], float]] = []
        for name in self._shelf.models:
            window = self._window(name, workers)
            report = self._drift(name, window)
            moved.append(({"model": name}, float(report.moved)))
            drifts += [({"model": name, "what": one.what}, one.adjusted_p) for one in report.findings]
            rates += [({"model": name, "label": k}, v) for k, v in _rates(window).items()]
        return [
            ("drift_moved", "Whether texts or answers differ from when the model was made.", moved),
            ("drift_p", "How likely a difference as large is if nothing changed, corrected for all tests.", drifts),
            ("label_rate", "The share of recent texts that have a label.", rates),
        ]

    def suggested(self) -> dict[str, dict[str, int]]:
        """Give, by model, how many texts of each label that moved should be labelled."""
        workers = self.all()
        return {name: self._drift(name, self._window(name, workers)).suggested_labels for name in self._shelf.models}

    def page(self) -> dict[str, Any]:
        """Give all that the owner's page shows."""
        workers = self.all()
        latencies = [value for worker in workers for value in worker["latencies"]]
        marks = np.percentile(latencies, PERCENTILES).tolist() if latencies else [None] * len(PERCENTILES)
        by_second: dict[int, int] = {}
        for worker in workers:
            for second, texts in worker["seconds"]:
                by_second[second] = by_second.get(second, 0) + texts
        now = int(time.time())
        return {
            "workers": len(workers),
            "uptime": round(time.time() - min(worker["started"] for worker in workers)),
            "texts_a_second": [by_second.get(second, 0) for second in range(now - SECONDS, now)],
            "latency_ms": {
                f"p{mark}": None if value is None else round(value * 1e3, 3)
                for mark, value in zip(PERCENTILES, marks, strict=True)
            },
            "votes": {k: sum(worker["votes"][k] for worker in workers) for k in ("yes", "no")},
            "models": [self._model(name, workers) for name in self._shelf.models],
        }

    def _model(self, name: str, workers: list[dict[str, Any]]) -> dict[str, Any]:
        model = self._shelf.models[name].model
        reference, window = model.manifest.reference, self._window(name, workers)
        sure = window.confidence
        return {
            "name": name,
            "version": model.version,
            "titles": model.titles,
            "rates": _rates(window),
            "reference_rates": reference.label_rates if reference else {},
            "confidence": [count / max(1, sum(sure)) for count in sure],
            "reference_confidence": reference.confidence if reference else [],
            "drift": asdict(self._drift(name, window)),
        }


def _rates(window: Snapshot) -> dict[str, float]:
    return {label: count / window.texts for label, count in window.given.items()} if window.texts else {}
