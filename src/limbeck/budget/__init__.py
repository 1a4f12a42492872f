"""Finding the best model inside a latency, a size or a least F1."""

from limbeck.budget.limits import Budget, parse_bytes, parse_seconds
from limbeck.budget.search import Candidate, Found, search

__all__ = ["Budget", "Candidate", "Found", "parse_bytes", "parse_seconds", "search"]
