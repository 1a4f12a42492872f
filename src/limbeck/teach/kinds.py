"""Which kinds of teacher there are; a new one is a function, a scorer and a line in each table here."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from limbeck.baselines.kinds import KINDS as BASELINES
from limbeck.store import Store
from limbeck.teach.blend import BlendTeacher, teach_blend
from limbeck.teach.borrowed import INNER, is_teacher, load_borrowed, teach_borrowed
from limbeck.teach.card import read_card
from limbeck.teach.features import FeatureCache
from limbeck.teach.fine_tuned import FineTunedTeacher
from limbeck.teach.lessons import Lessons, Taught, Teacher
from limbeck.teach.probe import ProbeTeacher
from limbeck.teach.ready import ReadyTeacher, teach_ready
from limbeck.teach.teach_fine_tuned import teach_binary_ensemble, teach_partial
from limbeck.teach.teach_probe import teach_probe
from limbeck.teach.words import WordsTeacher, teach_words


def _teach_blend(lessons: Lessons) -> Taught:
    return teach_blend(lessons, {kind: KINDS[kind](lessons) for kind in lessons.config.teach.kinds})


def _teach_folder(lessons: Lessons) -> Taught:
    folder = lessons.root / lessons.config.teach.folder
    if is_teacher(folder):
        return teach_borrowed(lessons, load_teacher(folder, lessons.root))
    return teach_ready(lessons)


KINDS: dict[str, Callable[[Lessons], Taught]] = {
    "probe": teach_probe,
    "partial": teach_partial,
    "binary-ensemble": teach_binary_ensemble,
    "folder": _teach_folder,
    "blend": _teach_blend,
    **{kind: partial(teach_words, kind) for kind in BASELINES},
}


def load_teacher(folder: Path, root: Path = Path(), store: Store | None = None) -> Teacher:
    """Read a stored teacher of any kind; with `store`, a probe uses the features that are kept there."""
    card, _ = read_card(folder, root)
    return LOADERS[card.kind](folder, root, store)


def _load_probe(folder: Path, root: Path, store: Store | None) -> Teacher:
    teacher = ProbeTeacher.load(folder, root)
    card = teacher.card
    return teacher.with_cache(FeatureCache(store, card.encoder, card.max_tokens)) if store else teacher


def _load_blend(folder: Path, root: Path, store: Store | None) -> Teacher:
    card, about = read_card(folder, root)
    parts = [load_teacher(folder / f"part-{number}", root, store) for number in range(len(about["weights"]))]
    return BlendTeacher(card, tuple(parts), tuple(about["weights"]))


def _load_folder(folder: Path, root: Path, store: Store | None) -> Teacher:
    if (folder / INNER).is_dir():
        return load_borrowed(folder, root, load_teacher(folder / INNER, root, store))
    return ReadyTeacher.load(folder, root)


LOADERS: dict[str, Callable[[Path, Path, Store | None], Teacher]] = {
    "probe": _load_probe,
    "partial": lambda folder, root, _: FineTunedTeacher.load(folder, root),
    "binary-ensemble": lambda folder, root, _: FineTunedTeacher.load(folder, root),
    "folder": _load_folder,
    "blend": _load_blend,
    **dict.fromkeys(BASELINES, lambda folder, root, _: WordsTeacher.load(folder, root)),
}
