"""Gather, score and select a pool of any size: python pool_at_size.py FOLDER ROWS; prints peak memory and counts."""

import json
import resource
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

sys.path.insert(0, str(Path(__file__).parent.parent))
from small_pool import LABELS, MADE_WITH, PLAIN, prepared

from limbeck.config import DataSettings, parse_config
from limbeck.pseudo.buckets import Bucket, Gathered, bucket_file
from limbeck.pseudo.gather import gather
from limbeck.pseudo.guesses import PoolScores
from limbeck.pseudo.scores import score_pool
from limbeck.pseudo.select import select
from limbeck.store import Store
from limbeck.text import Cleaner


class LengthScorer:
    """Guesses by the text's last digits: fast, and different for every text."""

    labels = LABELS

    def predict_proba(self, texts):
        numbers = np.array([int(text.rsplit(" ", 1)[1]) for text in texts])
        return np.stack([numbers % 97 / 97, numbers % 89 / 89], axis=1).astype(np.float32)


def main() -> None:
    folder, rows = Path(sys.argv[1]), int(sys.argv[2])
    with (folder / "pool.jsonl").open("w", encoding="utf-8") as file:
        for row in range(rows):
            text = f"the heating was off and nobody in coach four could say why, train {row % (rows * 9 // 10)}"
            file.write(json.dumps({"text": text, "source": "app"}) + "\n")
    pool, scores, chosen = (folder / name for name in ("pool", "scores", "select"))
    for made in (pool, scores, chosen):
        made.mkdir()
    data, seconds = prepared(), {}
    started = time.monotonic()
    gather([folder / "pool.jsonl"], DataSettings(), Cleaner(), data, pool)
    seconds["gather"] = time.monotonic() - started
    started = time.monotonic()
    score_pool(pool, scores, LengthScorer(), dict.fromkeys(LABELS, "it"), Store(folder / "store"), MADE_WITH)
    seconds["score"] = time.monotonic() - started
    started = time.monotonic()
    np.save(scores / "tuning.npy", np.zeros((1, len(LABELS)), np.float32))
    files = json.loads((scores / "scores.json").read_text(encoding="utf-8"))["buckets"]
    guesses = PoolScores(pool, scores, LABELS, tuple(files), np.zeros((1, len(LABELS)), np.float32), False)
    figures = select(guesses, data, parse_config({"measure": PLAIN, "pseudo": {"empty": 10, "rows": rows}}), chosen)
    seconds["select"] = time.monotonic() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

    met = np.zeros(rows, dtype=np.int64)
    for number in range(len(Gathered.load(pool).buckets)):
        np.add.at(met, Bucket(bucket_file(pool, number)).rows[0], 1)
    kept = pq.read_table(chosen / "selected.parquet", columns=["row"]).column("row").to_numpy()
    counts = {"rows": int(met.sum()), "distinct": int((met == 1).sum()), "texts": int(figures["texts"])}
    print(json.dumps({"peak_mib": peak, **counts, "kept": len(np.unique(kept)), "seconds": seconds}))


main()
