"""Steps that make the teacher: adapt, teach, calibrate."""

from __future__ import annotations

import os
from itertools import compress
from pathlib import Path

from limbeck.config import Project
from limbeck.errors import BadSetting
from limbeck.steps.pool import pool_files
from limbeck.steps.step import NETWORKS, WORD_COUNTERS, Figures, Step, StepRun, without_baselines


def encoder_files(project: Project) -> list[Path]:
    """Give the files of the encoder, or of the model, that a teacher is built on."""
    from limbeck.teach.borrowed import is_teacher
    from limbeck.teach.encoders import files_of, find_encoder

    config = project.config
    kinds = config.teach.kinds
    named = [config.encoder.name] * (kinds != ["folder"]) + [config.teach.folder] * ("folder" in kinds)
    if not all(named):
        raise BadSetting("A teacher of the kind 'folder' needs a model.", "Set teach.folder to a model's folder.")
    files: list[Path] = []
    for name in named:
        folder = project.path(name)
        if is_teacher(folder):
            made = [file for file in folder.rglob("*") if file.is_file()]
            files += sorted(file for file in made if file.name not in ("manifest.json", "figures.json"))
        else:
            files += files_of(find_encoder(name, project.root).folder)
    return files


def _run_adapt(run: StepRun) -> Figures:
    import shutil

    from limbeck.data.pool import sample_pool
    from limbeck.data.prepare import Prepared
    from limbeck.data.splits import without_texts_of
    from limbeck.teach.adapt import adapted
    from limbeck.teach.encoders import find_encoder
    from limbeck.text import Cleaner

    config, prepared = run.project.config, Prepared.load(run.inputs["data"])
    cleaner = Cleaner(tuple(config.text.clean))
    drawn = sample_pool(pool_files(run.project), config.data, cleaner, config.adapt.rows, config.seed)
    judges = [*prepared.dev.texts, *(prepared.test.texts if prepared.test else [])]
    texts = list(dict.fromkeys(compress(drawn, without_texts_of(drawn, judges))))
    encoder = find_encoder(config.encoder.name, run.project.root)
    folder, found = adapted(encoder, texts, config, run.store, run.made_with, run.force)
    shutil.copytree(folder, run.folder / "encoder", copy_function=os.link)
    run.write_json("history.json", {"adapt": found["history"]})
    return {name: found[name] for name in ("texts", "steps", "loss_before", "loss_after")}


def _run_teach(run: StepRun) -> Figures:
    import numpy as np

    from limbeck.data.prepare import Prepared
    from limbeck.teach.borrowed import is_teacher
    from limbeck.teach.card import read_card
    from limbeck.teach.encoders import find_encoder
    from limbeck.teach.kinds import KINDS
    from limbeck.teach.lessons import Lessons

    config, root = run.project.config, run.project.root
    name = config.encoder.name
    if config.teach.kinds == ["folder"]:
        borrowed = run.project.path(config.teach.folder)
        name = read_card(borrowed, root)[0].encoder.name if is_teacher(borrowed) else config.teach.folder
    if "adapt" in run.inputs:
        name = (run.inputs["adapt"] / "encoder").relative_to(root).as_posix()
    lessons = Lessons(
        Prepared.load(run.inputs["data"]),
        config,
        find_encoder(name, root),
        run.store,
        run.made_with,
        run.force,
        root,
        run.executor,
    )
    taught = KINDS[config.teach.kind](lessons)
    taught.teacher.save(run.folder)
    np.save(run.folder / "out_of_fold.npy", taught.out_of_fold)
    run.write_json("skipped.json", {config.teach.kind: taught.skipped})
    run.write_json("tasks.json", taught.chosen)
    run.write_json("history.json", taught.history)
    return {"tasks": taught.tasks, "skipped_categories": len(taught.skipped)}


def _rated_pool_files(project: Project) -> list[Path]:
    return pool_files(project) if project.config.calibrate.rates == "pool" else []


def _run_calibrate(run: StepRun) -> Figures:
    from limbeck.data.pool import sample_pool
    from limbeck.data.prepare import Prepared
    from limbeck.data.splits import without_texts_of
    from limbeck.teach.calibrate import calibrate
    from limbeck.teach.kinds import load_teacher
    from limbeck.text import Cleaner

    config = run.project.config
    prepared = Prepared.load(run.inputs["data"])
    pool: list[str] = []
    if config.calibrate.rates == "pool":
        files, cleaner = pool_files(run.project), Cleaner(tuple(config.text.clean))
        drawn = sample_pool(files, config.data, cleaner, config.calibrate.pool_rows, config.seed)
        # Of what it has learnt a teacher is too sure.
        pool = list(compress(drawn, without_texts_of(drawn, prepared.train.texts)))
    teacher = load_teacher(run.inputs["teach"], run.project.root, run.store)
    found = calibrate(teacher, prepared, config, pool)
    run.write_json("calibration.json", found.calibration.as_dict())
    run.write_json("reliability.json", found.reliability)
    run.write_json("rates.json", found.rates)
    return found.figures


ADAPT = Step(
    name="adapt",
    summary="let the encoder read the pool",
    tasks=("multilabel", "multiclass"),
    settings=("seed", "data", "text", "encoder", "adapt", "train.precision"),
    code=(
        *(f"limbeck.teach.{name}" for name in ("adapt", "encoders", "network")),
        *(f"limbeck.data.{name}" for name in ("pool", "records", "lines", "splits")),
        "limbeck.training",
        "limbeck.text",
    ),
    after=("data",),
    files=lambda project: [*pool_files(project), *encoder_files(project)],
    run=_run_adapt,
    libraries=NETWORKS,
    unmoved_by=tuple(
        f"data.{name}" for name in ("titles", "parents", "labels", "dev", "test", "categories", "near_duplicates")
    ),
    wanted=lambda config: config.adapt.on and not {"none", "folder"}.issuperset(config.teach.kinds),
)


TEACH = Step(
    name="teach",
    summary="teach a large encoder your labels",
    tasks=("multilabel", "multiclass"),
    settings=("task", "seed", "text", "encoder", "teach", "probe", "train", "baselines", "measure"),
    code=tuple(
        f"limbeck.{name}"
        for name in ("teach", "training", "runtime.batches", "baselines", "measure", "data.splits", "text")
    ),
    after=("data", "adapt"),
    files=encoder_files,
    run=_run_teach,
    libraries=(*NETWORKS, *WORD_COUNTERS),
    unmoved_by=("train.checkpoint_seconds", "baselines.kinds"),
    idle=lambda config: without_baselines(config.teach.kinds),
    wanted=lambda config: config.teach.kind != "none",
)


CALIBRATE = Step(
    name="calibrate",
    summary="make the teacher's probabilities mean what they say",
    tasks=("multilabel", "multiclass"),
    settings=("task", "seed", "data", "text", "calibrate", "measure"),
    code=(
        *(f"limbeck.data.{name}" for name in ("pool", "records", "lines", "splits")),
        *(f"limbeck.{name}" for name in ("teach", "training", "runtime.batches", "baselines", "measure", "text")),
    ),
    after=("data", "teach"),
    files=_rated_pool_files,
    run=_run_calibrate,
    libraries=("torch", "transformers", *WORD_COUNTERS),
    unmoved_by=tuple(
        f"data.{name}" for name in ("titles", "parents", "labels", "dev", "test", "categories", "near_duplicates")
    ),
    wanted=lambda config: (
        config.teach.kind != "none" and (config.calibrate.method != "none" or config.calibrate.rates == "pool")
    ),
)
