"""Steps that read your unlabelled texts: pool, the teacher's guesses about it, and which of them are kept."""

from __future__ import annotations

from pathlib import Path

from limbeck.config import Config, Project
from limbeck.errors import FileMissing, Place
from limbeck.steps.step import NETWORKS, WORD_COUNTERS, Figures, Step, StepRun, no_files


def pool_files(project: Project) -> list[Path]:
    """Give the files of the pool, all of which must be there."""
    files = [project.path(name) for name in project.config.data.pool]
    for file in files:
        if not file.is_file():
            raise FileMissing(
                f"There is no file {file} with texts for the pool.",
                "Set data.pool to your unlabelled texts; with data.pool = [] there is a teacher, but no student.",
                Place(file),
            )
    return files


def distills(config: Config) -> bool:
    """Say whether there is a teacher, a pool, and a student to learn from both."""
    return config.teach.kind != "none" and bool(config.data.pool) and bool(config.students.kinds)


def _run_pool(run: StepRun) -> Figures:
    from limbeck.data.prepare import Prepared
    from limbeck.pseudo.gather import gather
    from limbeck.text import Cleaner

    config = run.project.config
    cleaner = Cleaner(tuple(config.text.clean))
    prepared = Prepared.load(run.inputs["data"])
    return gather(pool_files(run.project), config.data, cleaner, prepared, run.folder).figures


def _run_pseudo(run: StepRun) -> Figures:
    import numpy as np

    from limbeck.compress.scoring import EIGHT_BITS, ExportedTeacher
    from limbeck.data.prepare import Prepared
    from limbeck.data.splits import TUNING
    from limbeck.pseudo.scores import score_pool, score_texts
    from limbeck.teach.kinds import load_teacher

    # Not with the store: a probe would keep the features of the whole pool there.
    teacher = load_teacher(run.inputs["teach"], run.project.root)
    tuning = Prepared.load(run.inputs["data"]).dev_half(TUNING)
    np.save(run.folder / "tuning.npy", score_texts(teacher, teacher.labels, tuning.texts))
    pool, identity = run.inputs["pool"], teacher.identity()
    scoring = run.project.config.pseudo.scoring
    faster = ExportedTeacher(teacher, eight_bits=scoring == "auto")
    # Buckets that were scored in 8 bits are no use to whoever wants exact numbers.
    made_with = {**run.made_with, "scoring": scoring}
    figures = score_pool(pool, run.folder, faster, identity, run.store, made_with, run.force, run.executor)
    return figures | {"eight_bits": float(faster.recipe == EIGHT_BITS), "likeness": faster.likeness}


def _run_select(run: StepRun) -> Figures:
    from limbeck.data.parents import check_parents
    from limbeck.data.prepare import Prepared
    from limbeck.pseudo.guesses import PoolScores
    from limbeck.pseudo.select import select

    steps = run.inputs
    scores = PoolScores.load(steps["pool"], steps["pseudo"], steps["teach"], steps.get("calibrate"))
    check_parents(run.project, scores.labels)
    return select(scores, Prepared.load(steps["data"]), run.project.config, run.folder)


POOL = Step(
    name="pool",
    summary="read the pool, each different text once",
    tasks=("multilabel", "multiclass"),
    settings=("data", "text"),
    code=(
        *(f"limbeck.pseudo.{name}" for name in ("gather", "buckets", "thin")),
        *(f"limbeck.data.{name}" for name in ("pool", "near", "records", "lines")),
        "limbeck.text",
    ),
    after=("data",),
    files=pool_files,
    run=_run_pool,
    unmoved_by=("data.titles", "data.parents", "data.labels", "data.dev", "data.test", "data.categories"),
    wanted=distills,
)


PSEUDO = Step(
    name="pseudo",
    summary="let the teacher score the pool",
    tasks=("multilabel", "multiclass"),
    settings=("pseudo.scoring",),
    code=(
        *(f"limbeck.pseudo.{name}" for name in ("scores", "buckets")),
        *(f"limbeck.{name}" for name in ("teach", "training", "runtime", "baselines", "text")),
        *(
            f"limbeck.compress.{name}"
            for name in ("scoring", "draft", "teachers", "export", "fuse", "eight_bits", "tables")
        ),
    ),
    after=("data", "pool", "teach"),
    files=no_files,
    run=_run_pseudo,
    libraries=(*NETWORKS, *WORD_COUNTERS),
    wanted=distills,
)


SELECT = Step(
    name="select",
    summary="choose the guesses that students learn from",
    tasks=("multilabel", "multiclass"),
    settings=("task", "seed", "pseudo", "measure.thresholds", "measure.min_positives", "data.parents"),
    code=("limbeck.pseudo", "limbeck.data.parents", "limbeck.measure", "limbeck.runtime.confidence"),
    after=("data", "pool", "pseudo", "teach", "calibrate"),
    files=no_files,
    run=_run_select,
    libraries=("scipy",),
    wanted=distills,
)
