"""Steps that read your labels: data, and the baselines on them."""

from __future__ import annotations

from pathlib import Path

from limbeck.config import Project
from limbeck.steps.step import WORD_COUNTERS, Figures, Step, StepRun, no_files


def _data_files(project: Project) -> list[Path]:
    from limbeck.data.prepare import input_files

    return input_files(project)


def _run_data(run: StepRun) -> Figures:
    from limbeck.data.parents import check_parents
    from limbeck.data.prepare import Prepared, prepare, read_corpus

    before = [Prepared.load(folder) for folder in run.before]
    result = prepare(read_corpus(run.project), run.project.config, before)
    check_parents(run.project, result.prepared.train.names)
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
    from limbeck.data.tagged import prepare_sentences, read_tagged

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


DATA = Step(
    name="data",
    summary="read, clean, merge and split your files",
    tasks=("multilabel", "multiclass"),
    settings=("task", "seed", "data", "text", "split"),
    code=("limbeck.data", "limbeck.text"),
    after=(),
    files=_data_files,
    run=_run_data,
    libraries=("scikit-learn", "iterative-stratification"),
    unmoved_by=("data.titles", "data.parents", "data.pool", "data.near_duplicates"),
    builds_on=("task", "seed", "split"),
)


SENTENCES = Step(
    name="data",
    summary="read, check and split your sentences",
    tasks=("ner",),
    settings=("task", "seed", "data", "split"),
    code=("limbeck.data", "limbeck.text"),
    after=(),
    files=_data_files,
    run=_run_sentences,
    libraries=("scikit-learn", "iterative-stratification"),
    unmoved_by=("data.titles", "data.parents", "data.pool", "data.near_duplicates"),
)


BASELINES = Step(
    name="baselines",
    summary="train the simple models that others must beat",
    tasks=("multilabel", "multiclass"),
    settings=("task", "seed", "text", "baselines"),
    code=("limbeck.baselines", "limbeck.measure", "limbeck.data.splits", "limbeck.text"),
    after=("data",),
    files=no_files,
    run=_run_baselines,
    libraries=WORD_COUNTERS,
)
