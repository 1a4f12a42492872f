"""Making project folders: an empty one, one of your own files, or one with the demo corpus."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from limbeck.config import FILE_NAME, DataSettings, Task, render
from limbeck.data.demo import TITLES, DemoSummary, write_demo
from limbeck.data.divide import Division, divide
from limbeck.data.pool import stream_pool
from limbeck.errors import FileMissing, Place, ProjectExists
from limbeck.store import write_atomically
from limbeck.text import Cleaner

# Enough for a first look; the defaults take six times as long.
DEMO_TRIALS = 3
DEMO_STEPS = 400
DEMO_FILES = ("labels", "pool.jsonl", "dev.jsonl", "test.jsonl")


# One baseline instead of three, and students that learn for a fraction of the usual time.
QUICK: dict[str, dict[str, Any]] = {
    "baselines": {"kinds": ["tfidf-logreg"]},
    "distill": {"steps": DEMO_STEPS, "enough": 0},
}


def create_project(folder: Path, task: Task, quick: bool = False) -> Path:
    """Write a commented limbeck.toml into `folder`; an existing one is left alone and is an error."""
    _refuse(folder, FILE_NAME)
    file = folder / FILE_NAME
    write_atomically(file, render(task, QUICK if quick else None))
    return file


def create_divided(
    folder: Path,
    task: Task,
    labelled: Path,
    unlabelled: Sequence[Path] = (),
    *,
    text_column: str = "",
    labels_column: str = "",
    shares: tuple[float, float] = (0.25, 0.25),
    quick: bool = False,
) -> Division:
    """Make a project of one labelled file, divided into train, dev and test, and of files without labels.

    The unlabelled files stay where they are. Nothing is written before all of it was read and understood.
    """
    division = divide(labelled, task, text_column, labels_column, shares)
    for name in (FILE_NAME, *division.files):
        _refuse(folder, name)
    pool = [relative_to(path, folder) for path in unlabelled]
    data = DataSettings(**division.settings)
    for path in unlabelled:
        if task != "ner":
            next(stream_pool([path], data, Cleaner(()), keep_empty=True), None)
        elif not path.is_file():
            raise FileMissing(f"There is no file {path}.", "Give --unlabelled a file of texts.", Place(path))
    settings = (QUICK if quick else {}) | {"data": division.settings | {"pool": pool}}
    for name, content in division.files.items():
        write_atomically(folder / name, content)
    write_atomically(folder / FILE_NAME, render(task, settings))
    return division


def relative_to(path: Path, folder: Path) -> str:
    """Give the way from a folder to a file, as limbeck.toml has it."""
    return Path(os.path.relpath(path.resolve(), folder.resolve())).as_posix()


def create_demo(folder: Path, seed: int, pool_rows: int) -> DemoSummary:
    """Write the demo corpus and a limbeck.toml that reads it; existing files are left alone and are an error."""
    for name in (FILE_NAME, *DEMO_FILES):
        _refuse(folder, name)
    summary = write_demo(folder, seed=seed, pool_rows=pool_rows)
    settings: dict[str, dict[str, Any]] = {
        "data": {"titles": TITLES},
        "baselines": {"trials": DEMO_TRIALS},
        "distill": {"steps": DEMO_STEPS, "enough": 0},
        "compress": {"baselines": False},
    }
    write_atomically(folder / FILE_NAME, render("multilabel", settings))
    return summary


def _refuse(folder: Path, name: str) -> None:
    if folder.exists() and not folder.is_dir():
        raise ProjectExists(f"{folder} is a file.", "Name a folder.")
    if (folder / name).exists():
        raise ProjectExists(f"{folder / name} is already there.", "Name another folder, or move it away first.")
