"""Keeping what libraries log out of the user's terminal."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator


@contextlib.contextmanager
def silent() -> Iterator[None]:
    """Let nothing below an error be logged; the advice is followed already, and results are compared afterwards."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(before)
