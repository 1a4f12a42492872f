"""Folds and halves: stratified over all categories at once, seeded, and never with the same text on two sides."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from limbeck.errors import ExtraMissing, TooFewRows
from limbeck.text import normalise

TUNING, JUDGING = 0, 1


def assign_folds(
    texts: Sequence[str], labels: NDArray[np.float32], folds: int, seed: int, sources: Sequence[str] = ()
) -> NDArray[np.int8]:
    """Give each row its fold, 0 to `folds` - 1, by iterative stratification (Sechidis et al., 2011).

    A category's known positives and its known negatives are spread evenly, each apart, so that NaN counts as neither.
    Texts that are the same after normalising get the same fold. Sources are spread evenly too.
    """
    try:
        from iterstrat.ml_stratifiers import MultilabelStratifiedKFold
    except ImportError:
        raise ExtraMissing("train", "Splitting") from None
    group, groups = _groups(texts)
    if groups < folds:
        raise TooFewRows(f"{groups} distinct texts can't fill {folds} folds.", "Add rows, or lower split.folds.")
    traits = np.concatenate([labels == 1, labels == 0, _source_columns(sources, len(texts))], axis=1)
    of_group = np.zeros((groups, traits.shape[1]), dtype=bool)
    np.logical_or.at(of_group, group, traits)
    # The library looks only at positives; a trait that no row or every row has tells it nothing, and a
    # constant column is added where too few remain for it to recognise a label matrix.
    useful = of_group[:, of_group.any(axis=0) & ~of_group.all(axis=0)]
    padding = np.zeros((groups, 2), dtype=bool)
    padding[::2, 0] = padding[1::2, 1] = True
    splitter = MultilabelStratifiedKFold(n_splits=folds, shuffle=True, random_state=seed)
    fold_of_group = np.zeros(groups, dtype=np.int8)
    for fold, (_, held_out) in enumerate(
        splitter.split(np.zeros(groups), np.concatenate([useful, padding], axis=1).astype(int))
    ):
        fold_of_group[held_out] = fold
    return fold_of_group[group]


def assign_halves(
    texts: Sequence[str], labels: NDArray[np.float32], seed: int, sources: Sequence[str] = ()
) -> NDArray[np.int8]:
    """Split dev once: `TUNING` rows for early stopping, thresholds, calibration; `JUDGING` rows for gates, choices."""
    return assign_folds(texts, labels, 2, seed, sources)


def without_texts_of(texts: Iterable[str], others: Iterable[str]) -> NDArray[np.bool_]:
    """Mark the texts that are not, after normalising, among `others`."""
    taken = {normalise(text) for text in others}
    return np.fromiter((normalise(text) not in taken for text in texts), dtype=bool)


def _groups(texts: Sequence[str]) -> tuple[NDArray[np.intp], int]:
    """Give the texts numbers so that those which are the same after normalising share a number."""
    numbers: dict[str, int] = {}
    group = np.fromiter(
        (numbers.setdefault(normalise(text), len(numbers)) for text in texts), dtype=np.intp, count=len(texts)
    )
    return group, len(numbers)


def _source_columns(sources: Sequence[str], rows: int) -> NDArray[np.bool_]:
    names = sorted(set(sources))
    if not 2 <= len(names) <= 50:  # one source says nothing, hundreds are an id
        return np.zeros((rows, 0), dtype=bool)
    return np.array([[source == name for name in names] for source in sources], dtype=bool)
