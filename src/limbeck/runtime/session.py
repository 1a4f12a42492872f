"""A bundle's graph, ready to run."""

from __future__ import annotations

from typing import Any

from limbeck.errors import BundleBroken, Place
from limbeck.runtime.bundle import GRAPH, Bundle


def open_session(bundle: Bundle, threads: int) -> Any:  # noqa: ANN401 - onnxruntime has no types
    """Load the graph; give the function that runs it."""
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
