"""An encoder of any architecture that transformers' AutoModel loads, and a classifier on top of it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from limbeck.errors import EncoderMissing
from limbeck.teach.pooling import Pooling, pool, pooling_of


def device() -> str:
    """Say where networks run: on a GPU if there is one."""
    return "cuda" if torch.cuda.is_available() else "cpu"


class Encoder(nn.Module):
    """A pre-trained encoder; `layers` are its blocks, found without knowing the architecture."""

    def __init__(self, folder: Path) -> None:
        """Load the weights in `folder`."""
        super().__init__()
        from safetensors import SafetensorError
        from transformers import AutoModel
        from transformers.utils.logging import disable_progress_bar

        disable_progress_bar()  # type: ignore[no-untyped-call]
        try:
            self.model: Any = AutoModel.from_pretrained(folder, local_files_only=True)
        except (OSError, ValueError, KeyError, RuntimeError, SafetensorError) as error:
            reason = str(error).splitlines()[0]
            raise EncoderMissing(
                f"The encoder in {folder} can't be loaded: {reason}", "Copy the whole folder."
            ) from None
        self.model.float()  # a file in half precision is too coarse to add small steps to
        self.pooling: Pooling = pooling_of(folder)
        self.width = int(self.model.config.hidden_size)
        self.layers = blocks(self.model)
        self.longest = positions(self.model)
        self._layers_give_tuples = self._probe_layers()

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Give a vector a token, [texts, tokens, width]."""
        states: Tensor = self.model(input_ids=ids, attention_mask=mask).last_hidden_state
        return states

    def all_layers(self, ids: Tensor, mask: Tensor) -> list[Tensor]:
        """Give the vectors after the embeddings and after every layer."""
        return list(self.model(input_ids=ids, attention_mask=mask, output_hidden_states=True).hidden_states)

    def with_attention(self, ids: Tensor, mask: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        """Give a vector a token, and each layer's attention maps [texts, heads, tokens, tokens]."""
        if self.model.config._attn_implementation != "eager":  # the faster ways keep no maps
            self.model.set_attn_implementation("eager")
        found = self.model(input_ids=ids, attention_mask=mask, output_attentions=True)
        return found.last_hidden_state, tuple(found.attentions)

    def up_to(self, layer: int, ids: Tensor, mask: Tensor) -> Tensor:
        """Give the vectors after the lowest `layer` layers, without the cost of those above."""
        kept: list[Tensor] = []

        def stop(_: nn.Module, arguments: tuple[Any, ...], named: dict[str, Any]) -> None:
            kept.append(arguments[0] if arguments else named["hidden_states"])
            raise _Stop

        handle = self.layers[layer].register_forward_pre_hook(stop, with_kwargs=True)
        try:
            self(ids, mask)
        except _Stop:
            pass
        finally:
            handle.remove()
        return kept[0]

    def lowest(self, wanted: int | str) -> int:
        """Say how many layers are frozen when so many, or 'half', are wanted; one at least is left to train."""
        return len(self.layers) // 2 if wanted == "half" else min(int(wanted), len(self.layers) - 1)

    def freeze(self, lowest: int, embeddings: bool = False) -> None:
        """Let the `lowest` layers and what lies below them, or the `embeddings` alone, stay as they are."""
        if lowest > 0:
            _train(self.model, False)
            for layer in self.layers[lowest:]:
                _train(layer, True)
        elif embeddings:
            for module in self.model.modules():
                if isinstance(module, nn.Embedding):
                    _train(module, False)

    @contextlib.contextmanager
    def starting_at(self, layer: int, states: Tensor) -> Iterator[None]:
        """Skip the layers below `layer`, whose outputs `states` are already known, for forward passes inside."""
        originals = list(self.layers[:layer])
        for number in range(layer):
            self.layers[number] = _PassOn(self._layers_give_tuples)
        handle = self.layers[layer].register_forward_pre_hook(_replace_first(states), with_kwargs=True)
        try:
            yield
        finally:
            handle.remove()
            for number, original in enumerate(originals):
                self.layers[number] = original

    @torch.no_grad()
    def _probe_layers(self) -> bool:
        """Run two tokens through to see whether a layer wraps its result in a tuple."""
        seen: list[bool] = []
        handle = self.layers[0].register_forward_hook(lambda _, __, output: seen.append(isinstance(output, tuple)))
        ids = torch.ones((1, 2), dtype=torch.long)
        self(ids, torch.ones_like(ids))
        handle.remove()
        return seen[0]


class Classifier(nn.Module):
    """An encoder, its pooling and one linear output a label; the `frozen` lowest layers don't train."""

    def __init__(
        self, encoder: Encoder, labels: int, dropout: float = 0.1, frozen: int = 0, freeze_embeddings: bool = False
    ) -> None:
        """Put fresh outputs on an encoder."""
        super().__init__()
        self.encoder = encoder
        self.frozen = frozen
        encoder.freeze(self.frozen, freeze_embeddings)
        self.dropout = nn.Dropout(dropout)
        self.head = nn.Linear(encoder.width, labels)

    def forward(self, ids: Tensor, mask: Tensor, states: Tensor | None = None) -> Tensor:
        """Give logits [texts, labels]; `states` are the frozen layers' outputs, if they are already known."""
        with self.encoder.starting_at(self.frozen, states) if states is not None else contextlib.nullcontext():
            vectors = pool(self.encoder(ids, mask), mask, self.encoder.pooling)
        logits: Tensor = self.head(self.dropout(vectors))
        return logits


def _train(module: nn.Module, wanted: bool) -> None:
    for parameter in module.parameters():
        parameter.requires_grad = wanted


def blocks(model: nn.Module) -> nn.ModuleList:
    """Find the list of layers: the longest ModuleList whose members are all of one class."""
    found = [m for m in model.modules() if isinstance(m, nn.ModuleList) and len({type(child) for child in m}) == 1]
    if not found:
        raise EncoderMissing("This encoder has no list of layers.", "Use a BERT-like encoder.")
    return max(found, key=len)


def positions(model: Any) -> int:  # noqa: ANN401 - any transformers model
    """Say how many tokens fit: the position table's length, less what it keeps for padding."""
    tables = [
        m for name, m in model.named_modules() if name.endswith("position_embeddings") and isinstance(m, nn.Embedding)
    ]
    if not tables:
        return int(getattr(model.config, "max_position_embeddings", 512))
    return tables[0].num_embeddings - (0 if tables[0].padding_idx is None else tables[0].padding_idx + 1)


class _Stop(Exception):
    """Ends a forward pass early."""


class _PassOn(nn.Module):
    """Stands in for a layer whose result nobody needs."""

    def __init__(self, as_tuple: bool) -> None:
        super().__init__()
        self.as_tuple = as_tuple

    def forward(self, hidden_states: Tensor, *_: object, **__: object) -> Tensor | tuple[Tensor]:
        return (hidden_states,) if self.as_tuple else hidden_states


def _replace_first(states: Tensor) -> Any:  # noqa: ANN401 - a hook
    def hook(_: nn.Module, arguments: tuple[Any, ...], named: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        if arguments:
            return (states, *arguments[1:]), named
        return arguments, {**named, "hidden_states": states}

    return hook
