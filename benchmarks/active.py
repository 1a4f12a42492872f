"""Labels that query strategies save: the true labels play the annotator, strategies choose what is asked.

python benchmarks/active.py TABLE --data FOLDER [--only confidence …] [--seeds N] [--judge held]. Tables: airline and
goemotions (FOLDER/NAME/{train,dev,test}.jsonl of text and labels), conll2003 ({train,dev,test}.conll), and million,
which streams synthetic texts. `--judge held` judges by training rows that no strategy sees, to compare without a look
at test. Curves that are finished are not made again; they are in build/active.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import resource
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from oracles import CATEGORIES, CHUNK, WORK, Point, SentenceSet, Table, TextSet, kept_back
from results import RESULTS, publish

from limbeck.annotate.strategies import (
    DEFAULT,
    DEFAULT_NER,
    NER_STRATEGIES,
    STRATEGIES,
    Chooser,
    Chunk,
    Known,
    Mix,
    TaggedChunk,
    parse_mix,
)
from limbeck.annotate.strategies.entities import LeastConfidentSentence
from limbeck.annotate.strategies.uncertainty import LeastConfident
from limbeck.store import code_version, function_version, key_of

SEEDS = 8
# Strategies were compared by other seeds than those that are published.
FIRST_SEED = {"held": 0, "test": 100}
ROUNDS, LEVEL = 2000, (0.025, 0.975)

# [categories and seeds, points, 3]: labels, what else is counted, F1.
Curve = NDArray[np.float64]


class BestFirst(LeastConfident):
    """Least confidence without spreading the picks out; near copies are still passed over."""

    name: ClassVar[str] = "confidence, not spread"

    def order(self, candidates: Any, count: int) -> NDArray[np.intp]:
        """Leave the best first."""
        return np.arange(len(candidates))


class AllDoubt(LeastConfidentSentence):
    """Doubt of all words together, whatever the length."""

    name: ClassVar[str] = "sentence, sum of doubts"

    def score(self, chunk: TaggedChunk, known: Known) -> NDArray[np.float64]:
        """Give the sum."""
        return np.bincount(chunk.sentence, chunk.doubts, minlength=len(chunk.tags)).astype(np.float64)


class MeanDoubt(AllDoubt):
    """Doubt a word."""

    name: ClassVar[str] = "sentence, mean of doubts"

    def score(self, chunk: TaggedChunk, known: Known) -> NDArray[np.float64]:
        """Give the mean."""
        lengths = np.bincount(chunk.sentence, minlength=len(chunk.tags))
        return super().score(chunk, known) / np.maximum(lengths, 1)


class LeastCertainWord(LeastConfidentSentence):
    """The one word of which least is known."""

    name: ClassVar[str] = "sentence, highest doubt"

    def score(self, chunk: TaggedChunk, known: Known) -> NDArray[np.float64]:
        """Give the highest doubt."""
        found = np.zeros(len(chunk.tags))
        np.maximum.at(found, chunk.sentence, chunk.doubts)
        return found


OF_TEXTS: Table = {**STRATEGIES, BestFirst.name: BestFirst}
OF_SENTENCES: Table = {**NER_STRATEGIES, **{kind.name: kind for kind in (AllDoubt, MeanDoubt, LeastCertainWord)}}


def mixes(table: Table, default: Mix) -> dict[str, Mix]:
    """Give what is compared: random first, the default, and every strategy alone."""
    alone = {name: {name: 1.0} for name in table if name != "random"}
    shown = ", ".join(f"{name}:{share:g}" for name, share in default.items())
    return {"random": {"random": 1.0}, f"default ({shown})": default, **alone}


def curves(task: TextSet | SentenceSet, compared: Mapping[str, Mix], table: Table, seeds: int) -> dict[str, Curve]:
    """Give the curves of each mix; those that were made before are read."""
    file = WORK / "curves.jsonl"
    code: list[object] = [code_version(name) for name in ("limbeck.annotate.strategies", "oracles")]
    code += [function_version(kind) for kind in table.values()]
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    made = {told["key"]: told["points"] for told in map(json.loads, lines)}
    found: dict[str, list[list[Point]]] = {name: [] for name in compared}
    began, first = time.time(), FIRST_SEED[task.judge]
    for category in task.units():
        for seed in range(first, first + seeds):
            for name, mix in compared.items():
                about = {"set": task.name, "judge": task.judge, "category": category, "seed": seed, "mix": dict(mix)}
                key = key_of([about, code])
                if key not in made:
                    made[key] = task.curve(mix, table, category, seed)
                    with file.open("a", encoding="utf-8") as more:
                        more.write(json.dumps({"key": key, **about, "points": made[key]}) + "\n")
                found[name].append(made[key])
        print(f"{task.name} {category}: {time.time() - began:.0f} s", flush=True)
    return {name: np.array(points, dtype=np.float64) for name, points in found.items()}


def needed(mine: Curve, chance: Curve, axis: int = 0) -> float:
    """Give the labels (or what else `axis` counts) to reach random's last F1, as a share of those random needed.

    Of mean curves [points, 3], straight between points; infinite if it is never reached.
    """
    target = chance[-1, 2]
    at = int(np.argmax(mine[:, 2] >= target))
    if mine[at, 2] < target:
        return float("inf")
    spent = mine[at, axis]
    if at:
        part = (target - mine[at - 1, 2]) / (mine[at, 2] - mine[at - 1, 2])
        spent = mine[at - 1, axis] + part * (mine[at, axis] - mine[at - 1, axis])
    return float(spent / chance[-1, axis])


def drawn(cells: int) -> Iterator[NDArray[np.intp]]:
    """Draw categories and seeds with replacement."""
    rng = np.random.default_rng(0)
    for _ in range(ROUNDS):
        yield rng.integers(0, cells, cells)


def share(mine: Curve, chance: Curve, axis: int = 0) -> str:
    """Write `needed` with its interval."""
    found = [needed(mine[rows].mean(axis=0), chance[rows].mean(axis=0), axis) for rows in drawn(len(mine))]
    low, high = np.quantile(found, LEVEL, method="nearest")
    whole = needed(mine.mean(axis=0), chance.mean(axis=0), axis)
    return f"{_percent(whole)} [{_percent(low)}, {_percent(high)}]"


def _percent(part: float) -> str:
    return f"{part:.0%}" if np.isfinite(part) else "more"


def difference(mine: Curve, chance: Curve, at: int) -> str:
    """Write the paired difference in F1 at a point with its interval."""
    apart = mine[:, at, 2] - chance[:, at, 2]
    low, high = np.quantile([apart[rows].mean() for rows in drawn(len(apart))], LEVEL)
    return f"{apart.mean():+.3f} [{low:+.3f}, {high:+.3f}]"


def rows_of(found: dict[str, Curve], ner: bool) -> list[dict[str, object]]:
    """Make the table: F1 by labels, what was needed, and the last and the worst point against random."""
    chance, what = found["random"], "sentences" if ner else "labels"
    labels = chance[0, :, 0].astype(int)
    rows = []
    for name, mine in found.items():
        row: dict[str, object] = {"strategy": name}
        row |= {f"{labels[at]} {what}": float(mine[:, at, 2].mean()) for at in np.flatnonzero(labels % 100 == 0)}
        beside = mine[:, -1, 1].mean()
        row |= {"words a sentence": f"{beside / labels[-1]:.1f}"} if ner else {"positives": round(beside)}
        if name != "random":
            worst = int((mine - chance)[:, 1:, 2].mean(axis=0).argmin()) + 1
            row[f"{what} for random's last F1"] = share(mine, chance)
            row |= {"words for it": share(mine, chance, axis=1)} if ner else {}
            row["against random, last"] = difference(mine, chance, -1)
            row["against random, worst"] = f"{difference(mine, chance, worst)} at {labels[worst]}"
        rows.append(row)
    return rows


def picture(name: str, found: dict[str, Curve]) -> None:
    """Keep the means of a set's curves, and draw those of all sets that there are."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    plt.rcParams["svg.hashsalt"] = "limbeck"
    kept = WORK / "means.json"
    means: dict[str, Any] = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
    means[name] = {told: _means(curve) for told, curve in found.items()}
    kept.write_text(json.dumps(means), encoding="utf-8")
    sets = [one for one in ("airline", "goemotions", "conll2003") if one in means]
    figure, places = plt.subplots(1, len(sets), figsize=(4.4 * len(sets), 3.8), squeeze=False)
    for place, one in zip(places[0], sets, strict=True):
        for told, (labels, f1, low, high) in means[one].items():
            color = {"random": "black", "default": "tab:red"}.get(told.partition(" ")[0])
            style = {"linewidth": 2.0, "color": color, "zorder": 3} if color else {"linewidth": 0.9}
            place.plot(labels, f1, "--" if told == "random" else "-", label=told.partition(" (")[0], **style)
            if color:
                place.fill_between(labels, low, high, color=color, alpha=0.12, linewidth=0)
        place.set(title=one, xlabel="tagged sentences" if one == "conll2003" else "labels of a category")
        place.grid(alpha=0.3)
        place.legend(fontsize=6.5)
    places[0][0].set_ylabel("F1 on test")
    figure.tight_layout()
    figure.savefig(RESULTS.parent / "active.svg", metadata={"Date": None})


