"""The step that turns students into bundles."""

from __future__ import annotations

import json

from limbeck.config import Config
from limbeck.steps.pool import distills
from limbeck.steps.step import NETWORKS, Figures, Step, StepRun, no_files
from limbeck.store import content_of

# Texts of the pool whose word pieces stay in the vocabulary.
READ = 200_000
NETWORK_KINDS = ("bag", "cnn", "bilstm", "transformer")
CHOSEN, TABLE = "chosen.json", "trials.json"


def _run_compress(run: StepRun) -> Figures:
    from limbeck.compress.compress import compress_student, fastest_good_one
    from limbeck.data.prepare import Prepared
    from limbeck.measure.compare import load_measured
    from limbeck.pseudo.guesses import PoolScores
    from limbeck.runtime.processor import saturates
    from limbeck.students.scorer import load_student

    config, steps = run.project.config, run.inputs
    prepared = Prepared.load(steps["data"])
    measured = load_measured(steps["measure"])
    scores = PoolScores.load(steps["pool"], steps["pseudo"], steps["teach"], steps.get("calibrate"))
    texts, _ = scores.sample(READ, config.seed)
    origin = {name: content_of(folder) for name, folder in steps.items() if name in ("data", "teach", "distill")}
    made = [
        compress_student(
            f"{run.project.root.resolve().name} {kind}",
            load_student(steps["distill"] / kind),
            measured[f"student-{kind}"],
            measured[f"teacher-{config.teach.kind}"],
            prepared,
            texts,
            config,
            origin,
            run.folder / kind,
            saturates(),
        )
        for kind in config.students.kinds
        if kind in NETWORK_KINDS
    ]
    chosen = fastest_good_one(made, config.compress.student_budget)
    run.write_json(CHOSEN, {"student": chosen.kind})
    figures: Figures = {}
    table: dict[str, object] = {}
    for one in made:
        taken = one.passed.taken
        table[one.kind] = {
            "why": one.passed.why,
            "gap": one.gap,
            "tokens": one.tokens,
            "trials": [trial.as_dict() for trial in one.passed.trials],
        }
        size = sum(file.stat().st_size for file in one.folder.iterdir())
        told = {"macro_f1": taken.macro_f1, "lost": taken.lost, "bytes": size, "p50_us": taken.p50_us, "gap": one.gap}
        figures |= {f"{one.kind}.{name}": value for name, value in told.items()}
    (run.folder / TABLE).write_text(json.dumps(table, indent=1), encoding="utf-8")
    return figures


def _has_networks(config: Config) -> bool:
    return distills(config) and any(kind in NETWORK_KINDS for kind in config.students.kinds)


COMPRESS = Step(
    name="compress",
    summary="turn students into small, fast bundles",
    tasks=("multilabel", "multiclass"),
    settings=("task", "seed", "compress", "measure", "data.titles"),
    code=tuple(f"limbeck.{name}" for name in ("compress", "runtime", "students", "measure", "text")),
    after=("data", "teach", "calibrate", "pool", "pseudo", "distill", "measure"),
    files=no_files,
    run=_run_compress,
    libraries=(*NETWORKS, "onnx"),
    wanted=_has_networks,
)
