"""Opening a bundle of any kind."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from limbeck.runtime.bundle import Bundle, read_bundle
from limbeck.runtime.predictor import Predictor

if TYPE_CHECKING:
    from limbeck.runtime.tagger import EntityPredictor


def load(folder: str | Path, threads: int = 1) -> Predictor | EntityPredictor:
    """Check and load a bundle: what gives texts categories, or what finds entities in them."""
    return opened(read_bundle(Path(folder)), threads)


def opened(bundle: Bundle, threads: int = 1) -> Predictor | EntityPredictor:
    """Give a checked bundle of any kind at work."""
    return tagger(bundle, threads) if bundle.manifest.task == "ner" else classifier(bundle, threads)


def tagger(bundle: Bundle, threads: int = 1) -> EntityPredictor:
    """Give a bundle of entities at work: one model, or a small one with a larger one behind it."""
    if bundle.manifest.cascade is None:
        from limbeck.runtime.tagger import EntityPredictor  # only who looks for entities waits for it

        return EntityPredictor(bundle, threads)
    from limbeck.runtime.tagger_cascade import EntityCascade

    return EntityCascade(bundle, threads)


def classifier(bundle: Bundle, threads: int = 1, warn: bool = True) -> Predictor:
    """Give a bundle of categories at work: one model, or a small one with a larger one behind it."""
    if bundle.manifest.cascade is None:
        return Predictor(bundle, threads, warn)
    from limbeck.runtime.cascade import Cascade

    return Cascade(bundle, threads, warn)


def load_classifier(folder: str | Path, threads: int = 1) -> Predictor:
    """Check and load a bundle that gives texts categories."""
    return classifier(read_bundle(Path(folder)), threads)