def _means(curve: Curve) -> list[list[float]]:
    """Give labels, F1, and its interval at each point."""
    low, high = np.quantile([curve[rows, :, 2].mean(axis=0) for rows in drawn(len(curve))], LEVEL, axis=0)
    mean = curve.mean(axis=0)
    return [mean[:, 0].tolist(), mean[:, 2].tolist(), low.tolist(), high.tolist()]


def streamed(task: tuple[str, int]) -> tuple[float, float]:
    """See so many synthetic texts; give seconds and the most memory that the process ever had, in MB."""
    mix, texts = task
    rng = np.random.default_rng(0)
    width, members = 64, 3
    known = Known(rng.standard_normal((1000, width)), rng.integers(0, 2, (1000, 1)).astype(np.float64))
    chooser: Chooser[Chunk] = Chooser(parse_mix(mix), known, 50, 0)
    seconds = 0.0
    for start in range(0, texts, CHUNK):
        size = min(CHUNK, texts - start)
        chunk = Chunk(
            np.arange(start, start + size),
            rng.random((members, size, 1)),
            np.array([0.3]),
            rng.standard_normal((size, width), dtype=np.float32),
        )
        began = time.perf_counter()
        chooser.see(chunk)
        seconds += time.perf_counter() - began
    began = time.perf_counter()
    assert len(chooser.choose()) == 50
    return seconds + time.perf_counter() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def million() -> list[dict[str, object]]:
    """Measure pools that are seen chunk by chunk, each in a process of its own."""
    default = ", ".join(f"{name}:{part:g}" for name, part in DEFAULT.items())
    rows: list[dict[str, object]] = []
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as processes:
        for mix in (default, ", ".join(STRATEGIES)):
            for texts in (10_000, 100_000, 1_000_000):
                [(seconds, memory)] = processes.map(streamed, [(mix, texts)])
                rows.append({"strategies": mix, "texts": texts, "seconds": round(seconds, 1), "peak MB": round(memory)})
    return rows


