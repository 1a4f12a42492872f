"""A bundle's graph, run by OpenVINO. Nothing is imported from it until a bundle asks for it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from limbeck.runtime.manifest import Backend

Array = NDArray[Any]
Run = Callable[[Sequence[str], Mapping[str, Array]], list[Array]]

# Without this OpenVINO takes 16-bit floats wherever the processor has them, which nobody judged.
PRECISION = {"openvino": "f32", "openvino-bf16": "bf16"}
_TELEMETRY = "openvino_telemetry"


class NotRunnable(Exception):
    """OpenVINO can't run a graph here, and why."""


class NotInstalled(NotRunnable):
    """There is no OpenVINO."""


def run_by_openvino(graph: bytes, backend: Backend, threads: int, callers: int = 1) -> Run:
    """Compile a graph; give a function that runs it as onnxruntime's `session.run` does.

    It may be called from any number of threads; `callers` of them are worked for at a time, each with `threads`.
    """
    openvino = import_openvino()
    settings = {
        "PERFORMANCE_HINT": "LATENCY",
        "INFERENCE_PRECISION_HINT": PRECISION[backend],
        "NUM_STREAMS": callers,
        "INFERENCE_NUM_THREADS": threads * callers,
        # Every process would bind its threads to the same first cores.
        "ENABLE_CPU_PINNING": False,
    }
    try:
        core = openvino.Core()
        compiled = core.compile_model(core.read_model(graph), "CPU", settings)
    except Exception as error:  # the library raises RuntimeError, and others for what it didn't foresee
        raise NotRunnable(f"OpenVINO can't run this graph here ({_reason(error)}).") from None
    inputs = {name: place for place, port in enumerate(compiled.inputs) for name in port.names}
    outputs = {name: place for place, port in enumerate(compiled.outputs) for name in port.names}
    # A request works for one caller at a time. There are soon as many as callers, and they are kept.
    idle: list[Any] = []

    def run(names: Sequence[str], feeds: Mapping[str, Array]) -> list[Array]:
        # An input that the graph doesn't look at is none to OpenVINO. One that is missing would keep its last value.
        held = {name: np.ascontiguousarray(feeds[name]) for name in inputs}
        places = [outputs[name] for name in names]
        try:
            request = idle.pop()
        except IndexError:
            request = compiled.create_infer_request()
        try:
            for name, array in held.items():
                request.set_input_tensor(inputs[name], openvino.Tensor(array, shared_memory=True))
            request.infer(share_outputs=True)
            return [request.get_output_tensor(place).data.copy() for place in places]
        finally:
            idle.append(request)

    return run


def import_openvino() -> Any:  # noqa: ANN401 - a module without types
    """Import OpenVINO, but not the package by which it tells its makers of every import: serving calls nobody."""
    hide = "openvino" not in sys.modules and _TELEMETRY not in sys.modules
    if hide:
        sys.modules[_TELEMETRY] = None  # type: ignore[assignment]
    try:
        import openvino
    except ImportError:
        raise NotInstalled("OpenVINO is not installed (pip install 'limbeck[openvino]').") from None
    finally:
        if hide:
            sys.modules.pop(_TELEMETRY, None)
    return openvino


def _reason(error: Exception) -> str:
    """Give the line of OpenVINO's long messages that says what is wrong."""
    lines = [line.strip(" -\t") for line in str(error).splitlines() if line.strip()]
    telling = [line for line in lines if "No conversion rule" in line or "message:" in line]
    return (telling or lines or [type(error).__name__])[-1][:200]
