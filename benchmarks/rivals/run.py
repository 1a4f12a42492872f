"""Limbeck's bundles beside other tools: how good, how fast, on the same rows and in the same run.

python benchmarks/rivals/run.py --data FOLDER --only airline, with the extra `rivals` installed. Thresholds are tuned
alike for all on one half of dev. Times: one text of 40 tokens at a time, one thread, from raw text to labels, in turns.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ["HF_HUB_OFFLINE"] = os.environ["TOKENIZERS_PARALLELISM"] = "1"
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np
import torch
from chains import SCARCE, project
from contestants import RIVALS, Rows
from results import RESULTS, publish, published
from students import STEPS, TEACHER

from limbeck.bench.contenders import Counting
from limbeck.bench.efficiency import texts_of_length
from limbeck.compress.draft import teacher_graph
from limbeck.config import load_project
from limbeck.data.prepare import Prepared
from limbeck.measure import decide, paired_bootstrap
from limbeck.measure.compare import Measured, load_measured, measure_scorer
from limbeck.pipeline import Pipeline
from limbeck.runtime.load import load_classifier
from limbeck.runtime.predictor import Predictor
from limbeck.scorer import Floats
from limbeck.teach.calibrate import load_calibrated
from limbeck.teach.encoders import find_encoder

SETS = ("airline", "goemotions")
STUDENTS = ("bag", "cnn", "bilstm", "transformer")
TOKENS, DIFFERENT = 40, 300
WARM_UP, TURNS, CALLS = 20, 3, 100
SLOW = 0.05
PLAIN = "MiniLM fine-tuned, plain 8-bit ONNX"


@dataclass(frozen=True)
class Entry:
    """A model in the race: who it is, its decisions on test, and how it answers one text."""

    name: str
    ours: bool
    dev: float
    test: float
    interval: str
    decisions: np.ndarray
    answer: Callable[[list[str]], object]
    seconds: float | None


@dataclass(frozen=True)
class Named:
    """A rival with the labels that a scorer needs."""

    labels: tuple[str, ...]
    contestant: object

    def predict_proba(self, texts: Sequence[str]) -> Floats:
        """Ask it."""
        return self.contestant.predict_proba(texts)  # type: ignore[attr-defined, no-any-return]


def entry(name: str, ours: bool, measured: Measured, answer: Callable, seconds: float | None) -> Entry:
    """Put a measured model into the race."""
    interval = measured.intervals["test"]
    return Entry(
        name,
        ours,
        measured.figures["judging"].macro_f1,
        measured.figures["test"].macro_f1,
        f"{interval.low:.3f} to {interval.high:.3f}",
        decide(measured.proba["test"], measured.thresholds),
        answer,
        seconds,
    )


def plain_eight_bits(pipeline: Pipeline) -> Predictor:
    """Give one fold's fine-tuned encoder as any guide would: exported, quantised dynamically, nothing fused."""
    from dataclasses import replace

    from onnxruntime.quantization import quantize_dynamic

    from limbeck.bench.contenders import _sizes
    from limbeck.compress.draft import draft
    from limbeck.compress.export import export
    from limbeck.config import CompressSettings

    folders = [pipeline.folder(name) for name in ("teach", "calibrate")]
    teacher = load_calibrated(folders[0], folders[1], pipeline.project.root)
    alone = list(_sizes(teacher).values())[-1]
    trained = teacher_graph(alone)
    with tempfile.TemporaryDirectory() as folder:
        plain, small = Path(folder) / "plain.onnx", Path(folder) / "small.onnx"
        plain.write_bytes(export(trained.network, trained.one_class))
        quantize_dynamic(plain, small)
        graph = small.read_bytes()
    made = draft(
        trained, np.full(len(trained.labels), 0.5, dtype=np.float32), ["a text"], CompressSettings(vocabulary="all")
    )
    return Predictor(replace(made.bundle, graph=graph), 1, warn=False)


def race(data: Path, name: str, only: Sequence[str]) -> tuple[list[Entry], Prepared, list[str]]:
    """Train whatever isn't there yet and give all entries."""
    folder = project(data, name, "students", work="students")
    told = [*TEACHER, STEPS, f"students.kinds={json.dumps(STUDENTS)}"]
    pipeline = Pipeline(load_project(folder, told))
    pipeline.run()
    prepared, config = Prepared.load(pipeline.folder("data")), pipeline.project.config
    measured = load_measured(pipeline.folder("measure"))
    entries = []
    for student in STUDENTS:
        model = load_classifier(pipeline.folder("compress") / student)
        found = measure_as_is(model, prepared, measured[f"student-{student}"]["thresholds"], config)
        entries.append(entry(f"Limbeck {student}, {model.manifest.model.recipe}", True, found, model.predict, None))
    plain = plain_eight_bits(pipeline)
    found = measure_scorer(plain, prepared, config)
    entries.append(entry(PLAIN, False, found, Counting(plain, found.thresholds.astype(np.float32)).predict, None))
    rows = Rows(prepared.train, find_encoder(config.encoder.name, folder).folder)
    for title, make in RIVALS.items():
        if only and title not in only:
            continue
        began = time.monotonic()
        scorer = Named(prepared.train.names, make(rows))
        seconds = time.monotonic() - began
        found = measure_scorer(scorer, prepared, config)
        answer = Counting(scorer, found.thresholds.astype(np.float32)).predict
        entries.append(entry(title, False, found, answer, seconds))
        print(f"{name}: {title} {entries[-1].test:.3f}, {seconds:.0f} s", flush=True)
    whole = plain.tokeniser.tokenizer
    texts = texts_of_length(prepared.dev.texts, lambda text: len(whole.encode(text).ids), TOKENS, DIFFERENT)
    return entries, prepared, texts


