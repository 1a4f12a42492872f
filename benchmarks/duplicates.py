"""What near copies cost to find: pools of made-up short texts, read with and without data.near_duplicates."""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
import resource
import shutil
import time
from pathlib import Path
from typing import Any

import numpy as np
from results import WORK, publish

from limbeck.config import DataSettings
from limbeck.data.dataset import Dataset
from limbeck.data.prepare import Prepared
from limbeck.pseudo.gather import gather
from limbeck.text import DEFAULT_STEPS, Cleaner

LIMIT = 0.8
# Every fifth text is an earlier one with a word taken out.
COPIES = 5


def write_pool(file: Path, rows: int) -> int:
    """Write texts of 10 to 30 words, the frequent ones often; give the number of near copies among them."""
    chance = random.Random(0)
    words = ["".join(chance.choices("aeioubdgklmnprst", k=chance.randint(2, 10))) for _ in range(20_000)]
    copies = 0
    with file.open("w", encoding="utf-8") as out:
        for row in range(rows):
            copy = row % COPIES == COPIES - 1
            text = sentence(words, chance.randrange(row // COPIES) * COPIES if copy and row > COPIES else row)
            if copy and row > COPIES:
                text.pop(chance.randrange(len(text)))
                copies += 1
            out.write(json.dumps({"text": " ".join(text)}) + "\n")
    return copies


def sentence(words: list[str], number: int) -> list[str]:
    """Make the words of a text that no other number gives."""
    chance = random.Random(number)
    return [words[int(len(words) ** chance.random()) - 1] for _ in range(chance.randint(10, 30))]


def measured(file: Path, limit: float, answers: Any) -> None:
    """Gather the pool as the step `pool` does; tell what was thinned, seconds, and MiB by which the peak rose."""
    folder = file.parent / f"pool-{limit}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    nothing = Dataset(["a text"], np.zeros((1, 1), dtype=np.float32), ("late",))
    prepared = Prepared(nothing, np.zeros(1, np.int8), nothing, np.zeros(1, np.int8), None)
    settings = DataSettings(near_duplicates=limit)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.monotonic()
    gathered = gather([file], settings, Cleaner(DEFAULT_STEPS), prepared, folder)
    seconds = time.monotonic() - started
    answers.put((gathered.near, seconds, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024))


def main() -> None:
    """Parse, run, publish."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--no-publish", action="store_true", help="leave docs/RESULTS.md alone")
    arguments = parser.parse_args()
    folder = WORK / "duplicates"
    folder.mkdir(parents=True, exist_ok=True)
    table: list[dict[str, object]] = []
    context = multiprocessing.get_context("spawn")
    for rows in arguments.rows:
        planted = write_pool(folder / "pool.jsonl", rows)
        told = {}
        for limit in (0.0, LIMIT):
            answers = context.Queue()
            process = context.Process(target=measured, args=(folder / "pool.jsonl", limit, answers))
            process.start()
            told[limit] = answers.get()
            process.join()
        (_, plain, growth), (near, thinned, more) = told[0.0], told[LIMIT]
        table.append(
            {
                "texts": rows,
                "near copies put in": planted,
                "thinned": near,
                "seconds to read": f"{plain:.1f}",
                "seconds more to thin": f"{thinned - plain:.1f}",
                "growth of the peak, MiB": int(growth),
                "the same when thinned, MiB": int(more),
            }
        )
    note = (
        f"Made-up texts of 10 to 30 words; every {COPIES}th is an earlier one without one of its words. Read as the "
        f"step `pool` reads them, data.near_duplicates = {LIMIT}, one process, one core. Some short texts without a "
        "word are less alike than the limit."
    )
    publish("duplicates", table, note, **({"publish_to": None} if arguments.no_publish else {}))


if __name__ == "__main__":
    main()
