"""Texts that wait for labels, what people said about them, and the store that keeps both."""

from limbeck.errors import ExtraMissing

try:
    import sqlalchemy  # noqa: F401
except ImportError:
    raise ExtraMissing("annotate", "The store of texts") from None
