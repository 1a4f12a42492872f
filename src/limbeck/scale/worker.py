"""What happens on a node of a cluster: a task is done in so many threads, if all else is as on the driver."""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import os
import platform
import re
import socket
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import limbeck
from limbeck.errors import ClusterUnfit, LimbeckError
from limbeck.progress import set_quiet
from limbeck.store import library_versions

_THREADS = ("OMP", "MKL", "OPENBLAS", "NUMEXPR", "RAYON")


@dataclass(frozen=True)
class Terms:
    """What a node must keep to in one run: threads a task, versions, and a file that it must see."""

    run: str
    threads: int
    folder: str
    seen: str
    versions: Mapping[str, str]


@dataclass(frozen=True)
class Outcome:
    """How a task ended on a node: with a result, or with an error; `again` says that it may go better elsewhere."""

    node: str
    result: Any = None
    error: BaseException | None = None
    again: bool = False


@cache
def versions(libraries: tuple[str, ...]) -> dict[str, str]:
    """Give the versions of Python, of libraries, and of Limbeck's own code."""
    digest, root = hashlib.sha256(), Path(limbeck.__file__).parent
    for file in sorted(root.rglob("*.py")):
        digest.update(file.relative_to(root).as_posix().encode() + file.read_bytes())
    code = f"{limbeck.__version__} ({digest.hexdigest()[:8]})"
    return {"Limbeck": code, "Python": platform.python_version(), **library_versions(libraries)}


# One run's work at a time: a process that does a hundred tasks loads a model once.
_ready: dict[str, Callable[[Any], Any]] = {}


def do(parcel: Sequence[Any], task: Any, terms: Terms) -> Outcome:  # noqa: ANN401 - whatever the work takes
    """Do a task of the run that `terms` tells of; `parcel` holds where its work is."""
    node = socket.gethostname()
    try:
        if terms.run not in _ready:
            _ready.clear()
            _ready[terms.run] = _made_ready(parcel, terms, node)
        return Outcome(node, _ready[terms.run](task))
    except LimbeckError as error:
        return Outcome(node, error=error)
    except OSError as error:  # a shared disk may stutter
        told = OSError(error.errno, error.strerror or str(error), error.filename)
        return Outcome(node, error=told, again=True)
    except Exception as error:  # a mistake of ours: what a developer wants is the place
        return Outcome(node, error=RuntimeError(f"on {node}: {error!r}\n{traceback.format_exc()}"))


def _made_ready(parcel: Sequence[Any], terms: Terms, node: str) -> Callable[[Any], Any]:
    """Unpack a run's work, after threads were limited: some libraries look at the limits only once."""
    set_quiet(True)
    for name in _THREADS:
        os.environ[f"{name}_NUM_THREADS"] = str(terms.threads)
    with contextlib.suppress(OSError):  # then paths must be absolute
        os.chdir(terms.folder)
    if terms.seen and not Path(terms.seen).is_file():
        raise ClusterUnfit(
            f"The node {node} doesn't see the project's folder: there is no {terms.seen}.",
            "All nodes need it under the same path, for example by NFS.",
        )
    mine = versions(tuple(name for name in terms.versions if name not in ("Limbeck", "Python")))
    for name, wanted in terms.versions.items():
        if mine.get(name) != wanted:
            raise ClusterUnfit(
                f"The node {node} has {name} {mine.get(name, 'nowhere')}, and this machine {wanted}.",
                "Install the same versions on all nodes: results depend on them.",
            )
    ray: Any = importlib.import_module("ray")
    try:
        work: Callable[[Any], Any] = ray.get(parcel[0])
    except Exception as error:  # Ray wraps it
        if lacking := re.search(r"No module named '[\w.]+'", str(error)):
            fix = "Install Limbeck there with the same extras."
            raise ClusterUnfit(f"The node {node} can't unpack a task: {lacking[0]}.", fix) from None
        raise
    _limit(terms.threads)
    return work


def _limit(threads: int) -> None:
    with contextlib.suppress(ImportError):
        importlib.import_module("threadpoolctl").threadpool_limits(threads)
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(threads)
