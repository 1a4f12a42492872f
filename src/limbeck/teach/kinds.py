"""Which kinds of teacher there are; a new one is a function, a scorer and a line here."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from limbeck.scorer import Scorer
from limbeck.store import Store
from limbeck.teach.card import read_card
from limbeck.teach.features import FeatureCache
from limbeck.teach.lessons import Lessons, Taught
from limbeck.teach.networks import NetworkTeacher
from limbeck.teach.probe import ProbeTeacher
from limbeck.teach.teach_networks import teach_binary_ensemble, teach_partial
from limbeck.teach.teach_probe import teach_probe

KINDS: dict[str, Callable[[Lessons], Taught]] = {
    "probe": teach_probe,
    "partial": teach_partial,
    "binary-ensemble": teach_binary_ensemble,
}


def load_teacher(folder: Path, root: Path = Path(), store: Store | None = None) -> Scorer:
    """Read a stored teacher of any kind; with `store`, a probe uses the features that are kept there."""
    card, _ = read_card(folder, root)
    if card.kind != "probe":
        return NetworkTeacher.load(folder, root)
    teacher = ProbeTeacher.load(folder, root)
    return teacher.with_cache(FeatureCache(store, card.encoder, card.max_tokens)) if store else teacher
