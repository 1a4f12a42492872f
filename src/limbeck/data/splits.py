"""Folds and halves: stratified over all categories at once, seeded, and never with the same text on two sides.

A text that was settled once keeps its fold and its half when rows and categories are added, so that figures stay
comparable, nothing that tuned ever judges, and a model can go on learning without having seen its own validation rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from limbeck.errors import ExtraMissing, TooFewRows
from limbeck.text import normalise

TUNING, JUDGING = 0, 1
# Traits from which on each row goes where its rarest one is scarcest, without a second look.
MANY = 500

Side = NDArray[np.int8]
Settled = Mapping[str, int]


def assign_folds(
    texts: Sequence[str],
    labels: NDArray[np.float32],
    folds: int,
    seed: int,
    sources: Sequence[str] = (),
    settled: Settled | None = None,
) -> Side:
    """Give each row its fold, 0 to `folds` - 1, by iterative stratification (Sechidis et al., 2011).

    A category's known positives and its known negatives are spread evenly, each apart, so that NaN counts as neither.
    Texts that are the same after normalising get the same fold. Sources are spread evenly too. `settled` holds the
    folds of normalised texts that must stay; the others are spread so that the whole becomes even.
    """
    group, keys = _groups(texts)
    if len(keys) < folds:
        raise TooFewRows(f"{len(keys)} distinct texts can't fill {folds} folds.", "Add rows, or lower split.folds.")
    traits = np.concatenate([labels == 1, labels == 0, _source_columns(sources, len(texts))], axis=1)
    of_group = np.zeros((len(keys), traits.shape[1]), dtype=bool)
    np.logical_or.at(of_group, group, traits)
    known = settled or {}
    fold_of_group = np.array([known.get(key, -1) for key in keys], dtype=np.int8)
    # The library's time grows with the square of the traits: a thousand categories would take it minutes.
    if (fold_of_group >= 0).any() or of_group.shape[1] > MANY:
        _join(fold_of_group, of_group, folds, seed)
    else:
        fold_of_group = _spread(of_group, folds, seed)
    return fold_of_group[group]


def assign_halves(
    texts: Sequence[str],
    labels: NDArray[np.float32],
    seed: int,
    sources: Sequence[str] = (),
    settled: Settled | None = None,
) -> Side:
    """Split dev once: `TUNING` rows for early stopping, thresholds, calibration; `JUDGING` rows for gates, choices."""
    return assign_folds(texts, labels, 2, seed, sources, settled)


def settle(texts: Iterable[str], sides: Side) -> dict[str, int]:
    """Give what `assign_folds` takes as `settled`."""
    return {normalise(text): int(side) for text, side in zip(texts, sides, strict=True)}


def without_texts_of(texts: Iterable[str], others: Iterable[str]) -> NDArray[np.bool_]:
    """Mark the texts that are not, after normalising, among `others`."""
    taken = {normalise(text) for text in others}
    return np.fromiter((normalise(text) not in taken for text in texts), dtype=bool)


def _spread(traits: NDArray[np.bool_], folds: int, seed: int) -> Side:
    """Give every group of texts [groups, traits] a fold."""
    try:
        from iterstrat.ml_stratifiers import MultilabelStratifiedKFold
    except ImportError:
        raise ExtraMissing("train", "Splitting") from None
    # The library looks only at positives; a trait that no row or every row has tells it nothing, and a
    # constant column is added where too few remain for it to recognise a label matrix.
    useful = traits[:, traits.any(axis=0) & ~traits.all(axis=0)]
    padding = np.zeros((len(traits), 2), dtype=bool)
    padding[::2, 0] = padding[1::2, 1] = True
    splitter = MultilabelStratifiedKFold(n_splits=folds, shuffle=True, random_state=seed)
    found = np.zeros(len(traits), dtype=np.int8)
    matrix = np.concatenate([useful, padding], axis=1).astype(int)
    for fold, (_, held_out) in enumerate(splitter.split(np.zeros(len(traits)), matrix)):
        found[held_out] = fold
    return found


def _join(sides: Side, traits: NDArray[np.bool_], folds: int, seed: int) -> None:
    """Fill the sides that are -1: a group goes where its rarest trait is scarcest so far."""
    counts = np.zeros((folds, traits.shape[1]), dtype=np.intp)
    np.add.at(counts, sides[sides >= 0], traits[sides >= 0])
    sizes = np.bincount(sides[sides >= 0], minlength=folds)
    rarity = traits.sum(axis=0)
    new = np.random.default_rng(seed).permutation(np.flatnonzero(sides < 0))
    rarest = [rarity[traits[row]].min(initial=len(traits)) for row in new]
    for row in new[np.argsort(rarest, kind="stable")]:
        mine = np.flatnonzero(traits[row])
        # The last key of lexsort decides first.
        by = [sizes, *(counts[:, trait] for trait in sorted(mine, key=lambda trait: -rarity[trait]))]
        side = int(np.lexsort(by)[0])
        sides[row] = side
        counts[side] += traits[row]
        sizes[side] += 1


def _groups(texts: Sequence[str]) -> tuple[NDArray[np.intp], list[str]]:
    """Give texts that are the same after normalising one number; and what they share, in the order of the numbers."""
    numbers: dict[str, int] = {}
    group = np.fromiter(
        (numbers.setdefault(normalise(text), len(numbers)) for text in texts), dtype=np.intp, count=len(texts)
    )
    return group, list(numbers)


def _source_columns(sources: Sequence[str], rows: int) -> NDArray[np.bool_]:
    names = sorted(set(sources))
    if not 2 <= len(names) <= 50:  # one source says nothing, hundreds are an id
        return np.zeros((rows, 0), dtype=bool)
    return np.array([[source == name for name in names] for source in sources], dtype=bool)
