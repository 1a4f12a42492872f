"""Where a student's token vectors start: the taught encoder, word vectors from files, the user's texts, or chance."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.extmath import randomized_svd

from limbeck.progress import progress
from limbeck.scorer import Floats
from limbeck.students.wordvectors import START, WordVectors
from limbeck.teach.network import Encoder, device
from limbeck.teach.pooling import pool
from limbeck.training.tokens import Ids, Tokens, batches_by_length, pad

READ_AT_ONCE = 128
# Words that stand within so many tokens of each other count as neighbours.
NEARBY = 4


def vectors_of_encoder(encoder: Encoder, tokens: Tokens, vocabulary: Sequence[str], same: bool) -> Floats:
    """Give what an encoder says of each token on its own [tokens, encoder width].

    With `same` the vocabulary is the encoder's own, and its ids are passed as they are; other tokens are read as text.
    """
    if same:
        ends = tokens.encode([""])[0]  # what stands before and after every text
        ids = [np.insert(ends, (len(ends) + 1) // 2, number) for number in range(len(vocabulary))]
    else:
        ids = tokens.encode([plain(token) or token for token in vocabulary])
    return vectors_of_reading(encoder, ids, tokens.pad_id, "reading the vocabulary")


@torch.inference_mode()
def vectors_of_reading(encoder: Encoder, ids: Sequence[Ids], pad_id: int, what: str) -> Floats:
    """Give an encoder's pooled vector of each text [texts, encoder width]."""
    encoder = encoder.eval().to(device())
    found = np.zeros((len(ids), encoder.width), dtype=np.float32)
    batches = batches_by_length(np.array([len(i) for i in ids], dtype=np.intp), READ_AT_ONCE)
    for rows in progress(batches, what, len(batches)):
        batch = pad(ids, rows, pad_id)
        states = encoder(batch.ids.to(device()), batch.mask.to(device()))
        found[rows] = pool(states, batch.mask.to(device()), encoder.pooling).cpu().numpy()
    return found


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


def narrowed(vectors: Floats, width: int) -> Floats:
    """Keep the `width` directions in which vectors differ most (PCA), scaled to numbers of about 1.

    Smaller ones would soon be lost among what training adds to them.
    """
    centred = vectors - vectors.mean(axis=0)
    if width < vectors.shape[1]:
        _, directions = np.linalg.eigh(centred.T.astype(np.float64) @ centred)
        centred = centred @ directions[:, ::-1][:, :width].astype(np.float32)
    return np.asarray(centred / max(float(centred.std()), 1e-9), dtype=np.float32)


def plain(token: str) -> str:
    """Take off what word pieces mark the beginning or the middle of a word with."""
    return token.removeprefix("##").lstrip("▁Ġ").removesuffix("</w>")


def _unless_none(vector: Floats | None, width: int) -> Floats:
    return np.full(width, np.nan, dtype=np.float32) if vector is None else vector


def _pairs(rows: list[NDArray[np.int32]], columns: list[NDArray[np.int32]], vocabulary: int) -> sparse.csr_matrix:
    first, second = np.concatenate(rows), np.concatenate(columns)
    return sparse.coo_matrix((np.ones(len(first)), (first, second)), shape=(vocabulary, vocabulary)).tocsr()
