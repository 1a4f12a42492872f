"""Making project folders: an empty one, or one with the demo corpus."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from limbeck.config import FILE_NAME, Task, render
from limbeck.data.demo import TITLES, DemoSummary, write_demo
from limbeck.errors import ProjectExists
from limbeck.store import write_atomically

# Enough for a first look; the defaults take six times as long.
DEMO_TRIALS = 3
DEMO_STEPS = 400
DEMO_FILES = ("labels", "pool.jsonl", "dev.jsonl", "test.jsonl")


def create_project(folder: Path, task: Task) -> Path:
    """Write a commented limbeck.toml into `folder`; an existing one is left alone and is an error."""
    _refuse(folder, FILE_NAME)
    file = folder / FILE_NAME
    write_atomically(file, render(task))
    return file


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
