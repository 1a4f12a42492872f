"""Independent tasks on the nodes of a Ray cluster; a node that dies costs what it was at, and no more."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import logging
import os
import secrets
import socket
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from limbeck.errors import BadSetting, ClusterMissing, ClusterUnfit, ExtraMissing
from limbeck.progress import bar
from limbeck.scale.worker import Outcome, Terms, do, versions

Task = TypeVar("Task")
Result = TypeVar("Result")

# Libraries whose work ends up in results.
LIBRARIES = ("numpy", "torch", "transformers", "tokenizers", "accelerate", "onnxruntime", "scikit-learn", "scipy")
# How long a cluster may take to say a first word.
ANSWER_SECONDS = 5.0
# How often nodes are looked at, and the longest wait for a result in between.
LOOK_SECONDS = 1.0
# What Ray is told unless it is told otherwise: to send nothing home, not to warn of a change to come, and, where this
# machine is no node of the cluster, to give up sooner than after a minute.
_ENVIRONMENT = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_gcs_server_request_timeout_seconds": "20",
}
_CLIENT = "ray://"
# What a client of HTTP/2 says first, which gRPC speaks, and an empty frame of settings.
_HELLO = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\4\0\0\0\0\0"


@dataclass(frozen=True)
class RayCluster:
    """Does tasks in processes of a Ray cluster.

    `address` is one that Ray takes; empty, a cluster of this machine is joined or, for the time of a run, started.
    Each task gets `cpus` cores and threads; a node does at most `tasks_per_node` at a time, or as many as it has cores
    for (0). A task that is lost with its process or node is done again, up to `retries` times. `shared` is a folder
    that all nodes must see; without one, nothing but tasks and results travels.
    """

    address: str = ""
    cpus: int = 1
    tasks_per_node: int = 0
    retries: int = 3
    wait_seconds: float = 60.0
    shared: Path | None = None
    libraries: tuple[str, ...] = LIBRARIES

    def run(
        self, work: Callable[[Task], Result], tasks: Sequence[Task], what: str, sizes: Sequence[int] | None = None
    ) -> list[Result]:
        """Do all tasks; give their results in the order of the tasks."""
        results: dict[int, Result] = {}
        if tasks:
            with bar(what, sum(sizes) if sizes else len(tasks)) as advance, self._opened(work, tasks) as run:
                for place, result in run.results():
                    results[place] = result
                    advance(sizes[place] if sizes else 1, run.state())
        return [results[place] for place in range(len(tasks))]

    def stream(self, work: Callable[[Task], Result], tasks: Iterable[Task], what: str) -> Iterator[Result]:
        """Do tasks as they come, few of them ahead of the results, which are given in order."""
        early: dict[int, Result] = {}
        with bar(what) as advance, self._opened(work, tasks) as run:
            run.ahead = 2
            for place, result in run.results():
                early[place] = result
                while run.given in early:
                    yield early.pop(run.given)
                    run.given += 1
                    advance(1, run.state())

    @contextlib.contextmanager
    def _opened(self, work: Callable[[Task], Result], tasks: Iterable[Task]) -> Iterator[_Run]:
        """Connect, send the work, and clear up afterwards, whatever happens."""
        with self._connected() as ray, self._visible() as seen:
            threads, told = self.cpus, versions(self.libraries)
            terms = Terms(secrets.token_hex(8), threads, os.getcwd(), seen, told)  # noqa: PTH109 - as it is
            run = _Run(self, ray, [ray.put(work)], terms, enumerate(tasks))
            try:
                yield run
            finally:
                run.cancel()

    @contextlib.contextmanager
    def _connected(self) -> Iterator[Any]:
        """Give Ray, connected; a connection that was there before stays."""
        try:
            for name, value in _ENVIRONMENT.items():
                os.environ.setdefault(name, value)
            ray: Any = importlib.import_module("ray")
        except ImportError:
            raise ExtraMissing("ray", "Running tasks on a Ray cluster") from None
        if ray.is_initialized():
            yield ray
            return
        address = self.address or os.environ.get("RAY_ADDRESS", "")
        reach(address)
        # Ray prints its nodes' messages on standard output, where answers stand; lost nodes are told of here.
        with contextlib.suppress(AttributeError):
            ray._private.worker._worker_logs_enabled = False
        try:
            ray.init(
                address or None,
                log_to_driver=False,
                logging_level=logging.ERROR,
                **({} if address else {"include_dashboard": False}),
            )
        except (Exception, SystemExit) as error:  # Ray has no class for it, and ends the process after a while
            told = (str(error).splitlines() or [""])[0]
            raise ClusterMissing(
                f"The Ray cluster at {address or 'this machine'} can't be joined: {told or type(error).__name__}",
                "This machine must be one of its nodes (ray start --address=HOST:PORT), with the same Ray and Python.",
            ) from None
        try:
            yield ray
        finally:
            ray.shutdown()

    @contextlib.contextmanager
    def _visible(self) -> Iterator[str]:
        """Give the path of a file that only those find who see the shared folder."""
        if self.shared is None:
            yield ""
            return
        file = self.shared.absolute() / "tmp" / f"seen-{secrets.token_hex(8)}"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
        try:
            yield str(file)
        finally:
            file.unlink(missing_ok=True)


@dataclass(frozen=True)
class _Node:
    """A node that is alive; `room` is how many tasks it does at a time."""

    id: str
    address: str
    cores: int
    room: int


@dataclass(frozen=True)
class _Running:
    """A task where it is done, and how often it was lost before."""

    place: int
    task: Any
    node: _Node
    lost: int


@dataclass
class _Run:
    """One run's tasks: who is given which, and what becomes of those whose node dies.

    Ray would repeat them itself, but waits for the process of a node that is gone as long as it seems to live.
    """

    cluster: RayCluster
    ray: Any
    parcel: list[Any]
    terms: Terms
    tasks: Iterator[tuple[int, Any]]
    ahead: int = 0
    given: int = 0
    done: int = 0
    running: dict[Any, _Running] = field(default_factory=dict)
    nodes: dict[str, _Node] = field(default_factory=dict)
    again: list[tuple[int, Any, int]] = field(default_factory=list)
    _looked: float = float("-inf")
    _peeked: tuple[int, Any] | None = None

    def __post_init__(self) -> None:
        """Tell Ray once what it will be asked for again and again."""
        self._do = self.ray.remote(num_cpus=self.cluster.cpus, max_retries=0)(do)

    def results(self) -> Iterator[tuple[int, Any]]:
        """Do all tasks; give each one's number and result as it ends."""
        idle_since = time.monotonic()
        while True:
            self._look()
            self._start()
            if self.running:
                idle_since = time.monotonic()
                ended, _ = self.ray.wait(list(self.running), num_returns=1, timeout=LOOK_SECONDS)
                for reference in ended:
                    entry = self.running.pop(reference)
                    outcome = self._outcome(reference, entry)
                    if outcome is not None:
                        self.done += 1
                        yield entry.place, outcome.result
            elif not self.again and self._next() is None:
                return
            elif time.monotonic() - idle_since > self.cluster.wait_seconds:
                raise self._no_room()
            else:
                time.sleep(LOOK_SECONDS / 4)

    def state(self) -> str:
        """Say in a few words what the cluster does."""
        cores = sum(node.cores for node in self.nodes.values())
        nodes = f"{len(self.nodes)} node{'s' * (len(self.nodes) != 1)}"
        return f"{nodes}, {cores} cores; tasks: {self.done} done, {len(self.running)} running"

    def cancel(self) -> None:
        """End what still runs."""
        for reference in self.running:
            self._end(reference)
        self.running.clear()

    def _end(self, reference: Any) -> None:  # noqa: ANN401 - Ray has no types here
        with contextlib.suppress(Exception):  # it may be over, or out of reach
            self.ray.cancel(reference, force=True)

    def _look(self) -> None:
        """See which nodes are alive; tasks of those that are not wait again."""
        now = time.monotonic()
        if now - self._looked < LOOK_SECONDS:
            return
        self._looked = now
        most = self.cluster.tasks_per_node
        self.nodes = {}
        for told in self.ray.nodes():
            cores = int(told["Resources"].get("CPU", 0))
            room = cores // self.cluster.cpus
            if told["Alive"] and room:
                address = str(told["NodeManagerAddress"])
                self.nodes[told["NodeID"]] = _Node(told["NodeID"], address, cores, min(room, most) if most else room)
        gone = {ref: entry for ref, entry in self.running.items() if entry.node.id not in self.nodes}
        for reference, entry in gone.items():
            del self.running[reference]
            # Its process may outlive its node for a while.
            self._end(reference)
            self._repeat(entry, f"the node {entry.node.address} is gone")

    def _start(self) -> None:
        """Give each node as many tasks as it has room for."""
        affinity = importlib.import_module("ray.util.scheduling_strategies").NodeAffinitySchedulingStrategy
        busy = dict.fromkeys(self.nodes, 0)
        for entry in self.running.values():
            busy[entry.node.id] = busy.get(entry.node.id, 0) + 1
        # The emptiest first, so that few tasks don't end up on one node.
        rooms = sorted(
            (turn, node.id) for node in self.nodes.values() for turn in range(busy[node.id], node.room)
        )  # fmt: skip
        for _, name in rooms:
            waiting = self._take()
            if waiting is None:
                return
            place, task, lost = waiting
            where = affinity(name, soft=False)
            reference = self._do.options(scheduling_strategy=where).remote(self.parcel, task, self.terms)
            self.running[reference] = _Running(place, task, self.nodes[name], lost)

    def _next(self) -> tuple[int, Any] | None:
        if self._peeked is None:
            self._peeked = next(self.tasks, None)
        return self._peeked

    def _take(self) -> tuple[int, Any, int] | None:
        """Give the next task, lost ones first; none while the first result that is waited for is too far behind."""
        if self.again:
            return self.again.pop(0)
        found = self._next()
        rooms = sum(node.room for node in self.nodes.values())
        if found is None or (self.ahead and found[0] - self.given >= self.ahead * rooms):
            return None
        self._peeked = None
        return *found, 0

    def _outcome(self, reference: Any, entry: _Running) -> Outcome | None:  # noqa: ANN401 - Ray has no types here
        """Give what became of a task; None if it is to be done again."""
        errors = importlib.import_module("ray.exceptions")
        try:
            outcome: Outcome = self.ray.get(reference)
        except errors.RayTaskError as error:
            raise ClusterUnfit(
                f"The node {entry.node.address} can't begin a task: {_last_line(error)}",
                "Install Limbeck there, with the same extras.",
            ) from None
        except errors.TaskUnschedulableError:  # it hadn't begun
            self._looked = float("-inf")
            warnings.warn(f"A task is done again: the node {entry.node.address} is gone.", stacklevel=2)
            self.again.append((entry.place, entry.task, entry.lost))
            return None
        except errors.OutOfMemoryError:
            self._repeat(entry, f"the node {entry.node.address} was out of memory (lower scale.tasks_per_node)")
            return None
        except errors.RayError as error:
            self._repeat(entry, f"its process on {entry.node.address} ended ({type(error).__name__})")
            return None
        if outcome.error is None:
            return outcome
        if outcome.again and entry.lost < self.cluster.retries:
            self._repeat(entry, f"{outcome.node} says: {outcome.error}")
            return None
        raise outcome.error

    def _repeat(self, entry: _Running, why: str) -> None:
        if entry.lost >= self.cluster.retries:
            raise ClusterUnfit(
                f"A task was lost {entry.lost + 1} times, at last because {why}.",
                "What is finished is kept: mend the nodes and run again, or raise scale.retries.",
            )
        warnings.warn(f"A task is done again: {why}.", stacklevel=2)
        self.again.append((entry.place, entry.task, entry.lost + 1))

    def _no_room(self) -> ClusterUnfit:
        largest = max((int(n["Resources"].get("CPU", 0)) for n in self.ray.nodes() if n["Alive"]), default=0)
        return ClusterUnfit(
            f"No node had {self.cluster.cpus} cores for a task within {self.cluster.wait_seconds:g} s; the largest has "
            f"{largest}.",
            "Lower scale.cpus, add nodes, or raise scale.wait_seconds. What is finished is kept.",
        )


