"""Where a student's token vectors start: the taught encoder, word vectors from files, the user's texts, or chance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.extmath import randomized_svd
from torch import Tensor, nn

from limbeck.progress import bar
from limbeck.scorer import Floats
from limbeck.students.wordvectors import START, WordVectors
from limbeck.teach.network import Encoder, device
from limbeck.teach.pooling import pool
from limbeck.training.examples import unlabelled
from limbeck.training.outputs import ManyTexts, outputs
from limbeck.training.tokens import Ids, Tokens

# Words that stand within so many tokens of each other count as neighbours.
NEARBY = 4
# A token that no text has counts like so many places when directions are chosen.
SELDOM = 0.01


def vectors_of_encoder(
    encoder: Encoder, tokens: Tokens, vocabulary: Sequence[str], texts: Sequence[str]
) -> tuple[Floats, Floats]:
    """Give what an encoder makes of each of its own tokens, the mean over its places in `texts` and one text alone.

    So the mean of a text's vectors is as near to the encoder's own as it can be without reading. Gives [tokens, encoder
    width], and how often each token stands in `texts`.
    """
    ends = tokens.encode([""])[0]  # what stands before and after every text
    alone = [np.insert(ends, (len(ends) + 1) // 2, number) for number in range(len(vocabulary))]
    once, times = _states_of_tokens(encoder, alone, tokens.pad_id, len(vocabulary), "reading the vocabulary")
    often, places = _states_of_tokens(encoder, tokens.encode(texts), tokens.pad_id, len(vocabulary), "reading texts")
    return (once / times[:, None] + often) / (places[:, None] + 1), places


def vectors_of_words(encoder: Encoder, tokens: Tokens, vocabulary: Sequence[str]) -> Floats:
    """Give what an encoder says of each token of another vocabulary, read as a text [tokens, encoder width]."""
    ids = tokens.encode([plain(token) or token for token in vocabulary])
    return vectors_of_reading(encoder, ids, tokens.pad_id, "reading the vocabulary")


def _states_of_tokens(encoder: Encoder, ids: list[Ids], pad_id: int, size: int, what: str) -> tuple[Floats, Floats]:
    """Add up an encoder's states at the places of each token [size, width], and count the places."""
    total, places = torch.zeros(size, encoder.width), torch.zeros(size)
    for row, states in _read(encoder, ids, pad_id, what):
        tokens = torch.from_numpy(ids[row].astype(np.int64))
        total.index_add_(0, tokens, torch.from_numpy(states[: len(tokens)]))
        places.index_add_(0, tokens, torch.ones(len(tokens)))
    return total.numpy(), places.numpy()


def vectors_of_reading(encoder: Encoder, ids: list[Ids], pad_id: int, what: str) -> Floats:
    """Give an encoder's pooled vector of each text [texts, encoder width]."""
    found = np.zeros((len(ids), encoder.width), dtype=np.float32)
    for row, vector in _read(_Pooled(encoder), ids, pad_id, what):
        found[row] = vector
    return found


class _Pooled(nn.Module):
    def __init__(self, encoder: Encoder) -> None:
        super().__init__()
        self.encoder = encoder

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        return pool(self.encoder(ids, mask), mask, self.encoder.pooling)


def _read(network: nn.Module, ids: list[Ids], pad_id: int, what: str) -> Iterator[tuple[int, Floats]]:
    """Give every text's row and what the network says of it."""
    with bar(what, len(ids)) as advance:
        for rows, said in outputs(ManyTexts(network.to(device())), unlabelled(ids), pad_id, device()):
            yield from zip(rows.tolist(), said, strict=True)
            advance(len(rows))


