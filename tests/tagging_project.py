"""A small project with entities, a tiny encoder that knows its words, and settings that teach it in seconds."""

import json
import random
from pathlib import Path

from tiny_encoders import tiny_encoder

from limbeck.config import load_project
from limbeck.pipeline import Pipeline

CITIES = ["Bonn", "Ulm", "Bad Aibling", "New York", "Kiel", "Essen"]
PEOPLE = ["Ada Lovelace", "Grace Hopper", "Emmy", "Kurt Weill", "Ida"]
FRAMES = [
    "the train to {city} was late",
    "{person} lives in {city}",
    "nobody told {person} why the heating failed",
    "from {city} to {city} it took an hour , said {person}",
    "the wifi never worked",
    "{person} and {person} were kind",
]
QUICK = [
    "encoder.name=encoder",
    "teach.folds=2",
    "train.steps=120",
    "train.rate=0.003",
    "train.head_rate=0.01",
    "distill.steps=150",
    "distill.head_rate=0.01",
    "split.folds=3",
    "measure.rounds=100",
    'compress.recipes=["tables", "int8"]',
]

# All kinds of student, each with a crf.
ALL_STUDENTS = ['students.kinds=["cnn", "bilstm", "transformer"]', "students.decoder=crf", "students.layers=1"]


def make_sentences(count: int, seed: int) -> list[list[tuple[str, str]]]:
    """Make up sentences with cities and people, as (word, BIO tag)."""
    rng = random.Random(seed)
    found = []
    for number in range(count):
        sentence = []
        for part in rng.choice(FRAMES).split():
            kind = {"{city}": "LOC", "{person}": "PER"}.get(part)
            if not kind:
                sentence.append((part, "O"))
                continue
            words = rng.choice(CITIES if kind == "LOC" else PEOPLE).split()
            sentence += [(word, f"{'BI'[at > 0]}-{kind}") for at, word in enumerate(words)]
        found.append([*sentence, (str(number + 1000 * seed), "O")])
    return found


def tagging_project(folder: Path) -> Path:
    """Write train, pool, dev, test and an encoder with random weights."""
    folder.mkdir(parents=True)
    for name, count, seed in (("train", 90, 1), ("dev", 80, 2), ("test", 60, 3)):
        blocks = ["\n".join(f"{word} {tag}" for word, tag in s) for s in make_sentences(count, seed)]
        (folder / f"{name}.conll").write_text("\n\n".join(blocks) + "\n", encoding="utf-8")
    pool = [{"tokens": [word for word, _ in s]} for s in make_sentences(150, 4)]
    (folder / "pool.jsonl").write_text("".join(json.dumps(row) + "\n" for row in pool), encoding="utf-8")
    words = " ".join([*CITIES, *PEOPLE, *FRAMES]).lower().split()
    tiny_encoder(folder / "encoder", words)
    (folder / "limbeck.toml").write_text('task = "ner"\n', encoding="utf-8")
    return folder


def tag_pipeline(folder: Path, *more: str) -> Pipeline:
    """Give the chain of such a project."""
    return Pipeline(load_project(folder, [*QUICK, *more]))
