"""The texts that annotators may be asked about: some of the pool, and what a server set aside."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from limbeck.annotate.desk import Desk
from limbeck.annotate.judged import holding
from limbeck.annotate.texts import DRIFTED, NOT_HELPED, SAMPLED, UNCERTAIN
from limbeck.config import Project
from limbeck.data.pool import drawn, stream_pool
from limbeck.steps.pool import pool_files
from limbeck.store import key_of, write_atomically
from limbeck.text import Cleaner, normalise

OF_SERVER = frozenset((UNCERTAIN, NOT_HELPED, SAMPLED, DRIFTED))
# What a server set aside is looked at from the newest on.
MOST_OF_SERVER = 2_000
# As many as memory and patience allow, where all are wanted.
ALL = 2**31


def of_pool(project: Project, folder: Path) -> list[str]:
    """Give texts of the pool, drawn once and kept in `folder` until the pool or the settings change."""
    config = project.config
    files = pool_files(project)
    if not files:
        return []
    stamps = [[str(file), file.stat().st_size, file.stat().st_mtime_ns] for file in files]
    key = key_of([stamps, config.annotate.candidates, config.seed, config.text.clean, config.task])
    kept = folder / f"candidates-{key}.json"
    if not kept.is_file():
        count = config.annotate.candidates or ALL
        write_atomically(kept, json.dumps(drawn(dict.fromkeys(_stream(project, files)), count, config.seed)))
        for old in folder.glob("candidates-*.json"):
            if old != kept:
                old.unlink()
    found: list[str] = json.loads(kept.read_text(encoding="utf-8"))
    return found


def _stream(project: Project, files: list[Path]) -> Iterable[str]:
    config = project.config
    if config.task == "ner":
        from limbeck.tagging.pool import pool_texts

        return (text for text in pool_texts(files, config.data) if text.strip())
    return (row.text for row in stream_pool(files, config.data, Cleaner(tuple(config.text.clean))))


def of_server(desk: Desk) -> list[str]:
    """Give texts that a server set aside and no person has labelled, the newest first."""
    waiting = desk.store.waiting(MOST_OF_SERVER, "newest")
    return list(dict.fromkeys(kept.text for kept in waiting if OF_SERVER.intersection(kept.reasons)))


def answered(desk: Desk) -> set[str]:
    """Give texts that somebody has answered the question about, normalised."""
    return {normalise(one.text) for one in holding(desk.store, desk.question.category) if one.verdict == "label"}


def without(texts: Iterable[str], known: set[str]) -> list[str]:
    """Leave out texts that are known already, by their normal form."""
    return [text for text in texts if normalise(text) not in known]