def vectors_of_files(files: Sequence[WordVectors], vocabulary: Sequence[str], seed: int) -> Floats:
    """Look each token up in every file, and put what is found side by side; what isn't found starts small at random."""
    rng = np.random.default_rng(seed)
    parts = []
    marked = any(token.startswith(START) for token in vocabulary)
    inside = [token.startswith("##") or (marked and not token.startswith(START)) for token in vocabulary]
    for words in files:
        looked_up = [words.find(plain(token), within) for token, within in zip(vocabulary, inside, strict=True)]
        found = np.stack([_unless_none(vector, words.width) for vector in looked_up])
        known = ~np.isnan(found[:, 0])
        scale = float(found[known].std()) if known.any() else 1.0
        noise = rng.normal(0.0, 0.1, found.shape)
        parts.append(np.where(known[:, None], found / max(scale, 1e-9), noise).astype(np.float32))
    return np.concatenate(parts, axis=1)


def vectors_of_texts(texts: Iterable[Ids], vocabulary: int, width: int, seed: int) -> Floats:
    """Factorise which tokens stand together more often than chance (positive PMI; Levy and Goldberg, 2014)."""
    counts = sparse.coo_matrix((vocabulary, vocabulary), dtype=np.float64).tocsr()
    rows: list[NDArray[np.int32]] = []
    columns: list[NDArray[np.int32]] = []
    for ids in texts:
        for step in range(1, NEARBY + 1):
            rows.append(ids[:-step])
            columns.append(ids[step:])
        if len(rows) > 100_000:
            counts, rows, columns = counts + _pairs(rows, columns, vocabulary), [], []
    if rows:
        counts = counts + _pairs(rows, columns, vocabulary)
    counts = counts + counts.T
    total = counts.sum()
    if total == 0:
        return vectors_by_chance(vocabulary, width, seed)
    often = np.asarray(counts.sum(axis=1)).ravel()
    # Rare neighbours look too telling; the power plays them down.
    context = often**0.75 / (often**0.75).sum()
    cells = counts.tocoo()
    told = np.log(cells.data / often[cells.row] / context[cells.col])
    positive = sparse.csr_matrix((np.maximum(told, 0.0), (cells.row, cells.col)), shape=counts.shape)
    left, strength, _ = randomized_svd(positive, n_components=min(width, vocabulary - 1), random_state=seed)
    found = np.zeros((vocabulary, width), dtype=np.float32)
    found[:, : left.shape[1]] = left * np.sqrt(strength)
    return found


def vectors_by_chance(vocabulary: int, width: int, seed: int) -> Floats:
    """Draw vectors of numbers of about 1."""
    return np.random.default_rng(seed).normal(0.0, 1.0, (vocabulary, width)).astype(np.float32)


def narrowed(vectors: Floats, width: int, often: Floats | None = None) -> Floats:
    """Keep the `width` directions in which vectors differ most (PCA), scaled to numbers of about 1.

    Smaller ones would soon be lost among what training adds to them. Tokens weigh by the root of how `often` they
    stand in texts, so that directions aren't spent on those that never do.
    """
    weights = np.ones(len(vectors)) if often is None else np.sqrt(often.astype(np.float64) + SELDOM)
    shares = (weights / weights.sum())[:, None]
    centred = vectors - (shares * vectors).sum(axis=0)
    if width < vectors.shape[1]:
        _, directions = np.linalg.eigh((shares * centred).T @ centred)
        centred = centred @ directions[:, ::-1][:, :width]
    spread = np.sqrt((shares * centred**2).sum() / centred.shape[1])
    return np.asarray(centred / max(float(spread), 1e-9), dtype=np.float32)


def plain(token: str) -> str:
    """Take off what word pieces mark the beginning or the middle of a word with."""
    return token.removeprefix("##").lstrip("▁Ġ").removesuffix("</w>")


def _unless_none(vector: Floats | None, width: int) -> Floats:
    return np.full(width, np.nan, dtype=np.float32) if vector is None else vector


def _pairs(rows: list[NDArray[np.int32]], columns: list[NDArray[np.int32]], vocabulary: int) -> sparse.csr_matrix:
    first, second = np.concatenate(rows), np.concatenate(columns)
    return sparse.coo_matrix((np.ones(len(first)), (first, second)), shape=(vocabulary, vocabulary)).tocsr()
