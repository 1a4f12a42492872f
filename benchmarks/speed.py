"""What an answer costs: the teacher, its students and the baselines in torch, ONNX and 8 bits, side by side in one run.

python benchmarks/speed.py --data FOLDER --only airline. Students that are there already aren't trained again. Nothing
else may run on the machine meanwhile.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from chains import project
from results import publish
from students import STEPS, TEACHER

from limbeck.bench.cases import Case
from limbeck.bench.run import bench
from limbeck.compress.draft import fused_transformer, student_graph
from limbeck.compress.export import export
from limbeck.config import load_project
from limbeck.pipeline import Pipeline
from limbeck.runtime.processor import saturates
from limbeck.steps.compressing import TABLE
from limbeck.students.scorer import load_student

SETS = ("airline", "demo")
# Batches are timed once: what a network costs hangs on its shape, not on what it has learnt.
BATCHED = ("airline",)
STUDENTS = ("bag", "cnn", "bilstm", "transformer")
LENGTHS, BATCHES = (20, 40, 128, 250, 512), (1, 8, 32, 64, 128)
USUAL = Case(40, 1, 1)
CORES = sorted({1, os.cpu_count() or 1})
PRICE = 0.04
# A slow model in a slow setting is asked for so long.
SECONDS = 4.0
# Timed calls of each way to run one graph.
CALLS, TURNS = 200, 3
NOTE = (
    "From raw text to labels, cleaning and tokenising included; texts of the given length put together from words of "
    "dev, each timed call another one; 300 timed calls in ten turns, all models in each, up to 100 calls before each "
    "turn to warm up, fewer of what is slow. "
)


def measured(pipeline: Pipeline, batched: bool) -> dict[str, Any]:
    """Time all models by length, one text a time, and if asked for, at the usual length by batch and threads."""
    cases = [Case(tokens, 1, 1) for tokens in LENGTHS]
    cases += [Case(USUAL.tokens, batch, threads) for batch in BATCHES for threads in CORES] if batched else []
    return bench(pipeline, list(dict.fromkeys(cases)), PRICE, seconds=SECONDS)


def answers(found: dict[str, Any]) -> list[dict[str, object]]:
    """Give the usual case: quality, size, times, and how often faster than the teacher in torch."""
    rows, tokeniser = found["rows"], found["tokeniser"]
    teacher = next(row for row in rows if row["model"].startswith("teacher") and "1 network" in row["model"])
    alone = next(told["p50"] for told in tokeniser if told["tokens"] == USUAL.tokens)
    of_teacher = timing(teacher, USUAL)["p50"]
    table = []
    for row in rows:
        told = timing(row, USUAL)
        table.append(
            {
                "model": row["model"],
                "form": row["form"],
                "dev macro-F1": row["judging_macro_f1"],
                "test macro-F1": row["test_macro_f1"],
                "MB": row["bytes"] / 1e6,
                "mean ms": told["mean"],
                "deviation": told["deviation"],
                "p50": told["p50"],
                "p95": told["p95"],
                "p99": told["p99"],
                "times as fast": f"{of_teacher / told['p50']:.1f}",
                "times the tokeniser": f"{told['p50'] / alone:.2f}",
            }
        )
    return table


def lengths(found: dict[str, Any]) -> list[dict[str, object]]:
    """Give p50 and p99 by length."""
    table = []
    for row in found["rows"]:
        told = {tokens: timing(row, Case(tokens, 1, 1)) for tokens in LENGTHS}
        cells = {f"{n} tokens": f"{told[n]['p50']:.2f} / {told[n]['p99']:.2f}" for n in LENGTHS}
        table.append({"model": row["model"], "form": row["form"], **cells})
    return table


def batches(found: dict[str, Any]) -> list[dict[str, object]]:
    """Give texts a second by batch and threads."""
    table = []
    for row in found["rows"]:
        cells = {
            f"{t['batch']}, {t['threads']} thread{'s' if t['threads'] > 1 else ''}": round(t["texts_a_second"])
            for t in row["timings"]
            if t["tokens"] == USUAL.tokens
        }
        table.append({"model": row["model"], "form": row["form"], **cells})
    return table


def serving(found: dict[str, Any]) -> list[dict[str, object]]:
    """Give what a process needs, and what a million texts cost."""
    table = []
    for row in found["rows"]:
        told = timing(row, USUAL)
        table.append(
            {
                "model": row["model"],
                "form": row["form"],
                "parameters": row["parameters"] or None,
                "million multiply-adds": round(row["multiply_adds"] / 1e6, 1) if row["multiply_adds"] else None,
                "load, s": row.get("load_seconds"),
                "loaded, MB": round(row["loaded_mb"]) if "loaded_mb" in row else None,
                "peak after 1,000 texts, MB": round(row["peak_mb"]) if "peak_mb" in row else None,
                "CPU-seconds a million texts": round(told["cpu_seconds_a_million"]),
                f"cost at {PRICE} a core-hour": f"{told['cost_a_million']:.4f}",
            }
        )
    return table


def timing(row: dict[str, Any], case: Case) -> dict[str, float]:
    """Find a case among a model's timings."""
    return next(told for told in row["timings"] if Case(told["tokens"], told["batch"], told["threads"]) == case)


