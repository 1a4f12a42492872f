"""A small project whose texts are made here, so that any test can change its files."""

import csv
import json
import random
from pathlib import Path

WORDS = {
    "heat": [
        "the heating was off",
        "freezing in coach four",
        "so cold that I kept my coat on",
        "the air was like an oven",
    ],
    "wifi": ["the wifi dropped", "no internet at all", "I could not get online", "the hotspot asked for a login again"],
    "late": ["we arrived late", "an hour behind the timetable", "I missed my connection", "the departure was delayed"],
}
NEUTRAL = [
    "I travel every week",
    "the staff were kind",
    "coffee was fine",
    "see you again",
    "my seat was by the window",
]


def make_texts(count: int, seed: int) -> list[tuple[str, list[str]]]:
    """Make distinct texts with the labels that their parts carry."""
    rng = random.Random(seed)
    rows = {}
    while len(rows) < count:
        labels = [name for name in WORDS if rng.random() < 0.3]
        parts = [rng.choice(WORDS[name]) for name in labels] + rng.sample(NEUTRAL, rng.randint(1, 2))
        rng.shuffle(parts)
        rows[f"{', '.join(parts)} on train {rng.randint(100, 9999)}"] = sorted(labels)
    return list(rows.items())


def write_project(folder: Path, rows: int = 90, settings: str = "") -> Path:
    """Write three category files, a pool, dev and test, and a limbeck.toml with the quick baseline only."""
    (folder / "labels").mkdir(parents=True)
    train = make_texts(rows * 2, seed=1)
    rng = random.Random(2)
    for name in WORDS:
        with (folder / "labels" / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["text", "label"])
            writer.writerows((text, int(name in labels)) for text, labels in rng.sample(train, rows))
    for name, seed, count in (("dev", 3, 80), ("test", 4, 80)):
        lines = [
            json.dumps({"text": t, "labels": on, "source": "app" if i % 2 else "web"})
            for i, (t, on) in enumerate(make_texts(count, seed))
        ]
        (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    pool = [json.dumps({"text": text}) for text, _ in make_texts(50, seed=5)]
    (folder / "pool.jsonl").write_text("\n".join(pool) + "\n", encoding="utf-8")
    (folder / "limbeck.toml").write_text(
        f'task = "multilabel"\n[split]\nfolds = 3\n[teach]\nkind = "none"\n[baselines]\nkinds = ["tfidf-logreg"]\n[compress]\nbaselines = false\n[measure]\nrounds = 100\n{settings}',
        encoding="utf-8",
    )
    return folder
