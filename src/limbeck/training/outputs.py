"""What a network says of many texts: batches by length, on one device, or as an ONNX graph on every core at once."""

from __future__ import annotations

import tempfile
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from limbeck.runtime.batches import batches_by_length
from limbeck.training.examples import Examples, Rows
from limbeck.training.tokens import SCORED_AT_ONCE

Output = NDArray[np.float32]
Inputs = tuple[Tensor, ...]

INPUTS = ("ids", "mask", "states")
OPSET = 18
# Graph and network differ by rounding; what is off by more, relative to the largest output, is another function.
ROUNDING = 1e-4
# From so many texts on, exporting takes less time than it saves.
MANY = 1000


@torch.no_grad()
def outputs(
    network: nn.Module | ManyTexts, examples: Examples, pad_id: int, device: str = "cpu"
) -> Iterator[tuple[Rows, Output]]:
    """Give rows and what the network says of them, until every text had its turn."""
    groups = batches_by_length(examples.lengths, SCORED_AT_ONCE)

    def inputs(rows: Rows) -> Inputs:
        batch, _, states = examples.batch(rows, pad_id)
        return (batch.ids, batch.mask) if states is None else (batch.ids, batch.mask, states)

    if isinstance(network, ManyTexts):
        graph = network.graph(inputs, groups) if device == "cpu" else None
        if graph is not None:
            yield from zip(groups, graph(inputs, groups), strict=True)
            return
        network = network.network
    network.eval()
    for rows in groups:
        yield rows, network(*(given.to(device) for given in inputs(rows))).float().cpu().numpy()


class ManyTexts:
    """A network that is exported as soon as many texts are to be scored on a CPU; what can't be exported runs as it is.

    With `weights_apart` the graph holds no weights, so that one serves all networks of its shape: see `take`.
    """

    def __init__(self, network: nn.Module, weights_apart: bool = False) -> None:
        """Export nothing yet."""
        self.network = network.eval()
        self.weights_apart = weights_apart
        self._graph: Graph | None = None
        self._refused = False

    def take(self, weights: Mapping[str, Tensor]) -> None:
        """Go on with these weights instead of the ones of the same names."""
        self.network.load_state_dict(weights, strict=False)
        if self._graph is not None:
            self._graph.take(weights)

    @torch.no_grad()
    def graph(self, inputs: Callable[[Rows], Inputs], groups: Sequence[Rows]) -> Graph | None:
        """Give the export, compared with the network itself on a batch; None for few texts, or after a failure."""
        if self._graph is None and not self._refused and sum(map(len, groups)) >= MANY:
            sample = inputs(groups[0])
            try:
                graph = Graph(onnx_graph(self.network, sample, self.weights_apart))
                if self.weights_apart:
                    graph.take(self.network.state_dict())
                expected = self.network(*sample).float().numpy()
                gap = float(np.abs(graph.run(sample) - expected).max(initial=0))
                if not gap <= ROUNDING * max(1.0, float(np.abs(expected).max(initial=0))):
                    raise ValueError(f"its answers are off by {gap:.2g}")
                self._graph = graph
            except Exception as error:  # exporters fail in many ways, and the network itself is still there
                self._refused = True
                told = (str(error).splitlines() or [type(error).__name__])[0]
                warnings.warn(f"Scoring will be slower: the network can't be exported ({told}).", stacklevel=2)
        return self._graph


class Graph:
    """An ONNX graph that runs several batches at once, one a core: a fifth faster than each batch on all cores."""

    def __init__(self, graph: bytes) -> None:
        """Load a graph whose inputs are named as `INPUTS` and, if it holds no weights, as those."""
        import onnxruntime  # type: ignore[import-untyped]

        settings = onnxruntime.SessionOptions()
        settings.intra_op_num_threads = 1
        settings.log_severity_level = 3
        self.cores = torch.get_num_threads()  # as many as torch itself would use, so OMP_NUM_THREADS counts here, too
        self._session = onnxruntime.InferenceSession(graph, settings, providers=["CPUExecutionProvider"])
        self._wanted = {wanted.name for wanted in self._session.get_inputs()}
        self._weights: dict[str, Any] = {}

    def __call__(self, inputs: Callable[[Rows], Inputs], groups: Sequence[Rows]) -> Iterator[Output]:
        """Give the output of each group, in order; a few are worked on at a time."""
        with ThreadPoolExecutor(self.cores) as workers:
            waiting: deque[Future[Output]] = deque()
            for rows in groups:
                waiting.append(workers.submit(lambda rows: self.run(inputs(rows)), rows))
                if len(waiting) > 2 * self.cores:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()

    def take(self, weights: Mapping[str, Tensor]) -> None:
        """Go on with these weights instead of the ones of the same names."""
        self._weights |= self._values(weights)

    def run(self, inputs: Inputs) -> Output:
        """Give the output of one batch."""
        given = self._values(dict(zip(INPUTS, inputs, strict=False)))
        [found] = self._session.run_with_ort_values(None, given | self._weights)
        return np.asarray(found.numpy(), dtype=np.float32)

    def _values(self, tensors: Mapping[str, Tensor]) -> dict[str, Any]:
        from onnxruntime import OrtValue

        return {n: OrtValue.ortvalue_from_numpy(t.numpy()) for n, t in tensors.items() if n in self._wanted}


def onnx_graph(network: nn.Module, sample: Inputs, weights_apart: bool = False) -> bytes:
    """Give a network as ONNX for any number of texts of any length; `sample` shows what it takes."""
    # One text, or one token, would be taken for a constant.
    texts, tokens = 2, 8
    shown = tuple(torch.ones((texts, tokens, *given.shape[2:]), dtype=given.dtype) for given in sample)
    names = list(INPUTS[: len(sample)])
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # tracing tells of every shape that it follows
        torch.onnx.export(
            network,
            shown,
            Path(folder) / "network.onnx",
            input_names=names,
            output_names=["output"],
            dynamic_axes={name: {0: "texts", 1: "tokens"} for name in names} | {"output": {0: "texts"}},
            opset_version=OPSET,
            dynamo=False,
            export_params=not weights_apart,
            do_constant_folding=not weights_apart,
        )
        return (Path(folder) / "network.onnx").read_bytes()
