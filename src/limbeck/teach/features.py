"""What a frozen encoder says of each text, computed once and kept on disk for all categories, folds and runs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from limbeck.progress import bar
from limbeck.store import Store, key_of
from limbeck.teach.encoders import EncoderFiles, reading_key
from limbeck.teach.network import Encoder, device
from limbeck.teach.pooling import pool
from limbeck.training.examples import unlabelled
from limbeck.training.outputs import ManyTexts, outputs
from limbeck.training.tokens import Tokens

Vectors = NDArray[np.float32]


class Featuriser:
    """An encoder that gives each text one pooled vector a layer."""

    def __init__(self, folder: Path, max_tokens: int) -> None:
        """Load the encoder in `folder`; texts are cut at `max_tokens`."""
        self.encoder = Encoder(folder).eval().to(device())
        self.tokens = Tokens(folder, min(max_tokens, self.encoder.longest))
        self._network = ManyTexts(EveryLayer(self.encoder))

    def __call__(self, texts: Sequence[str]) -> Vectors:
        """Give vectors [texts, layers + 1, width]: after the embeddings and after every layer."""
        examples = unlabelled(self.tokens.encode(texts))
        found = np.zeros((len(texts), len(self.encoder.layers) + 1, self.encoder.width), dtype=np.float32)
        with bar("reading texts with the encoder", len(texts)) as advance:
            for rows, vectors in outputs(self._network, examples, self.tokens.pad_id, device()):
                found[rows] = vectors
                advance(len(rows))
        return found


class EveryLayer(nn.Module):
    """An encoder that gives each layer's vector of a text."""

    def __init__(self, encoder: Encoder) -> None:
        """Read with this encoder."""
        super().__init__()
        self.encoder = encoder

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Give [texts, layers + 1, width]."""
        states = self.encoder.all_layers(ids, mask)
        return torch.stack([pool(layer, mask, self.encoder.pooling) for layer in states], dim=1)


class FeatureCache:
    """Vectors of texts that were seen before; only new texts cost time."""

    def __init__(self, store: Store, files: EncoderFiles, max_tokens: int) -> None:
        """Look into what `store` holds of this encoder."""
        self.store, self.files, self.max_tokens = store, files, max_tokens
        self.kind = f"features/{key_of([reading_key(files), max_tokens])}"
        self._featuriser: Featuriser | None = None
        self._places: dict[bytes, tuple[str, int]] = {}
        self._look()

    def forget(self) -> None:
        """Throw away what is kept, so that it is computed again."""
        for folder in (self.store.root / self.kind).glob("*"):
            self.store.remove(folder)
        self._places.clear()

    def _look(self) -> None:
        for folder in sorted((self.store.root / self.kind).glob("*")):
            if self.store.intact(self.kind, folder.name):
                self._note(folder)

    def __call__(self, texts: Sequence[str]) -> Vectors:
        """Give vectors [texts, layers + 1, width] from the cache, after adding what it lacks."""
        keys = [_key(text) for text in texts]
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._places}
        if new:
            self._add(new)
        found: Vectors | None = None
        for shard in {self._places[key][0] for key in keys}:
            vectors = np.load(self.store.folder(self.kind, shard) / "vectors.npy", mmap_mode="r", allow_pickle=False)
            if found is None:
                found = np.zeros((len(keys), *vectors.shape[1:]), dtype=np.float32)
            mine = [i for i, key in enumerate(keys) if self._places[key][0] == shard]
            found[mine] = vectors[[self._places[keys[i]][1] for i in mine]]
        return found if found is not None else np.zeros((0, 1, 1), dtype=np.float32)

    def _add(self, new: dict[bytes, str]) -> None:
        if self._featuriser is None:
            self._featuriser = Featuriser(self.files.folder, self.max_tokens)
        vectors = self._featuriser(list(new.values())).astype(np.float16)
        shard = key_of([key.hex() for key in new])
        with self.store.write(self.kind, shard, {"encoder": self.files.name, "texts": len(new)}) as folder:
            np.save(folder / "vectors.npy", vectors)
            (folder / "keys.json").write_text(json.dumps([key.hex() for key in new]), encoding="utf-8")
        self._note(self.store.folder(self.kind, shard))

    def _note(self, folder: Path) -> None:
        for row, key in enumerate(json.loads((folder / "keys.json").read_text(encoding="utf-8"))):
            self._places[bytes.fromhex(key)] = folder.name, row


def _key(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
