"""The steps of the chain: what each reads, which settings and code shape it, and what it writes.

A step is a function of its inputs. It writes into a folder that becomes visible only when the step has finished.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from limbeck.config import Config, Project, Task
from limbeck.scorer import Scorer
from limbeck.store import Store

Figures = dict[str, float]


@dataclass(frozen=True)
class StepRun:
    """What a running step gets: the project, the store for its tasks, a folder to fill, and the folders it reads.

    `made_with` (versions of code and libraries) belongs into the key of every task that outlives the step. `before` is
    the folder of the step's last result, made from other inputs. With `force`, finished tasks of the step are done
    again as well, and nothing is taken from `before`.
    """

    project: Project
    store: Store
    folder: Path
    inputs: Mapping[str, Path]
    made_with: Mapping[str, object]
    before: Path | None = None
    force: bool = False

    def write_json(self, name: str, value: object) -> None:
        """Write plain values beside the step's other files."""
        (self.folder / name).write_text(json.dumps(value, indent=1, ensure_ascii=False), encoding="utf-8")


@dataclass(frozen=True)
class Step:
    """One step: `settings`, `code`, `libraries`, `files` and `after` are everything that its result depends on.

    `unmoved_by` names settings of those sections that it doesn't read. A step that `builds_on` settings is given its
    last result that was made with the same values of these.
    """

    name: str
    summary: str
    tasks: tuple[Task, ...]
    settings: tuple[str, ...]
    code: tuple[str, ...]
    after: tuple[str, ...]
    files: Callable[[Project], list[Path]]
    run: Callable[[StepRun], Figures]
    libraries: tuple[str, ...] = ()
    unmoved_by: tuple[str, ...] = ()
    builds_on: tuple[str, ...] = ()
    wanted: Callable[[Config], bool] = lambda config: True


def _no_files(project: Project) -> list[Path]:
    return []


def _data_files(project: Project) -> list[Path]:
    from limbeck.data.prepare import input_files

    return input_files(project)


def _run_data(run: StepRun) -> Figures:
    from limbeck.data.prepare import Prepared, prepare, read_corpus

    before = Prepared.load(run.before) if run.before else None
    result = prepare(read_corpus(run.project), run.project.config, before)
    result.prepared.save(run.folder)
    run.write_json("contradictions.json", [conflict.as_dict() for conflict in result.conflicts])
    test = result.prepared.test
    return {
        "rows_read": result.rows_read,
        "train_rows": len(result.prepared.train),
        "dev_rows": len(result.prepared.dev),
        "test_rows": len(test) if test else 0,
        "categories": len(result.prepared.train.names),
        "contradictions": len(result.conflicts),
        "empty_texts": result.empty_texts,
        "dropped_from_train": result.overlap_train,
        "dropped_from_dev": result.overlap_dev,
    }


def _run_sentences(run: StepRun) -> Figures:
    from limbeck.data.prepare import prepare_sentences, read_tagged

    prepared = prepare_sentences(read_tagged(run.project), run.project.config)
    prepared.save(run.folder)
    return {
        "train_sentences": len(prepared.train),
        "dev_sentences": len(prepared.dev),
        "test_sentences": len(prepared.test),
        "types": len(prepared.types),
        "dropped_from_train": prepared.overlap_train,
        "dropped_from_dev": prepared.overlap_dev,
    }


def _run_baselines(run: StepRun) -> Figures:
    from limbeck.baselines import train_baseline
    from limbeck.data.prepare import Prepared

    prepared = Prepared.load(run.inputs["data"])
    skipped: dict[str, dict[str, str]] = {}
    for kind in run.project.config.baselines.kinds:
        trained = train_baseline(kind, prepared.train, run.project.config, run.store, run.made_with, run.force)
        (run.folder / kind).mkdir()
        trained.scorer.save(run.folder / kind)
        skipped[kind] = trained.skipped
    run.write_json("skipped.json", skipped)
    return {f"{kind}.skipped_categories": len(names) for kind, names in skipped.items()}


def _encoder_files(project: Project) -> list[Path]:
    from limbeck.teach.encoders import WEIGHTS, find_encoder

    folder = find_encoder(project.config.encoder.name, project.root).folder
    return [file for name in ("config.json", "tokenizer.json", *WEIGHTS) if (file := folder / name).is_file()]