ABOUT = (
    "Frozen all-MiniLM-L6-v2, the mean of its last four layers, under logistic regressions. A quarter of the training "
    "set (at most 5,000) was kept apart, to choose the default by; other seeds than these. Percentages: labels (the "
    "start included) with which the mean curve reaches random's last F1, as a share of random's; 'worst' is the lowest "
    "of all differences after the start. Brackets: 95 % of 2,000 bootstrap rounds over {cells}. "
)
OF_TEXT_SETS = (
    "Five categories one by one: the most frequent that at most a tenth of the training texts have ({categories}). "
    "Start: 10 positives and 40 texts at random; then 25 labels a round, chosen among up to 10,000 texts. A committee "
    "of 3 folds; thresholds from half of dev. "
)
OF_TAGGED = (
    "100 tagged sentences to begin with, 50 more a round, out of {pool:,}; a linear tagger over the states and shapes "
    "of words. F1 by exact match. "
)


def main() -> None:
    """Make a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", choices=("airline", "goemotions", "conll2003", "million"))
    parser.add_argument("--data", type=Path, default=Path("data"), help="the folder of data sets")
    parser.add_argument("--only", nargs="+", default=[], help="some strategies, or a mix in quotes; random is added")
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--judge", choices=("test", "held"), default="test")
    parser.add_argument("--no-publish", action="store_true", help="leave docs alone")
    told = parser.parse_args()
    to = None if told.no_publish or told.only or told.judge == "held" else RESULTS
    if told.table == "million":
        note = (
            "Synthetic texts in chunks of 4,096: 64 numbers a vector, a committee of 3, 1,000 labelled texts, 50 picks."
        )
        publish("active-million", million(), note + " Models and embeddings are not counted.", to)
        return
    ner = told.table == "conll2003"
    table, default = (OF_SENTENCES, DEFAULT_NER) if ner else (OF_TEXTS, DEFAULT)
    compared = mixes(table, default)
    if told.only:
        wanted = {name: compared.get(name) or parse_mix(name, table) for name in told.only}
        compared = {"random": compared["random"], **wanted}
    task = (SentenceSet if ner else TextSet)(told.data, told.table, told.judge)
    found = curves(task, compared, table, told.seeds)
    if to is not None:
        picture(told.table, found)
    cells = f"{told.seeds} seeds" if ner else f"{CATEGORIES} categories and {told.seeds} seeds"
    note = ABOUT.format(cells=cells)
    if isinstance(task, SentenceSet):
        note = OF_TAGGED.format(pool=len(kept_back(len(task.train.sentences)))) + note
    else:
        note = OF_TEXT_SETS.format(categories=", ".join(task.units())) + note
    publish(f"active-{told.table}", rows_of(found, ner), note.strip(), to)


if __name__ == "__main__":
    main()