def reach(address: str) -> None:
    """Raise within seconds if nobody answers at an address; Ray itself would try for most of a minute."""
    client = address.startswith(_CLIENT)
    plain = address.removeprefix(_CLIENT)
    if client and importlib.util.find_spec("grpc") is None:
        raise ClusterMissing(
            f"For the address {address} Ray's client is needed, which is not installed.",
            "Install it with: pip install 'ray[client]'",
        )
    if plain in ("", "auto", "local"):
        return
    host, colon, port = plain.rpartition(":")
    if not colon or not port.isdigit():
        raise BadSetting(f"'{address}' is no address of a cluster.", 'Write "HOST:PORT", "ray://HOST:PORT" or "auto".')
    try:
        with socket.create_connection((host.strip("[]"), int(port)), ANSWER_SECONDS) as line:
            line.settimeout(ANSWER_SECONDS)
            if os.environ.get("RAY_USE_TLS", "0") != "1":
                line.sendall(_HELLO)
                if line.recv(4)[3:4] != b"\4":
                    raise ConnectionError("what answers there is no Ray")
    except (OSError, OverflowError) as error:
        raise ClusterMissing(
            f"No Ray cluster answers at {address}: {error}.",
            "Start one with: ray start --head --port=6379, or set scale.address to where it is.",
        ) from None


def _last_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__