def measure_as_is(model: Predictor, prepared: Prepared, thresholds: list[float], config: object) -> Measured:
    """Measure a bundle with the thresholds that it has."""
    from limbeck.data.splits import JUDGING
    from limbeck.measure.bootstrap import bootstrap_interval
    from limbeck.measure.quality import evaluate

    limits = np.array(thresholds)
    parts = {"judging": prepared.dev_half(JUDGING), "test": prepared.test}
    proba = {name: model.predict_proba(part.texts) for name, part in parts.items()}
    return Measured(
        model.labels,
        limits,
        {name: evaluate(part.labels, proba[name], limits, part.names) for name, part in parts.items()},
        {name: bootstrap_interval(part.labels, decide(proba[name], limits)) for name, part in parts.items()},
        {},
        proba,
    )


def times(entries: Sequence[Entry], texts: list[str]) -> dict[str, np.ndarray]:
    """Give milliseconds of single answers; all models take turns."""
    taken: dict[str, list[float]] = {one.name: [] for one in entries}
    for turn in range(TURNS):
        for one in entries:
            calls, quick = CALLS, False
            for number in range(WARM_UP):
                began = time.perf_counter()
                one.answer([texts[number]])
                quick = time.perf_counter() - began < SLOW
                if not quick and number > 2:
                    calls = CALLS // 5
                    break
            for number in range(calls):
                text = texts[(turn * CALLS + number) % len(texts)]
                began = time.perf_counter()
                one.answer([text])
                taken[one.name].append(1e3 * (time.perf_counter() - began))
    return {name: np.array(found) for name, found in taken.items()}


def table(name: str, entries: list[Entry], prepared: Prepared, texts: list[str]) -> list[dict[str, object]]:
    """Compare everyone with Limbeck's best bundle on dev."""
    best = max((one for one in entries if one.ours), key=lambda one: one.dev)
    print(f"{name}: timing", flush=True)
    milliseconds = times(entries, texts)
    print(f"{name}: timed", flush=True)
    rows = []
    for one in sorted(entries, key=lambda one: float(np.median(milliseconds[one.name]))):
        found = paired_bootstrap(prepared.test.labels, one.decisions, best.decisions)
        rows.append(
            {
                "data": name,
                "model": one.name,
                "dev macro-F1": one.dev,
                "test macro-F1": one.test,
                "95 % interval": one.interval,
                "against our best": ""
                if one is best
                else f"{found.estimate:+.3f} [{found.low:+.3f}, {found.high:+.3f}], p = {found.p_value:.3f}",
                "p50 ms": float(np.median(milliseconds[one.name])),
                "p99 ms": float(np.percentile(milliseconds[one.name], 99)),
                "training seconds": None if one.seconds is None else round(one.seconds),
            }
        )
    return rows


def picture(rows: list[dict[str, str]], file: Path) -> None:
    """Draw macro-F1 against latency, ours and theirs."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    names = list(dict.fromkeys(row["data"] for row in rows))
    figure, axes = plt.subplots(1, len(names), figsize=(6.4 * len(names), 4.4), squeeze=False)
    for place, name in zip(axes[0], names, strict=True):
        mine = [row for row in rows if row["data"] == name]
        points = [(float(row["p50 ms"]), float(row["test macro-F1"])) for row in mine]
        middle = np.sqrt(min(x for x, _ in points) * max(x for x, _ in points))
        high = max(y for _, y in points) - min(y for _, y in points)
        for row, (x, y) in zip(mine, points, strict=True):
            ours = row["model"].startswith("Limbeck")
            # A name stands below its point if another point is right above it, and towards the middle.
            crowded = any(0 < other - y < high / 6 and 1 / 5 < at / x < 5 for at, other in points)
            place.scatter(x, y, color="#0b6e4f" if ours else "#b0413e", zorder=3)
            place.annotate(
                row["model"].removeprefix("Limbeck ").partition(",")[0] if ours else row["model"],
                (x, y),
                textcoords="offset points",
                xytext=(5 if x < 2 * middle else -5, -11 if crowded else 4),
                ha="left" if x < 2 * middle else "right",
                fontsize=8,
                weight="bold" if ours else "normal",
            )
        place.set(xscale="log", xlabel="milliseconds a text (p50, one thread)", ylabel="macro-F1 on test", title=name)
        place.grid(alpha=0.3)
        place.margins(x=0.18, y=0.12)
    figure.tight_layout()
    figure.savefig(file, metadata={"Date": None})


def main() -> None:
    """Race on every data set that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("data"), help="the folder of data sets")
    parser.add_argument("--only", nargs="+", default=list(SETS))
    parser.add_argument("--rival", action="append", default=[], help="these rivals alone")
    parser.add_argument("--no-publish", action="store_true")
    told = parser.parse_args()
    torch.set_num_threads(1)
    note = SCARCE + (
        "Limbeck's bundles are the students of a partial teacher of 2 folds, compressed. Rivals learn the same "
        "labelled rows. Texts of 40 tokens, one at a time, one thread, all in turns. Differences in macro-F1 are "
        "theirs minus that of our best bundle on dev: paired bootstrap of 1,000 rounds."
    )
    for name in told.only:
        rows = table(name, *race(told.data, name, told.rival))
        publish(f"rivals-{name}", rows, note, None if told.no_publish else RESULTS)
    if not told.no_publish:
        picture([row for name in SETS for row in published(f"rivals-{name}")], RESULTS.parent / "rivals.svg")


if __name__ == "__main__":
    main()
