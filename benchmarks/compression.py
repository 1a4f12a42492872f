"""What every recipe costs and gives, what a cascade gives, and whether budgets are met.

python benchmarks/compression.py recipes --data FOLDER --only airline
and so for the tables rounding, shrunk, cascades and budgets.

Students that are there already aren't trained again. Nothing else may run on the machine meanwhile.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from results import WORK, run_tables
from scarce import make_few_sentences, make_scarce

from limbeck.budget import Budget, search
from limbeck.compress.cascade import compared, join
from limbeck.compress.draft import Draft, draft, student_graph
from limbeck.compress.gate import LabelJudge, staying_within
from limbeck.compress.recipes import RECIPES, Circumstances, recipe_of
from limbeck.compress.tagger_cascade import compared_taggers, join_taggers
from limbeck.compress.taggers import COMPARED, EntityJudge, draft_tagger, student_tagger
from limbeck.config import load_project
from limbeck.data.pool import sample_pool
from limbeck.data.prepare import Prepared
from limbeck.data.splits import JUDGING, TUNING
from limbeck.data.tagged import PreparedSentences
from limbeck.errors import RunError
from limbeck.measure.compare import load_measured
from limbeck.pipeline import Pipeline
from limbeck.runtime.bundle import Bundle, read_bundle
from limbeck.runtime.load import load
from limbeck.runtime.processor import saturates
from limbeck.students.scorer import load_student
from limbeck.tagging.student import load_tagger_student
from limbeck.text import Cleaner

SETS = ("airline", "goemotions", "conll2003")
SENTENCES = 1500
STUDENTS = {"conll2003": ("cnn", "bilstm", "transformer")}
# What cascades fall back on.
LARGER = "transformer"
OTHERS = ("bag", "cnn", "bilstm", "transformer")
JOINED = ("tables-products+int8-channels", "tables-long-products+int8-channels", "tables-4bit+int8-channels")
# Students that learn with rounded weights, and how.
ROUNDED = ("cnn", "bilstm")
LEARNT = {
    "in float": [],
    "rounded to 8 bits": ["distill.rounded=1"],
    "half of it rounded to 8 bits": ["distill.rounded=0.5"],
    "rounded to 4 bits": ["distill.rounded=1", "distill.rounded_bits=4"],
    "half of it rounded to 4 bits": ["distill.rounded=0.5", "distill.rounded_bits=4"],
}
# What is left of an encoder of 6 layers; the first is the others' parent.
SHAPES = {
    "6 layers": ["students.layers=6"],
    "3 layers": [],
    "3 layers, half of the columns": ["students.inner=0.5"],
    "3 layers, two thirds as wide": ["students.inner=0.67", "students.width=0.67"],
}
# Calls before the clock counts, and calls that are timed, in turns.
WARM_UP, TIMED, TURNS = 30, 600, 6
POOL = 20_000
# What 8 bits may cost.
LOST = 0.005
BUDGETS = (
    Budget(latency_us=60, size=6_000_000),
    Budget(latency_us=1_000, size=1_500_000),
    Budget(latency_us=200),
    Budget(size=2_500_000),
    Budget(size=1_200_000, latency_us=100),
)


def project(data: Path, name: str) -> Path:
    """Give the project of a data set."""
    folder = WORK / "compression" / name
    if not (folder / "limbeck.toml").exists():
        if name == "conll2003":
            make_few_sentences(data / name, folder, SENTENCES)
        else:
            make_scarce(data / name, folder)
    return folder


def finished(data: Path, name: str, settings: Sequence[str], kinds: Sequence[str] = ()) -> Pipeline:
    """Train what is missing, up to the figures."""
    listed = ", ".join(f'"{kind}"' for kind in kinds or STUDENTS.get(name, OTHERS))
    told = [f"students.kinds=[{listed}]", "students.layers=3", "baselines.kinds=[]", *settings]
    pipeline = Pipeline(load_project(project(data, name), told))
    pipeline.run(until="measure")
    return pipeline


def folder_of(pipeline: Pipeline, step: str) -> Path:
    """Give the folder of a step that is done."""
    found = pipeline.folder(step)
    assert found is not None
    return found


def recipes(data: Path, only: list[str], settings: list[str]) -> tuple[list[dict[str, object]], str]:
    """Try every recipe on every student."""
    rows: list[dict[str, object]] = []
    for name in [one for one in SETS if not only or one in only]:
        pipeline = finished(data, name, settings)
        for kind in STUDENTS.get(name, OTHERS):
            rows += [{"data": name, "student": kind} | row for row in tried(*drafted(pipeline, kind))]
    return rows, NOTE


NOTE = (
    "Every recipe and three joined ones. F1: macro-F1, of conll2003 exact match over all entities; dev is the half "
    "that judges. 'Lost' is a share of float's F1. MB is graph and tokeniser; microseconds from raw text to answer, "
    "one text at a time, one thread, 600 calls in turns with texts of dev. Seconds: what making it took."
)


def drafted(pipeline: Pipeline, kind: str) -> tuple[Draft, Any, Any, Any]:
    """Give a student's float bundle, and judges by dev's tuning half, its judging half and test."""
    config = pipeline.project.config
    distilled, data, measured = (folder_of(pipeline, step) for step in ("distill", "data", "measure"))
    if config.task == "ner":
        sentences = PreparedSentences.load(data)
        shown = [sentence.tokens for sentence in sentences.train]
        made = draft_tagger(student_tagger(load_tagger_student(distilled / kind)), shown[:COMPARED])
        parts = sentences.dev_half(TUNING), sentences.dev_half(JUDGING), sentences.test
        return made, *(EntityJudge(part, config) for part in parts)
    prepared = Prepared.load(data)
    limits = np.array(load_measured(measured)[f"student-{kind}"]["thresholds"], dtype=np.float32)
    files = [pipeline.project.path(name) for name in config.data.pool]
    pool = sample_pool(files, config.data, Cleaner(config.text.clean), POOL, 0)
    student = student_graph(load_student(distilled / kind))
    made = draft(student, limits, [*prepared.train.texts, *pool], config.compress, prepared.dev.texts)
    assert prepared.test is not None
    rows = prepared.dev_half(TUNING), prepared.dev_half(JUDGING), prepared.test
    return made, *(LabelJudge(part, config) for part in rows)


def tried(made: Draft, tuning: Any, dev: Any, test: Any) -> list[dict[str, object]]:
    """Make all bundles, judge them, and time them in turns."""
    circumstances = Circumstances(saturates(), made.samples, staying_within(made, tuning, LOST))
    loaded, facts, failed = {}, {}, {}
    for name in (*RECIPES, *JOINED):
        began = time.perf_counter()
        try:
            bundle = made.with_graph(recipe_of(name)(made.bundle.graph, circumstances), name)
            loaded[name] = dev.load(bundle)
            loaded[name].predict(list(dev.texts[:2]))
        except Exception as error:  # no kernel, or nothing to turn: the table says so
            loaded.pop(name, None)
            failed[name] = str(error).splitlines()[0][:80]
            continue
        facts[name] = (time.perf_counter() - began, (len(bundle.graph) + len(bundle.tokeniser)) / 1e6)
    verdicts, on_test = dev.compare(made.whole, loaded), test.compare(made.whole, loaded)
    times = timed(loaded, dev.texts)
    rows: list[dict[str, object]] = [
        {
            "recipe": name,
            "dev F1": verdicts[name].macro_f1,
            "lost": f"{verdicts[name].lost:+.2%}",
            "test F1": on_test[name].macro_f1,
            "lost on test": f"{on_test[name].lost:+.2%}",
            "MB": f"{facts[name][1]:.2f}",
            "p50 µs": f"{times[name][0]:.0f}",
            "p99 µs": f"{times[name][1]:.0f}",
            "seconds": f"{facts[name][0]:.1f}",
        }
        for name in loaded
    ]
    blank = dict.fromkeys(("lost", "test F1", "lost on test", "MB", "p50 µs", "p99 µs", "seconds"), "")
    return rows + [{"recipe": name, "dev F1": f"n/a: {why}"} | blank for name, why in failed.items()]


def timed(loaded: Mapping[str, Any], texts: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Give median and 99th percentile of an answer in microseconds."""
    taken: dict[str, list[float]] = {name: [] for name in loaded}
    for turn in range(TURNS):
        for name, model in loaded.items():
            for at in range(WARM_UP + TIMED // TURNS):
                text = [texts[((turn * 1000 + at) * 7919) % len(texts)]]
                began = time.perf_counter()
                model.predict(text)
                if at >= WARM_UP:
                    taken[name].append((time.perf_counter() - began) * 1e6)
    return {name: tuple(np.percentile(found, [50, 99]).tolist()) for name, found in taken.items()}


def rounding(data: Path, only: list[str], settings: list[str]) -> tuple[list[dict[str, object]], str]:
    """Let students learn with rounded weights, and round those of others afterwards."""
    rows: list[dict[str, object]] = []
    for name in [one for one in SETS[:2] if not only or one in only]:
        for title, told in LEARNT.items():
            pipeline = finished(data, name, [*settings, *told], ROUNDED)
            for kind in ROUNDED:
                made, _, dev, test = drafted(pipeline, kind)
                circumstances = Circumstances(saturates(), made.samples)
                for recipe in ("float", "int8-channels", "tables-4bit", "int4", "tables-4bit+int4"):
                    bundle = made.with_graph(recipe_of(recipe)(made.bundle.graph, circumstances), recipe)
                    row: dict[str, object] = {"data": name, "student": kind, "learnt": title, "recipe": recipe}
                    row |= {"dev F1": dev.f1(bundle), "test F1": test.f1(bundle)}
                    rows.append(row | {"MB": f"{(len(bundle.graph) + len(bundle.tokeniser)) / 1e6:.2f}"})
                    print(rows[-1], flush=True)
    return rows, "Macro-F1; dev is the half that judges. Each student learnt anew, with the same pseudo labels."


def shrunk(data: Path, only: list[str], settings: list[str]) -> tuple[list[dict[str, object]], str]:
    """Make transformers smaller, and let distilling heal them."""
    rows: list[dict[str, object]] = []
    for name in [one for one in SETS[:2] if not only or one in only]:
        bundles: dict[tuple[str, str], Bundle] = {}
        for title, told in SHAPES.items():
            pipeline = finished(data, name, [*settings, *told], ("transformer",))
            made, _, dev, test = drafted(pipeline, "transformer")
            circumstances = Circumstances(saturates(), made.samples)
            for form, recipe in (("float", "float"), ("8 bits", "int8-some-rows")):
                bundles[title, form] = made.with_graph(recipe_of(recipe)(made.bundle.graph, circumstances), recipe)
        times = timed({" ".join(key): dev.load(bundle) for key, bundle in bundles.items()}, dev.texts)
        f1 = {key: test.f1(bundle) for key, bundle in bundles.items()}
        for title, form in bundles:
            parent, took = (next(iter(SHAPES)), form), times[f"{title} {form}"]
            rows.append(
                {
                    "data": name,
                    "student": title,
                    "form": form,
                    "dev F1": dev.f1(bundles[title, form]),
                    "test F1": f1[title, form],
                    "of the parent's": f"{f1[title, form] / f1[parent]:.1%}",
                    "MB": f"{len(bundles[title, form].graph) / 1e6:.1f}",
                    "p50 µs": f"{took[0]:.0f}",
                    "times the parent": f"{times[' '.join(parent)][0] / took[0]:.2f}",
                }
            )
    return rows, (
        "What is taken out is chosen by 512 texts of the pool; distilling heals the rest. Macro-F1; dev is the half "
        "that judges. Microseconds from raw text to answer, one at a time, one thread, all in turns; 8 bits by "
        "int8-some-rows."
    )


def cascades(data: Path, only: list[str], settings: list[str]) -> tuple[list[dict[str, object]], str]:
    """Put faster students before the slowest one."""
    rows: list[dict[str, object]] = []
    for name in [one for one in SETS if not only or one in only]:
        ner = name == "conll2003"
        pipeline = finished(data, name, settings)
        pipeline.run(until="compress")
        made, told = folder_of(pipeline, "compress"), folder_of(pipeline, "data")
        prepared: Any = PreparedSentences.load(told) if ner else Prepared.load(told)
        joins, compares = (join_taggers, compared_taggers) if ner else (join, compared)
        for small in [kind for kind in STUDENTS.get(name, OTHERS) if kind != LARGER]:
            first, second = read_bundle(made / small), read_bundle(made / LARGER)
            joined = joins(first, second, prepared.dev_half(TUNING))
            found = compares({small: first, LARGER: second, "cascade": joined.bundle}, prepared)
            f1, mean = (key for key in found[1] if key in ("macro-F1, test", "F1, test", "mean µs"))
            for row in found:
                passed = f"{joined.chosen.passed_on:.1%}" if row["model"] == "cascade" else ""
                of_larger = {
                    "F1 of the larger's, test": f"{float(row[f1]) / float(found[1][f1]):.1%}",  # type: ignore[arg-type]
                    "of its mean time": f"{float(row[mean]) / float(found[1][mean]):.0%}",  # type: ignore[arg-type]
                }
                rows.append(
                    {"data": name, "pair": f"{small}, {LARGER}", **_rounded(row), "passed on": passed} | of_larger
                )
    return rows, (
        "The limit is fitted on dev's tuning half: the least that is passed on with which F1 is the larger model's. "
        "Microseconds a text, one at a time, one thread; the worst case is the time of both."
    )


def _rounded(row: Mapping[str, object]) -> dict[str, object]:
    return {k: round(v) if isinstance(v, float) and k.endswith("µs") else v for k, v in row.items()}


def budgets(data: Path, only: list[str], settings: list[str]) -> tuple[list[dict[str, object]], str]:
    """Search for five budgets, and measure what came out anew."""
    rows: list[dict[str, object]] = []
    for name in [one for one in SETS[:1] if not only or one in only]:
        folder = project(data, name)
        for budget in BUDGETS:
            began = time.perf_counter()
            try:
                found = search(folder, budget, settings)
            except RunError as error:
                rows.append({"data": name, "budget": str(budget), "taken": f"none. {error.fix}"})
                continue
            seconds = time.perf_counter() - began
            told = {"data": name, "budget": str(budget)} | checked(found, Pipeline(load_project(folder)))
            rows.append(told | {"seconds": f"{seconds:.0f}"})
    return rows, (
        "Students bag, cnn, bilstm; sizes small, medium, large; all recipes. The last three columns were measured "
        "afterwards on the bundle alone, in a folder of its own. Seconds: the search, with what it had to train."
    )


def checked(found: Any, pipeline: Pipeline) -> dict[str, object]:
    """Copy a bundle away, load it as anyone would, and measure it."""
    import shutil

    prepared = Prepared.load(folder_of(pipeline, "data"))
    assert prepared.test is not None
    with tempfile.TemporaryDirectory() as folder:
        bundle = shutil.copytree(found.bundle, Path(folder) / "bundle")
        model = load(bundle)
        p50, _ = timed({"it": model}, prepared.test.texts)["it"]
        size = sum(file.stat().st_size for file in bundle.iterdir())
        row = compared({"it": read_bundle(bundle)}, prepared)[0]
    return {
        "taken": found.chosen.name,
        "dev F1": found.chosen.f1,
        "test F1": row["macro-F1, test"],
        "p50 µs": f"{p50:.0f}",
        "MB": f"{size / 1e6:.2f}",
    }


if __name__ == "__main__":
    tables = {
        "recipes": recipes,
        "rounding": rounding,
        "shrunk": shrunk,
        "cascades": cascades,
        "budgets": budgets,
    }
    run_tables("compression", tables, __doc__)
