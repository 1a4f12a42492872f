"""A trained student as a scorer, and its folder: weights, tokeniser and what it says about itself."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from safetensors.torch import load_file

from limbeck.scorer import Floats
from limbeck.students.network import Plan, Student
from limbeck.students.pieces import Pieces, load_pieces
from limbeck.students.registry import NETWORKS
from limbeck.students.transformer import Transformer
from limbeck.teach.network import Encoder, device
from limbeck.text import Cleaner
from limbeck.training.checkpoint import save_weights
from limbeck.training.examples import unlabelled
from limbeck.training.loop import predict
from limbeck.training.outputs import ManyTexts

FILE_NAME = "student.json"
SCORED_AT_ONCE = 4096


@dataclass(frozen=True)
class StudentScorer:
    """A network with its tokeniser and its way of cleaning; with `one_class` a row's probabilities add up to 1."""

    kind: str
    labels: tuple[str, ...]
    clean: tuple[str, ...]
    one_class: bool
    plan: Plan
    pieces: Pieces
    network: Student

    def predict_proba(self, texts: Sequence[str]) -> Floats:
        """Give probabilities [texts, labels]."""
        cleaner = Cleaner(self.clean)
        proba = np.zeros((len(texts), len(self.labels)), dtype=np.float32)
        for start in range(0, len(texts), SCORED_AT_ONCE):
            ids = self.pieces.encode([cleaner(text) for text in texts[start : start + SCORED_AT_ONCE]])
            examples = unlabelled(ids, len(self.labels))
            found = predict(self._many, examples, self.pieces.pad_id, self.one_class, device())
            proba[start : start + len(ids)] = found
        return proba

    @cached_property
    def _many(self) -> ManyTexts:
        return ManyTexts(self.network.to(device()))

    @property
    def parameters(self) -> int:
        """How many numbers the network holds."""
        named = self.network.named_parameters()
        return sum(parameter.numel() for name, parameter in named if not name.startswith("projection."))

    def save(self, folder: Path) -> None:
        """Write weights, tokeniser and card; a transformer's encoder goes into a folder of its own."""
        weights = {k: v for k, v in self.network.state_dict().items() if not k.startswith(("encoder.", "projection."))}
        save_weights(weights, folder / "weights.safetensors")
        if isinstance(self.network, Transformer):
            self.network.save_encoder(folder / "encoder")
        self.pieces.save(folder / "tokenizer.json")
        about = {
            "kind": self.kind,
            "labels": self.labels,
            "clean": self.clean,
            "one_class": self.one_class,
            "max_tokens": self.pieces.max_tokens,
            "plan": asdict(self.plan),
            "parameters": self.parameters,
        }
        (folder / FILE_NAME).write_text(json.dumps(about, indent=1, ensure_ascii=False), encoding="utf-8")


def load_student(folder: Path) -> StudentScorer:
    """Read what `save` wrote."""
    about = json.loads((folder / FILE_NAME).read_text(encoding="utf-8"))
    plan = Plan(**about["plan"])
    if about["kind"] == "transformer":
        network: Student = Transformer(Encoder(folder / "encoder"), plan)
    else:
        network = NETWORKS[about["kind"]](plan)
    network.load_state_dict(load_file(folder / "weights.safetensors"), strict=False)
    pieces = load_pieces(folder / "tokenizer.json", about["max_tokens"], plan.pad_id)
    labels, clean = tuple(about["labels"]), tuple(about["clean"])
    return StudentScorer(about["kind"], labels, clean, about["one_class"], plan, pieces, network)
