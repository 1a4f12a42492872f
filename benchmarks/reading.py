"""What reading costs: 200,000 labelled rows merged, and 1,000,000 pool rows streamed, each in a process of its own."""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
import resource
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from results import WORK, publish

from limbeck.config import DataSettings
from limbeck.data.merge import read_dataset
from limbeck.data.pool import stream_pool
from limbeck.text import DEFAULT_STEPS, Cleaner

CATEGORIES = 11


def write_labelled(folder: Path, rows: int) -> None:
    """Write rows spread over eleven category files; a third of the texts stand in several."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = random.Random(0)
    for category in range(CATEGORIES):
        with (folder / f"category-{category}.csv").open("w", encoding="utf-8") as file:
            file.write("text,label\n")
            for row in range(-(-rows // CATEGORIES)):
                number = row if row % 3 == 0 else row + category * rows
                file.write(f'"{sentence(number)}",{rng.randint(0, 1) if row % 3 else row % 2}\n')


def write_pool(file: Path, rows: int) -> None:
    """Write unlabelled rows, every tenth with markup or an umlaut in it."""
    with file.open("w", encoding="utf-8") as out:
        for row in range(rows):
            text = sentence(row)
            out.write(json.dumps({"text": f"<b>{text}</b> &amp; für später" if row % 10 == 0 else text}) + "\n")


def sentence(number: int) -> str:
    """Make a text of about 150 characters that no other number gives."""
    return (
        f"The {number % 97} o'clock train to the coast was {number % 61} minutes late, coach {number % 13} had no "
        f"seat left and nobody told us why. Booking {number}, thank you."
    )


def measured(work: Callable[[Path], int], path: Path, answers: Any) -> None:
    """Run `work` and tell rows, seconds, and by how many MiB the peak of resident memory rose."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.monotonic()
    rows = work(path)
    seconds = time.monotonic() - started
    answers.put((rows, seconds, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024, before / 1024))


def merge(folder: Path) -> int:
    """Read and merge the category files."""
    return read_dataset([folder], "multilabel", DataSettings(), Cleaner(DEFAULT_STEPS)).rows_read


def stream(file: Path) -> int:
    """Read the pool to its end."""
    return sum(1 for _ in stream_pool([file], DataSettings(), Cleaner(DEFAULT_STEPS)))


def main() -> None:
    """Parse, run, publish."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--labelled", type=int, default=200_000)
    parser.add_argument("--pool", type=int, default=1_000_000)
    parser.add_argument("--no-publish", action="store_true", help="leave docs/RESULTS.md alone")
    arguments = parser.parse_args()
    WORK.mkdir(parents=True, exist_ok=True)
    write_labelled(WORK / "labelled", arguments.labelled)
    write_pool(WORK / "pool.jsonl", arguments.pool)
    rows: list[dict[str, object]] = []
    context = multiprocessing.get_context("spawn")
    for what, work, path in (
        ("read, clean and merge labelled rows", merge, WORK / "labelled"),
        ("stream and clean pool rows", stream, WORK / "pool.jsonl"),
    ):
        answers = context.Queue()
        process = context.Process(target=measured, args=(work, path, answers))
        process.start()
        count, seconds, growth, before = answers.get()
        process.join()
        rows.append(
            {
                "what": what,
                "rows": count,
                "seconds": f"{seconds:.1f}",
                "rows a second": int(count / seconds),
                "memory before, MiB": int(before),
                "growth of the peak, MiB": int(growth),
            }
        )
    note = "Synthetic rows of about 150 characters, cleaned with the default steps; each measured in its own process."
    if arguments.no_publish:
        publish("reading", rows, note, publish_to=None)
    else:
        publish("reading", rows, note)


if __name__ == "__main__":
    main()