def _run_teach(run: StepRun) -> Figures:
    import numpy as np

    from limbeck.data.prepare import Prepared
    from limbeck.teach.encoders import find_encoder
    from limbeck.teach.kinds import KINDS
    from limbeck.teach.lessons import Lessons

    config = run.project.config
    encoder = find_encoder(config.encoder.name, run.project.root)
    lessons = Lessons(Prepared.load(run.inputs["data"]), config, encoder, run.store, run.made_with, run.force)
    taught = KINDS[config.teach.kind](lessons)
    taught.teacher.save(run.folder)
    np.save(run.folder / "out_of_fold.npy", taught.out_of_fold)
    run.write_json("skipped.json", {config.teach.kind: taught.skipped})
    run.write_json("tasks.json", taught.chosen)
    run.write_json("history.json", taught.history)
    return {"tasks": taught.tasks, "skipped_categories": len(taught.skipped)}


def _run_measure(run: StepRun) -> Figures:
    from limbeck.baselines import BaselineScorer
    from limbeck.data.prepare import Prepared
    from limbeck.measure.compare import measure_scorer

    config = run.project.config
    prepared = Prepared.load(run.inputs["data"])
    figures: Figures = {}

    def measure(name: str, scorer: Scorer) -> None:
        measured = measure_scorer(scorer, prepared, config)
        measured.save(run.folder / name)
        for part, found in measured.figures.items():
            figures.update({f"{name}.{part}.{figure}": value for figure, value in found.flat().items()})

    for kind in config.baselines.kinds:
        measure(kind, BaselineScorer.load(run.inputs["baselines"] / kind))
    if "teach" in run.inputs:
        from limbeck.teach.kinds import load_teacher

        measure(f"teacher-{config.teach.kind}", load_teacher(run.inputs["teach"], run.project.root, run.store))
    return figures


STEPS: tuple[Step, ...] = (
    Step(
        name="data",
        summary="read, clean, merge and split your files",
        tasks=("multilabel", "multiclass"),
        settings=("task", "seed", "data", "text", "split"),
        code=("limbeck.data", "limbeck.text"),
        after=(),
        files=_data_files,
        run=_run_data,
        libraries=("scikit-learn", "iterative-stratification"),
        unmoved_by=("data.titles", "data.pool"),
        builds_on=("seed", "split"),
    ),
    Step(
        name="data",
        summary="read, check and split your sentences",
        tasks=("ner",),
        settings=("task", "seed", "data", "split"),
        code=("limbeck.data", "limbeck.text"),
        after=(),
        files=_data_files,
        run=_run_sentences,
        libraries=("scikit-learn", "iterative-stratification"),
        unmoved_by=("data.titles", "data.pool"),
    ),
    Step(
        name="baselines",
        summary="train the simple models that others must beat",
        tasks=("multilabel", "multiclass"),
        settings=("task", "seed", "text", "baselines"),
        code=("limbeck.baselines", "limbeck.tune", "limbeck.measure", "limbeck.data.splits", "limbeck.text"),
        after=("data",),
        files=_no_files,
        run=_run_baselines,
        libraries=("scikit-learn", "scipy", "xgboost-cpu", "xgboost", "optuna", "iterative-stratification"),
    ),
    Step(
        name="teach",
        summary="teach a large encoder your labels",
        tasks=("multilabel", "multiclass"),
        settings=("task", "seed", "text", "encoder", "teach", "probe", "train", "measure"),
        code=("limbeck.teach", "limbeck.measure", "limbeck.data.splits", "limbeck.text"),
        after=("data",),
        files=_encoder_files,
        run=_run_teach,
        libraries=("torch", "transformers", "tokenizers", "accelerate", "scikit-learn"),
        unmoved_by=("train.checkpoint_seconds",),
        wanted=lambda config: config.teach.kind != "none",
    ),
    Step(
        name="measure",
        summary="tune thresholds on one half of dev, judge on the other and on test",
        tasks=("multilabel", "multiclass"),
        settings=("task", "seed", "measure"),
        code=("limbeck.measure",),
        after=("data", "baselines", "teach"),
        files=_no_files,
        run=_run_measure,
    ),
)
