"""The step that turns students and baselines into bundles."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from limbeck.config import Config
from limbeck.errors import LimbeckError, RunError
from limbeck.steps.pool import distills
from limbeck.steps.step import NETWORKS, WORD_COUNTERS, Figures, Step, StepRun, no_files
from limbeck.store import content_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from limbeck.compress.compress import Compressed
    from limbeck.compress.draft import Trained

# Texts of the pool whose word pieces stay in the vocabulary.
READ = 200_000
CHOSEN, TABLE = "chosen.json", "trials.json"


def _run_compress(run: StepRun) -> Figures:
    from limbeck.compress.compress import compress_model, fastest_good_one
    from limbeck.data.prepare import Prepared
    from limbeck.measure.compare import load_measured
    from limbeck.runtime.processor import saturates

    config, steps = run.project.config, run.inputs
    prepared = Prepared.load(steps["data"])
    measured = load_measured(steps["measure"])
    texts = _texts(run)
    origin = {name: content_of(folder) for name, folder in steps.items() if name in ("data", "teach", "distill")}
    made, refused = [], {}
    for name, told in measured.items():
        if name in config.baselines.kinds and not config.compress.baselines:
            continue
        trained = _trained(run, name)
        if isinstance(trained, LimbeckError):
            refused[folder_of(name)] = f"There is no bundle: {trained.message}"
        elif trained is not None:
            bundle = compress_model(
                f"{run.project.root.resolve().name} {folder_of(name)}",
                folder_of(name),
                trained,
                told,
                measured.get(f"teacher-{config.teach.kind}"),
                prepared,
                texts,
                config,
                origin,
                run.folder / folder_of(name),
                saturates(),
                pool_size(run),
            )
            made.append(bundle)
    if not made:
        raise RunError(" ".join(refused.values()), "Add another student or baseline.")
    chosen, why = fastest_good_one(made, config.compress.student_budget)
    run.write_json(CHOSEN, {"model": chosen.kind, "why": why})
    table, figures = table_of(made)
    table |= {name: {"why": why, "trials": []} for name, why in refused.items()}
    (run.folder / TABLE).write_text(json.dumps(table, indent=1), encoding="utf-8")
    return figures


def chosen_in(folder: Path) -> Path:
    """Give the bundle that was chosen, in the result of the step."""
    model: str = json.loads((folder / CHOSEN).read_text(encoding="utf-8"))["model"]
    return folder / model


def table_of(made: Sequence[Compressed]) -> tuple[dict[str, object], Figures]:
    """Give all that was tried, by model, and the figures of what was taken."""
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
    return table, figures


def folder_of(measured: str) -> str:
    """Give the folder of a measured model's bundle: students have plain names, baselines say that they are such."""
    return measured.removeprefix("student-") if measured.startswith("student-") else f"baseline-{measured}"


def _trained(run: StepRun, name: str) -> Trained | LimbeckError | None:
    """Give a measured model as a graph, or why there is none; None for the teacher, whose students are what is wanted.

    A baseline can be too large for a graph. It is no reason to go without the others.
    """
    from limbeck.baselines import BaselineScorer
    from limbeck.baselines.kinds import KINDS
    from limbeck.compress.draft import student_graph
    from limbeck.compress.words import words_graph
    from limbeck.students.scorer import load_student

    if name.startswith("teacher-"):
        return None
    student = name.removeprefix("student-")
    folder = run.inputs["baselines" if student == name else "distill"] / student
    if student not in KINDS:
        return student_graph(load_student(folder))
    try:
        return words_graph(BaselineScorer.load(folder))
    except LimbeckError as error:
        return error


def pool_size(run: StepRun) -> int:
    """Count the different texts, or sentences, of the pool."""
    file = run.inputs["pool"] / "figures.json" if "pool" in run.inputs else None
    if file is None:
        return 0
    told = json.loads(file.read_text(encoding="utf-8"))["figures"]
    return int(told.get("texts", told.get("sentences", 0)))


def _texts(run: StepRun) -> list[str]:
    """Draw texts of the pool, if there is one."""
    from limbeck.pseudo.guesses import PoolScores

    steps = run.inputs
    if "pseudo" not in steps:
        return []
    scores = PoolScores.load(steps["pool"], steps["pseudo"], steps["teach"], steps.get("calibrate"))
    texts, _ = scores.sample(READ, run.project.config.seed)
    return texts


def _has_models(config: Config) -> bool:
    return distills(config) or (config.compress.baselines and bool(config.baselines.kinds))


COMPRESS = Step(
    name="compress",
    summary="turn students and baselines into small, fast bundles",
    tasks=("multilabel", "multiclass"),
    settings=("task", "seed", "compress", "measure", "data.titles"),
    code=tuple(f"limbeck.{name}" for name in ("compress", "runtime", "students", "baselines", "measure", "text")),
    after=("data", "baselines", "teach", "calibrate", "pool", "pseudo", "distill", "measure"),
    files=no_files,
    run=_run_compress,
    libraries=(*NETWORKS, *WORD_COUNTERS, "onnx", "onnxmltools", "openvino"),
    wanted=_has_models,
)
