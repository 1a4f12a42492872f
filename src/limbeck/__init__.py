"""Limbeck distils slow, accurate text models into small ones that answer in about a millisecond on a CPU."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from limbeck.errors import LimbeckError

if TYPE_CHECKING:
    from limbeck.config import load_project
    from limbeck.estimator import LimbeckClassifier
    from limbeck.pipeline import Pipeline
    from limbeck.runtime.load import load
    from limbeck.runtime.predictor import Answer, Predictor
    from limbeck.runtime.tagger import Entity, EntityPredictor
    from limbeck.scorer import Scorer, Span, Tagger

__version__ = "0.1.0"

__all__ = [
    "Answer",
    "Entity",
    "EntityPredictor",
    "LimbeckClassifier",
    "LimbeckError",
    "Pipeline",
    "Predictor",
    "Scorer",
    "Span",
    "Tagger",
    "__version__",
    "load",
    "load_project",
]

_HOME = {
    "Answer": "limbeck.runtime.predictor",
    "Predictor": "limbeck.runtime.predictor",
    "load": "limbeck.runtime.load",
    "load_project": "limbeck.config",
    "LimbeckClassifier": "limbeck.estimator",
    "Pipeline": "limbeck.pipeline",
    "Entity": "limbeck.runtime.tagger",
    "EntityPredictor": "limbeck.runtime.tagger",
    "Scorer": "limbeck.scorer",
    "Span": "limbeck.scorer",
    "Tagger": "limbeck.scorer",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever has that name
    """Import a public name when it is first asked for: commands that need no model start without one."""
    if name not in _HOME:
        raise AttributeError(f"module 'limbeck' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module(_HOME[name]), name)
