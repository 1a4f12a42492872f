"""A label-scarce setting from a fully labelled data set, the same for every benchmark.

For each category its own random sample of the training rows, with only that category's label known: `rows` rows, of
which at most the share `positive` (and never more than half of the category's positives) are positive. All training
texts in no sample, plus unlabelled.jsonl, are the pool. Categories with fewer than `least` positives are left out.
"""

from __future__ import annotations

import csv
import json
import random
import re
import shutil
from pathlib import Path
from typing import Any

from limbeck.text import words


def make_scarce(data: Path, out: Path, rows: int = 300, positive: float = 0.33, least: int = 10, seed: int = 0) -> None:
    """Turn `data` ({train,dev,test}.jsonl of text and labels) into a Limbeck project in `out`.

    With `least` 0, categories that only dev or test knows stay as well.
    """
    train = read_jsonl(data / "train.jsonl")
    counts: dict[str, int] = {}
    if not least:
        known = [
            label for part in ("dev", "test") for row in read_jsonl(data / f"{part}.jsonl") for label in row["labels"]
        ]
        counts = dict.fromkeys(known, 0)
    for row in train:
        for label in row["labels"]:
            counts[label] = counts.get(label, 0) + 1
    kept = sorted(label for label, count in counts.items() if count >= least)
    (out / "labels").mkdir(parents=True, exist_ok=True)
    sampled: set[str] = set()
    for label in kept:
        # Seeding by category keeps a category's sample the same whatever other categories there are.
        rng = random.Random(f"{seed}/{data.name}/{label}")
        yes = [row["text"] for row in train if label in row["labels"]]
        no = [row["text"] for row in train if label not in row["labels"]]
        drawn = min(round(rows * positive), len(yes) // 2)
        sample = [(text, 1) for text in rng.sample(yes, drawn)]
        sample += [(text, 0) for text in rng.sample(no, min(rows - drawn, len(no)))]
        rng.shuffle(sample)
        sampled.update(text for text, _ in sample)
        with (out / "labels" / f"{slug(label)}.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["text", "label"])
            writer.writerows(sample)
    unlabelled = data / "unlabelled.jsonl"
    texts = dict.fromkeys(row["text"] for row in train + (read_jsonl(unlabelled) if unlabelled.exists() else []))
    write_jsonl(out / "pool.jsonl", [{"text": text} for text in texts if text not in sampled])
    for part in ("dev", "test"):
        labelled = read_jsonl(data / f"{part}.jsonl")
        known = [
            {"text": r["text"], "labels": [slug(label) for label in r["labels"] if label in kept]} for r in labelled
        ]
        write_jsonl(out / f"{part}.jsonl", known)
    (out / "limbeck.toml").write_text('task = "multilabel"\n', encoding="utf-8")


# Sentences of news that are a pool where all others are tagged, and how many words they have.
NEWS, SHORTEST, LONGEST = 20_000, 4, 60


def make_few_sentences(data: Path, out: Path, sentences: int, seed: int = 0) -> None:
    """Turn `data` ({train,dev,test}.conll) into a project for entities: `sentences` tagged ones, the rest is the pool.

    With 0, all are tagged, and the pool is sentences of other news: of the folder `reuters` beside `data`.
    """
    out.mkdir(parents=True, exist_ok=True)
    blocks = (data / "train.conll").read_text(encoding="utf-8").strip().split("\n\n")
    random.Random(f"{seed}/{data.name}").shuffle(blocks)
    tagged, rest = (blocks[:sentences], blocks[sentences:]) if sentences else (blocks, [])
    (out / "train.conll").write_text("\n\n".join(tagged) + "\n", encoding="utf-8")
    pool = [[line.split()[0] for line in block.splitlines()] for block in rest] if rest else news(data.parent, seed)
    write_jsonl(out / "pool.jsonl", [{"tokens": mine} for mine in pool])
    for part in ("dev", "test"):
        shutil.copy(data / f"{part}.conll", out / f"{part}.conll")
    (out / "limbeck.toml").write_text('task = "ner"\n', encoding="utf-8")


def news(data: Path, seed: int) -> list[list[str]]:
    """Cut news into sentences, and these into words; some of them."""
    texts = [row["text"] for row in read_jsonl(data / "reuters" / "train.jsonl")]
    cut = [part for text in texts for part in re.split(r"(?<=[.!?])\s+(?=[A-Z\"'])", text)]
    found = [[part[a:b] for a, b in words(part)] for part in dict.fromkeys(cut)]
    good = [mine for mine in found if SHORTEST <= len(mine) <= LONGEST]
    random.Random(seed).shuffle(good)
    return good[:NEWS]


def slug(label: str) -> str:
    """Give a label's name as a file name."""
    return re.sub(r"\W+", "-", label).strip("-").lower()


def read_jsonl(path: Path) -> list[dict[str, Any]]:
    """Read all rows."""
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def write_jsonl(path: Path, rows: list[dict[str, Any]]) -> None:
    """Write all rows."""
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
