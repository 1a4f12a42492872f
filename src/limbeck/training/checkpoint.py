"""The state of a training run on disk, exact to the last bit and without pickle."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from limbeck.store import Store

Weights = dict[str, Tensor]


@dataclass
class Progress:
    """Where a run is: the next step, what was best so far, and how it got there.

    `rate_factor` falls below 1 when a run that diverged was started again from its best weights.
    """

    step: int = 0
    best: float = -1.0
    best_step: int = -1
    waited: int = 0
    thresholds: list[float] = field(default_factory=list)
    rate_factor: float = 1.0
    restarts: int = 0
    finished: bool = False
    usual_loss: float | None = None
    history: list[dict[str, Any]] = field(default_factory=list)


class Checkpoints:
    """The newest state of one run; older ones are removed when a newer one is safely there."""

    def __init__(self, store: Store, name: str) -> None:
        """Keep states of the run `name`."""
        self.store = store
        self.kind = f"training/{name}"

    def save(self, progress: Progress, model: Weights, best: Weights, optimizer: torch.optim.Optimizer) -> None:
        """Write the whole state."""
        tensors = {f"model.{k}": v for k, v in model.items()} | {f"best.{k}": v for k, v in best.items()}
        tensors |= _optimizer_tensors(optimizer)
        older = [folder for folder in (self.store.root / self.kind).glob("*") if folder.is_dir()]
        with self.store.write(self.kind, f"{progress.step:09d}", {"step": progress.step}) as folder:
            save_file(
                {name: tensor.detach().cpu().contiguous().clone() for name, tensor in tensors.items()},
                folder / "state.safetensors",
            )
            (folder / "progress.json").write_text(json.dumps(asdict(progress)), encoding="utf-8")
        for folder in older:
            if folder.name != f"{progress.step:09d}":
                self.store.remove(folder)

    def load(self, optimizer: torch.optim.Optimizer) -> tuple[Progress, Weights, Weights] | None:
        """Give progress, weights and best weights of the newest state, and put the optimiser into it."""
        newest = self.store.latest(self.kind)
        if newest is None or not self.store.intact(self.kind, newest[0]):
            return None
        folder = self.store.folder(self.kind, newest[0])
        progress = Progress(**json.loads((folder / "progress.json").read_text(encoding="utf-8")))
        tensors = load_file(folder / "state.safetensors")
        _restore_optimizer(optimizer, tensors)
        return progress, _part(tensors, "model."), _part(tensors, "best.")

    def clear(self) -> None:
        """Remove all states, once the run's result is kept elsewhere."""
        for folder in (self.store.root / self.kind).glob("*"):
            self.store.remove(folder)


def save_weights(weights: Weights, file: Path) -> None:
    """Write weights alone."""
    save_file({name: tensor.detach().cpu().contiguous().clone() for name, tensor in weights.items()}, file)


def _part(tensors: Mapping[str, Tensor], prefix: str) -> Weights:
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}


def _optimizer_tensors(optimizer: torch.optim.Optimizer) -> Weights:
    return {
        f"optimizer.{number}.{name}": torch.as_tensor(value)
        for number, state in optimizer.state_dict()["state"].items()
        for name, value in state.items()
    }


def _restore_optimizer(optimizer: torch.optim.Optimizer, tensors: Mapping[str, Tensor]) -> None:
    state: dict[int, dict[str, Tensor]] = {}
    for name, tensor in _part(tensors, "optimizer.").items():
        number, _, key = name.partition(".")
        state.setdefault(int(number), {})[key] = tensor
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})
