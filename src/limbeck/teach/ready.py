"""A finished transformers sequence-classification model as a teacher, as it is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from limbeck.errors import BadSetting, EncoderMissing, Place
from limbeck.scorer import Floats, fields_alone
from limbeck.teach.card import Card, read_card
from limbeck.teach.encoders import find_encoder
from limbeck.teach.lessons import Lessons, Taught
from limbeck.teach.network import blocks, device, positions
from limbeck.training.examples import unlabelled
from limbeck.training.loop import predict
from limbeck.training.outputs import ManyTexts
from limbeck.training.tokens import Tokens


@dataclass(frozen=True)
class ReadyTeacher:
    """The model in `card.encoder`; `outputs` gives each label the model's output that is named like it, or -1."""

    card: Card
    outputs: tuple[int, ...]

    __getstate__ = fields_alone

    @property
    def labels(self) -> tuple[str, ...]:
        """The label names."""
        return self.card.labels

    def only(self, labels: Sequence[str]) -> ReadyTeacher:
        """Give the model's outputs of just these labels; if one class is right, all of them."""
        if self.card.one_class or tuple(labels) == self.labels:
            return self
        outputs = dict(zip(self.labels, self.outputs, strict=True))
        return replace(self, card=self.card.only(labels), outputs=tuple(outputs[label] for label in labels))

    def identity(self) -> dict[str, str]:
        """Give every label the hash of the model's files and of the output that is named like it."""
        return self.card.identity([[output] if output >= 0 else [] for output in self.outputs])

    def predict_proba(self, texts: Sequence[str]) -> Floats:
        """Give probabilities [texts, labels]; a label that the model doesn't know gets its known rate."""
        return self.score_cleaned(self.card.cleaned(texts))

    def score_cleaned(self, texts: Sequence[str]) -> Floats:
        """Do the same for texts that are cleaned already."""
        network, tokens, one_of = self.model
        examples = unlabelled(tokens.encode(texts), len(network.model.config.id2label))
        found = predict(self._many, examples, tokens.pad_id, one_of, device())
        proba = np.tile(np.array(self.card.rates), (len(texts), 1))
        known = np.flatnonzero(np.array(self.outputs) >= 0)
        proba[:, known] = found[:, [self.outputs[column] for column in known]]
        return self.card.finish(proba)

    @cached_property
    def _many(self) -> ManyTexts:
        return ManyTexts(self.model[0])

    @cached_property
    def model(self) -> tuple[Logits, Tokens, bool]:
        """The network, its tokeniser, and whether its outputs are classes of which one is right."""
        model = _load(self.card.encoder.folder)
        config = model.config
        one_of = config.num_labels > 1 and config.problem_type != "multi_label_classification"
        tokens = Tokens(self.card.encoder.folder, min(self.card.max_tokens, positions(model)))
        network = Logits(model.float()).eval()
        network.spare_what_nobody_reads()
        return network.to(device()), tokens, one_of

    def save(self, folder: Path) -> None:
        """Write the card; the model stays where it is, named and hashed."""
        self.card.save(folder, {"outputs": self.outputs})

    @staticmethod
    def load(folder: Path, root: Path = Path()) -> ReadyTeacher:
        """Read what `save` wrote; the model is looked for again from `root`."""
        card, about = read_card(folder, root)
        return ReadyTeacher(card, tuple(about["outputs"]))


class Logits(nn.Module):
    """A transformers model that gives its logits alone."""

    def __init__(self, model: Any) -> None:  # noqa: ANN401 - any transformers model
        """Wrap it."""
        super().__init__()
        self.model = model

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Give [texts, outputs]."""
        logits: Tensor = self.model(input_ids=ids, attention_mask=mask).logits
        return logits

    @torch.no_grad()
    def spare_what_nobody_reads(self) -> None:
        """Let the last layer go on with the first token alone, if the answers stay the same.

        Most classifiers read no other token; two thirds of that layer's work are for nothing.
        """
        ids = torch.arange(16).reshape(2, 8)
        mask = torch.ones_like(ids)
        try:
            attention: Any = blocks(self.model)[-1].attention
            before = self(ids, mask)
        except (EncoderMissing, AttributeError, RuntimeError, IndexError, ValueError):
            return  # some other architecture, or one that doesn't read just any ids: it goes on as it is
        hook = attention.register_forward_hook(lambda _, __, found: _first_token(found))
        try:
            same = torch.allclose(self(ids, mask), before, rtol=1e-4, atol=1e-5)
        except (RuntimeError, IndexError, TypeError, ValueError):
            same = False
        if not same:
            hook.remove()


def teach_ready(lessons: Lessons) -> Taught:
    """Take the model in `teach.folder`; only thresholds are learnt. It is taken to have seen none of your rows."""
    files = find_encoder(lessons.config.teach.folder, lessons.root)
    names = _names(_load(files.folder).config)
    outputs = tuple(names.get(_plain(label), -1) for label in lessons.train.names)
    if max(outputs) < 0:
        raise BadSetting(
            f"None of the model's labels ({', '.join(sorted(names)[:8])}) is a category ("
            f"{', '.join(lessons.train.names[:8])}).",
            "Rename them under id2label in the model's config.json, or set data.categories.",
            Place(files.folder / "config.json"),
        )
    halves = np.full(len(outputs), 0.5)
    draft = ReadyTeacher(lessons.card("folder", halves, files), outputs)
    limits = lessons.thresholds(draft.score_cleaned(lessons.tuning.texts))
    teacher = ReadyTeacher(lessons.card("folder", limits, files), outputs)
    skipped = {
        label: "the model has no such label"
        for label, output in zip(lessons.train.names, outputs, strict=True)
        if output < 0
    }
    return Taught(teacher, teacher.score_cleaned(lessons.train.texts), skipped, 0, {})


def _load(folder: Path) -> Any:  # noqa: ANN401 - any transformers model
    from safetensors import SafetensorError
    from transformers import AutoModelForSequenceClassification
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        model, info = AutoModelForSequenceClassification.from_pretrained(
            folder, local_files_only=True, output_loading_info=True
        )
    except (OSError, ValueError, KeyError, RuntimeError, SafetensorError) as error:
        reason = str(error).splitlines()[0]
        raise EncoderMissing(f"The model in {folder} can't be loaded: {reason}", "Copy the whole folder.") from None
    if info["missing_keys"]:
        lacking = ", ".join(sorted(info["missing_keys"])[:3])
        raise EncoderMissing(
            f"The model in {folder} is no finished classifier: it has no {lacking}.",
            "Use it as encoder.name with another kind of teacher, or name a classifier.",
        )
    return model


def _first_token(found: Any) -> Any:  # noqa: ANN401 - states [texts, tokens, width], alone or before others
    return (found[0][:, :1], *found[1:]) if isinstance(found, tuple) else found[:, :1]


def _names(config: Any) -> dict[str, int]:  # noqa: ANN401 - any transformers configuration
    return {_plain(str(name)): int(number) for number, name in config.id2label.items()}


def _plain(label: str) -> str:
    return re.sub(r"\W+", "-", label).strip("-").casefold()
