"""The step that trains the students."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

from limbeck.config import Project
from limbeck.steps.pool import distills
from limbeck.steps.step import NETWORKS, WORD_COUNTERS, Figures, Step, StepRun, without_baselines


def student_files(project: Project) -> list[Path]:
    """Give files that a student starts from: word vectors, a smaller encoder."""
    from limbeck.teach.encoders import files_of, find_encoder

    settings = project.config.students
    named = [part.strip() for entry in settings.vector_files for part in entry.split("+")]
    files = [project.path(name) for name in named] if settings.vectors == "files" else []
    if settings.encoder and "transformer" in settings.kinds:
        files += files_of(find_encoder(settings.encoder, project.root).folder)
    return files


def _run_distill(run: StepRun) -> Figures:
    import shutil

    from limbeck.baselines.kinds import KINDS as BASELINES
    from limbeck.compress.scoring import ExportedTeacher
    from limbeck.data.prepare import Prepared
    from limbeck.distill.course import Course
    from limbeck.distill.simple import train_simple
    from limbeck.distill.train import train_student

    course = Course(
        Prepared.load(run.inputs["data"]),
        run.project.config,
        run.inputs["teach"],
        run.inputs["select"],
        run.project.root,
        run.store,
        run.made_with,
        run.force,
        run.inputs.get("calibrate"),
        partial(ExportedTeacher, eight_bits=run.project.config.pseudo.scoring == "auto"),
    )
    figures: Figures = {}
    history: dict[str, list[dict[str, object]]] = {}
    for kind in run.project.config.students.kinds:
        if kind in BASELINES:
            (run.folder / kind).mkdir()
            train_simple(kind, course).scorer.save(run.folder / kind)
            continue
        graduate = train_student(kind, course)
        shutil.copytree(graduate.folder / "student", run.folder / kind, copy_function=os.link)
        history[kind] = graduate.outcome["history"]
        told = ("parameters", "rows", "labelled", "seconds", "score")
        figures |= {f"{kind}.{name}": graduate.outcome[name] for name in told}
    run.write_json("history.json", history)
    return figures


DISTILL = Step(
    name="distill",
    summary="let small students learn from the teacher",
    tasks=("multilabel", "multiclass"),
    settings=("task", "seed", "text", "encoder", "pseudo", "students", "distill", "baselines", "measure"),
    code=tuple(
        f"limbeck.{name}"
        for name in (
            "distill",
            "students",
            "training",
            "runtime.batches",
            "baselines",
            "teach",
            "measure",
            "pseudo",
            "runtime.confidence",
            "data.splits",
            "text",
        )
    ),
    after=("data", "teach", "calibrate", "select"),
    files=student_files,
    run=_run_distill,
    libraries=(*NETWORKS, *WORD_COUNTERS),
    unmoved_by=("distill.checkpoint_seconds", "baselines.kinds"),
    idle=lambda config: without_baselines(config.students.kinds),
    wanted=distills,
)
