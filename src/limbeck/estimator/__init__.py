"""The whole chain as a scikit-learn classifier of texts."""

from limbeck.estimator.classifier import LimbeckClassifier

__all__ = ["LimbeckClassifier"]
