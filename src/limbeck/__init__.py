"""Limbeck distils slow, accurate text models into small ones that answer in about a millisecond on a CPU."""

from limbeck.errors import LimbeckError
from limbeck.scorer import Scorer, Span, Tagger

__version__ = "0.1.0"

__all__ = ["LimbeckError", "Scorer", "Span", "Tagger", "__version__"]
