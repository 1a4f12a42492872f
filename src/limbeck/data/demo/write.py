"""The demo corpus as files."""

import csv
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from limbeck.data.demo.compose import Comment
from limbeck.data.demo.corpus import generate
from limbeck.data.demo.replies import REPLIES


@dataclass(frozen=True, slots=True)
class DemoSummary:
    """What was written.

    Attributes:
        labelled: Rows of each binary file.
        positives: Positive rows of each binary file.
        unique_texts: Different texts in the binary files together.
    """

    labelled: dict[str, int]
    positives: dict[str, int]
    unique_texts: int
    pool: int
    dev: int
    test: int


def write_demo(folder: Path, seed: int = 0, pool_rows: int = 20_000, scale: float = 0.1) -> DemoSummary:
    """Write the demo corpus, replacing files of the same names; equal arguments give equal bytes.

    In `folder` there will be `labels/<slug>.csv` (text, label 0 or 1), `pool.jsonl` (text, source), `dev.jsonl`
    (text, labels, source, kind), `test.jsonl` (text, labels, source), and `replies.toml` for the server.

    Args:
        folder: Created if it does not exist.
        seed: Any integer.
        pool_rows: Unlabelled rows.
        scale: The size of the labelled files, 1.0 for about 107,000 rows.
    """
    corpus = generate(seed, pool_rows, scale)
    labels = folder / "labels"
    labels.mkdir(parents=True, exist_ok=True)
    for slug, rows in corpus.labelled.items():
        _write_csv(labels / f"{slug}.csv", ((comment.text, int(label)) for comment, label in rows))
    _write_jsonl(folder / "pool.jsonl", ({"text": c.text, "source": c.source} for c in corpus.pool))
    dev = [_labelled(comment) | {"kind": "hard"} for comment in corpus.dev_hard]
    dev += [_labelled(comment) | {"kind": "random"} for comment in corpus.dev_random]
    _write_jsonl(folder / "dev.jsonl", dev)
    _write_jsonl(folder / "test.jsonl", map(_labelled, corpus.test))
    (folder / "replies.toml").write_text(REPLIES, encoding="utf-8")
    return DemoSummary(
        labelled={slug: len(rows) for slug, rows in corpus.labelled.items()},
        positives={slug: sum(label for _, label in rows) for slug, rows in corpus.labelled.items()},
        unique_texts=len({comment.text for rows in corpus.labelled.values() for comment, _ in rows}),
        pool=len(corpus.pool),
        dev=len(dev),
        test=len(corpus.test),
    )


def _labelled(comment: Comment) -> dict[str, object]:
    return {"text": comment.text, "labels": sorted(comment.labels), "source": comment.source}


def _write_csv(path: Path, rows: Iterable[tuple[str, int]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("text", "label"))
        writer.writerows(rows)


def _write_jsonl(path: Path, rows: Iterable[dict[str, object]]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
