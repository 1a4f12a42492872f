"""Simple models that every other model must beat. A new kind is one file and one line in `kinds.KINDS`."""

from limbeck.baselines.scorer import BaselineScorer
from limbeck.baselines.train import train_baseline

__all__ = ["BaselineScorer", "train_baseline"]
