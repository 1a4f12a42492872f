"""What texts are like when a bundle is made, to compare later ones with."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from limbeck.runtime.bundle import Bundle
from limbeck.runtime.confidence import confidence
from limbeck.runtime.manifest import Reference
from limbeck.runtime.predictor import Predictor

BINS = 10


def reference_of(bundle: Bundle, texts: Sequence[str]) -> Reference:
    """Describe texts as the bundle sees them."""
    predictor = Predictor(bundle, warn=False)
    proba = predictor.predict_proba(texts)
    one_class = bundle.manifest.task == "multiclass"
    sure = proba.max(axis=1) if one_class else confidence(proba, predictor.thresholds).min(axis=1)
    counts, _ = np.histogram(np.clip(sure, 0.5, 1), bins=BINS, range=(0.5, 1))
    given = proba == proba.max(axis=1, keepdims=True) if one_class else proba >= predictor.thresholds
    read = [predictor.read(text) for text in texts]
    ids = np.concatenate([np.array(window) for one in read for window in one.windows])
    unknown = bundle.manifest.reading.unknown_id
    return Reference(
        texts=len(texts),
        label_rates=dict(zip(predictor.labels, given.mean(axis=0).tolist(), strict=True)),
        confidence=(counts / max(1, counts.sum())).tolist(),
        lengths=np.percentile([sum(map(len, one.windows)) for one in read], np.arange(0, 101, 10)).tolist(),
        unknown_rate=0.0 if unknown is None else float((ids == unknown).mean()),
        embedding=_mean_embedding(predictor, texts),
    )


def _mean_embedding(predictor: Predictor, texts: Sequence[str]) -> list[float]:
    """Give the mean of the texts' vectors; a model that counts words has none."""
    if not predictor.manifest.model.embedding:
        return []
    mean: list[float] = np.round(predictor.embed(texts).mean(axis=0), 5).tolist()
    return mean
