"""Searches over settings."""

from limbeck.tune.search import Found, search

__all__ = ["Found", "search"]