def recipes(pipeline: Pipeline) -> list[dict[str, object]]:
    """Give what the gate saw: every recipe's loss, size and time."""
    folder = pipeline.folder("compress")
    assert folder is not None
    table = []
    for model, told in json.loads((folder / TABLE).read_text(encoding="utf-8")).items():
        for trial in told["trials"]:
            table.append(
                {
                    "model": model,
                    "recipe": trial["recipe"],
                    "dev macro-F1": None if trial["why_not"] else trial["macro_f1"],
                    "lost of float's": ""
                    if trial["why_not"]
                    else f"{trial['lost']:+.2%} [{trial['lost_low']:+.2%}, {trial['lost_high']:+.2%}]",
                    "MB": trial["bytes"] / 1e6,
                    "p50 µs": None if trial["why_not"] else round(trial["p50_us"]),
                    "taken": "yes" if trial["taken"] else trial["why_not"] and "no kernel",
                }
            )
    return table


def fusion(pipeline: Pipeline) -> list[dict[str, object]]:
    """Say what each level of graph optimisation gains, network alone, 40 tokens, one thread."""
    levels = onnxruntime.GraphOptimizationLevel
    folder = pipeline.folder("distill")
    assert folder is not None
    table = []
    for kind in STUDENTS:
        student = load_student(folder / kind)
        plain = export(student.network.cpu().eval(), student.one_class)
        ways = {
            "as exported": (plain, levels.ORT_DISABLE_ALL),
            "basic passes (constants folded)": (plain, levels.ORT_ENABLE_BASIC),
            "all general passes": (plain, levels.ORT_ENABLE_ALL),
        }
        if kind == "transformer":
            fused = fused_transformer(student.network, student.network.encoder, student.one_class)
            ways["transformer fusion, all passes"] = (fused, levels.ORT_ENABLE_ALL)
        else:
            ways["folded when it is written, all passes"] = (student_graph(student).graph, levels.ORT_ENABLE_ALL)
        runs = {way: _runner(*how) for way, how in ways.items()}
        taken: dict[str, list[float]] = {way: [] for way in runs}
        for turn in range(TURNS + 1):
            for way, run in runs.items():
                for _ in range(CALLS // TURNS):
                    began = time.perf_counter()
                    run()
                    if turn:
                        taken[way].append(time.perf_counter() - began)
        first = float(np.median(taken["as exported"]))
        for way, found in taken.items():
            middle = float(np.median(found))
            table.append(
                {"model": kind, "graph": way, "p50 µs": round(middle * 1e6), "times as fast": f"{first / middle:.2f}"}
            )
    return table


def _runner(graph: bytes, level: Any) -> Callable[[], object]:
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = level
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
    ids = np.random.default_rng(0).integers(1000, 20000, (1, USUAL.tokens))
    given = {"input_ids": ids, "attention_mask": np.ones_like(ids)}
    return lambda: session.run(["probabilities"], given)


def main() -> None:
    """Run and publish."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("data"), help="the folder of data sets")
    parser.add_argument("--only", nargs="+", default=list(SETS), choices=SETS)
    parser.add_argument("--no-batches", action="store_true", help="leave the table of batches as it is")
    told = parser.parse_args()
    for name in told.only:
        folder = project(told.data, name, "students", work="students")
        settings = [*TEACHER, STEPS, f"students.kinds={json.dumps(STUDENTS)}", "compress.baselines=true"]
        settings = [s for s in settings if not s.startswith("baselines.kinds")] + [
            'baselines.kinds=["svm", "tfidf-logreg", "xgboost"]'
        ]
        pipeline = Pipeline(load_project(folder, settings))
        pipeline.run()
        batched = name in BATCHED and not told.no_batches
        found = measured(pipeline, batched)
        usual = f"{name}, one text of 40 tokens at a time, one thread. "
        vnni = "without VNNI" if saturates() else "with VNNI"
        publish(
            f"speed-answers-{name}",
            answers(found),
            NOTE + f"{usual}Milliseconds; a processor {vnni}. 'Times as "
            "fast' as one network of the teacher in torch; 'times the tokeniser' that the tokenizers library takes "
            "for the same texts.",
        )
        publish(f"speed-lengths-{name}", lengths(found), f"{name}, one text at a time, one thread: p50 / p99 in ms.")
        if batched:
            note = f"{name}, texts of 40 tokens: texts a second by batch and threads."
            publish(f"speed-batches-{name}", batches(found), note)
        publish(
            f"speed-serving-{name}",
            serving(found),
            f"{name}, {usual}Loading (imports included) and memory are those of a process that does nothing else.",
        )
        publish(
            f"speed-recipes-{name}",
            recipes(pipeline),
            f"{name}: what the gate saw on dev's judging half; the loss "
            "with its paired bootstrap interval, the time of one text of dev.",
        )
        publish(f"speed-fusion-{name}", fusion(pipeline), f"{name}, float, the network alone, 40 tokens, one thread.")


if __name__ == "__main__":
    main()
