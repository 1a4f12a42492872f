"""Made-up texts for pools that are small: pieces of two texts put together, scored by the teacher like any other.

A small student that has seen a few thousand texts knows them by heart. Pieces that never stood together show it what
the teacher makes of each of them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

# Texts are cut somewhere between these shares of their words.
EARLIEST, LATEST = 0.3, 0.7


def crossed(texts: Sequence[str], wanted: int, seed: int) -> list[str]:
    """Make up `wanted` different texts, none of which is one of `texts`; fewer if these don't give so many."""
    rng = np.random.default_rng(seed)
    words = [text.split() for text in texts]
    known, made = set(texts), dict[str, None]()
    # Very short texts give the same pieces again and again.
    for _ in range(3 * wanted):
        if len(made) >= wanted or not words:
            break
        pieces = [_piece(words[row], rng) for row in rng.integers(len(words), size=2)]
        text = " ".join(word for piece in pieces for word in piece)
        if text and text not in known:
            made[text] = None
    return list(made)


def _piece(words: Sequence[str], rng: np.random.Generator) -> Sequence[str]:
    """Give the beginning or the end of a text."""
    cut = round(len(words) * rng.uniform(EARLIEST, LATEST))
    return words[:cut] if rng.random() < 0.5 else words[cut:]
