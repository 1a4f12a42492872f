"""What a server counts, for Prometheus; several workers count into one folder."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from limbeck.serve.batching import Ran

SECONDS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5)
SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256)

# A gauge: its name, what it tells, and its values by labels.
Gauge = tuple[str, str, list[tuple[dict[str, str], float]]]


class Metrics:
    """Counters of one worker; what is counted per name is looked up once."""

    def __init__(self, several: bool, gauges: Callable[[], Iterable[Gauge]]) -> None:
        """Count alone, or with `several` workers into the folder that PROMETHEUS_MULTIPROC_DIR names."""
        self._several, self._gauges = several, gauges
        self._registry = CollectorRegistry()
        self._known: dict[tuple[Any, ...], Any] = {}
        self.requests = self._counter("requests", "Requests by route and status.", "route", "status")
        self.texts = self._counter("texts", "Texts that were answered.", "model")
        self.shed = self._counter("shed", "Requests that were refused for want of time.")
        self.errors = self._counter("errors", "Requests that were not answered, by code.", "code")
        self.votes = self._counter("votes", "Whether replies helped.", "helped")
        self.topics = self._counter("labels", "Labels that were given.", "model", "label")
        self.latency = self._histogram("latency_seconds", "From a request's head to its answer.", SECONDS, "route")
        self.queued = self._histogram("queue_seconds", "How long a batch's first request waited.", SECONDS, "model")
        self.batch = self._histogram("batch_texts", "Texts a batch.", SIZES, "model")
        self.tokenise = self._histogram("tokenise_seconds", "Cleaning and tokenising a batch.", SECONDS, "model")
        self.model = self._histogram("model_seconds", "All else that a batch takes.", SECONDS, "model")

    def _counter(self, name: str, about: str, *labels: str) -> Counter:
        return Counter(f"limbeck_{name}", about, labels, registry=self._registry)

    def _histogram(self, name: str, about: str, buckets: tuple[float, ...], *labels: str) -> Histogram:
        return Histogram(f"limbeck_{name}", about, labels, buckets=buckets, registry=self._registry)

    def of(self, metric: Counter | Histogram, *labels: str) -> Any:  # noqa: ANN401 - the library's own child types
        """Give the part of a metric that has these labels."""
        key = (metric, *labels)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = metric.labels(*labels)
        return found

    def ran(self, model: str, ran: Ran, reading: float) -> None:
        """Count a batch."""
        self.of(self.texts, model).inc(ran.texts)
        self.of(self.batch, model).observe(ran.texts)
        self.of(self.queued, model).observe(ran.waited)
        self.of(self.tokenise, model).observe(reading)
        self.of(self.model, model).observe(ran.seconds - reading)

    def answered(self, route: str, status: int, seconds: float) -> None:
        """Count a request."""
        self.of(self.requests, route, str(status)).inc()
        self.of(self.latency, route).observe(seconds)

    def page(self) -> bytes:
        """Write all that was counted, by all workers."""
        registry = self._registry
        if self._several:
            registry = CollectorRegistry()
            MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        told = CollectorRegistry()
        told.register(_Told(self._gauges))
        return generate_latest(registry) + generate_latest(told)


class _Told(Collector):
    def __init__(self, gauges: Callable[[], Iterable[Gauge]]) -> None:
        self._gauges = gauges

    def collect(self) -> Iterator[Metric]:
        for name, about, values in self._gauges():
            labels = list(values[0][0]) if values else []
            family = GaugeMetricFamily(f"limbeck_{name}", about, labels=labels)
            for given, value in values:
                family.add_metric(list(given.values()), value)
            yield family
