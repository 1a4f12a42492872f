"""A bundle's graph, ready to run."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

from limbeck.errors import BundleBroken, Place
from limbeck.runtime.bundle import GRAPH, Bundle


class OtherBackend(UserWarning):
    """Onnxruntime runs a graph that was measured with something else."""


def open_session(bundle: Bundle, threads: int, callers: int = 1) -> Any:  # noqa: ANN401 - onnxruntime has no types
    """Load the graph; give the function that runs it, which takes names of outputs, and inputs by name.

    Any number of threads may call it at a time; if `callers` of them are expected to, each call gets all its `threads`.
    """
    backend = bundle.manifest.model.backend
    if backend != "onnxruntime":
        from limbeck.runtime.openvino_session import NotRunnable, run_by_openvino  # seldom needed

        try:
            return run_by_openvino(bundle.graph, backend, threads, callers)
        except NotRunnable as why:
            _tell(str(why))
    return _run_by_onnxruntime(bundle, threads)


def _run_by_onnxruntime(bundle: Bundle, threads: int) -> Any:  # noqa: ANN401 - onnxruntime has no types
    import onnxruntime  # type: ignore[import-untyped]

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 4  # errors are raised; they needn't be printed as well
    # Threads that wait by spinning take time from whatever else runs on the machine.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        session = onnxruntime.InferenceSession(bundle.graph, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # the library has no common class of errors
        told = str(error).splitlines()[0]
        raise BundleBroken(f"{GRAPH} can't be loaded: {told}", "Make it again.", Place(bundle.folder)) from None
    return session.run


@cache
def _tell(why: str) -> None:
    """Warn, once for each reason."""
    warnings.warn(
        f"{why} A bundle was measured with it; onnxruntime runs the same graph, perhaps more slowly.",
        OtherBackend,
        stacklevel=5,
    )
