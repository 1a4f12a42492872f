"""A network as an ONNX graph for any number of texts of any length, compared with the network itself."""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path
from typing import Protocol

import torch
from torch import Tensor, nn

from limbeck.students.network import Reading

INPUTS = ("input_ids", "attention_mask")
OUTPUTS = ("logits", "probabilities", "embedding")
OPSET = 17
# Graph and network differ by rounding, most where a teacher keeps the states of its frozen layers in half precision;
# probabilities that are off by more come from another function.
FARTHEST = 5e-4


class Reader(Protocol):
    """A network that says what it makes of token ids [texts, tokens] where the mask is 1."""

    def read(self, ids: Tensor, mask: Tensor) -> Reading:
        """Give logits [texts, labels] and the vector that they are made from."""
        ...


class _Answers(nn.Module):
    def __init__(self, network: nn.Module, one_class: bool) -> None:
        super().__init__()
        self.network = network
        self.one_class = one_class

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        seen: Reading = self.network.read(input_ids, attention_mask)  # type: ignore[operator]
        proba = torch.softmax(seen.logits, dim=1) if self.one_class else torch.sigmoid(seen.logits)
        return seen.logits, proba, seen.vector


def export(network: nn.Module, one_class: bool) -> bytes:
    """Give a network that reads (see `Reader`) as ONNX: logits, probabilities, the vector that they are made from."""
    # One text, or one token, would be taken for a constant.
    shown = torch.ones((2, 8), dtype=torch.long), torch.ones((2, 8), dtype=torch.long)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")  # tracing tells of every shape that it follows
        torch.onnx.export(
            _Answers(network, one_class).eval(),
            shown,
            Path(folder) / "network.onnx",
            input_names=list(INPUTS),
            output_names=list(OUTPUTS),
            dynamic_axes={n: {0: "texts", 1: "tokens"} for n in INPUTS} | {n: {0: "texts"} for n in OUTPUTS},
            opset_version=OPSET,
            dynamo=False,
        )
        return (Path(folder) / "network.onnx").read_bytes()
