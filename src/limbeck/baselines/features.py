"""Word counts and TF-IDF, kept as a word list and weights."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer

Sparse = Any  # scipy.sparse.csr_matrix, whose arithmetic has no useful types


@dataclass(frozen=True)
class WordFeatures:
    """A fitted bag of words; `idf` is None for plain counts."""

    words: tuple[str, ...]
    longest: int
    idf: NDArray[np.float64] | None

    @staticmethod
    def fit(texts: Sequence[str], longest: int = 1, tfidf: bool = False, least_texts: int = 1) -> WordFeatures:
        """Learn the words (and runs of up to `longest` words) that `least_texts` texts have, and how rare each is."""
        counter = CountVectorizer(ngram_range=(1, longest), min_df=least_texts, token_pattern=r"(?u)\b\w+\b")
        counts = counter.fit_transform(texts)
        idf = TfidfTransformer(sublinear_tf=True).fit(counts).idf_ if tfidf else None
        return WordFeatures(tuple(counter.get_feature_names_out().tolist()), longest, idf)

    def transform(self, texts: Sequence[str]) -> Sparse:
        """Give a sparse row a text."""
        counter = CountVectorizer(
            ngram_range=(1, self.longest), token_pattern=r"(?u)\b\w+\b", vocabulary=list(self.words)
        )
        counts = counter.transform(texts)
        if self.idf is None:
            return counts.astype(np.float64)
        weigh = TfidfTransformer(sublinear_tf=True)
        weigh.idf_ = self.idf
        return weigh.transform(counts)

    def save(self, folder: Path) -> None:
        """Write the words as JSON and the weights as npy."""
        (folder / "words.json").write_text(json.dumps({"words": self.words, "longest": self.longest}), encoding="utf-8")
        if self.idf is not None:
            np.save(folder / "idf.npy", self.idf)

    @staticmethod
    def load(folder: Path) -> WordFeatures:
        """Read what `save` wrote."""
        about = json.loads((folder / "words.json").read_text(encoding="utf-8"))
        idf = folder / "idf.npy"
        return WordFeatures(
            tuple(about["words"]), about["longest"], np.load(idf, allow_pickle=False) if idf.exists() else None
        )
