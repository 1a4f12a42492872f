"""The steps of the chain: what each reads, which settings and code shape it, and what it writes.

A step is a function of its inputs. It writes into a folder that becomes visible only when the step has finished.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import compress
from pathlib import Path

from limbeck.config import Config, Project, Task
from limbeck.errors import BadSetting, FileMissing, Place
from limbeck.scorer import Scorer
from limbeck.store import Store

Figures = dict[str, float]

# What baselines are made with.
WORD_COUNTERS = ("scikit-learn", "scipy", "xgboost-cpu", "xgboost", "optuna", "iterative-stratification")


@dataclass(frozen=True)
class StepRun:
    """What a running step gets: the project, the store for its tasks, a folder to fill, and the folders it reads.

    `made_with` (versions of code and libraries) belongs into the key of every task that outlives the step. `before` are
    folders of the step's last results, newest first, made from other inputs. With `force`, finished tasks of the step
    are done again as well, and there is nothing in `before`.
    """

    project: Project
    store: Store
    folder: Path
    inputs: Mapping[str, Path]
    made_with: Mapping[str, object]
    before: tuple[Path, ...] = ()
    force: bool = False

    def write_json(self, name: str, value: object) -> None:
        """Write plain values beside the step's other files."""
        (self.folder / name).write_text(json.dumps(value, indent=1, ensure_ascii=False), encoding="utf-8")


@dataclass(frozen=True)
class Step:
    """One step: `settings`, `code`, `libraries`, `files` and `after` are everything that its result depends on.

    `unmoved_by` names settings of those sections that it doesn't read. A step that `builds_on` settings is given its
    last results that were made with the same values of these.
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

    before = [Prepared.load(folder) for folder in run.before]
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


def _pool_files(project: Project) -> list[Path]:
    files = [project.path(name) for name in project.config.data.pool]
    for file in files:
        if not file.is_file():
            raise FileMissing(
                f"There is no file {file} with texts for the pool.",
                "Set data.pool to your unlabelled texts; with data.pool = [] there is a teacher, but no student.",
                Place(file),
            )
    return files


def _encoder_files(project: Project) -> list[Path]:
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
    drawn = sample_pool(_pool_files(run.project), config.data, cleaner, config.adapt.rows, config.seed)
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
        Prepared.load(run.inputs["data"]), config, find_encoder(name, root), run.store, run.made_with, run.force, root
    )
    taught = KINDS[config.teach.kind](lessons)
    taught.teacher.save(run.folder)
    np.save(run.folder / "out_of_fold.npy", taught.out_of_fold)
    run.write_json("skipped.json", {config.teach.kind: taught.skipped})
    run.write_json("tasks.json", taught.chosen)
    run.write_json("history.json", taught.history)
    return {"tasks": taught.tasks, "skipped_categories": len(taught.skipped)}


def _rated_pool_files(project: Project) -> list[Path]:
    return _pool_files(project) if project.config.calibrate.rates == "pool" else []


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
        files, cleaner = _pool_files(run.project), Cleaner(tuple(config.text.clean))
        drawn = sample_pool(files, config.data, cleaner, config.calibrate.pool_rows, config.seed)
        # Of what it has learnt a teacher is too sure.
        pool = list(compress(drawn, without_texts_of(drawn, prepared.train.texts)))
    teacher = load_teacher(run.inputs["teach"], run.project.root, run.store)
    found = calibrate(teacher, prepared, config, pool)
    run.write_json("calibration.json", found.calibration.as_dict())
    run.write_json("reliability.json", found.reliability)
    run.write_json("rates.json", found.rates)
    return found.figures


def _distills(config: Config) -> bool:
    return config.teach.kind != "none" and bool(config.data.pool) and bool(config.students.kinds)


def _student_files(project: Project) -> list[Path]:
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


def _run_pool(run: StepRun) -> Figures:
    from limbeck.data.prepare import Prepared
    from limbeck.pseudo.gather import gather
    from limbeck.text import Cleaner

    config = run.project.config
    cleaner = Cleaner(tuple(config.text.clean))
    prepared = Prepared.load(run.inputs["data"])
    return gather(_pool_files(run.project), config.data, cleaner, prepared, run.folder).figures


def _run_pseudo(run: StepRun) -> Figures:
    import numpy as np

    from limbeck.data.prepare import Prepared
    from limbeck.data.splits import TUNING
    from limbeck.pseudo.scores import score_pool, score_texts
    from limbeck.teach.kinds import load_teacher

    # Not with the store: a probe would keep the features of the whole pool there.
    teacher = load_teacher(run.inputs["teach"], run.project.root)
    tuning = Prepared.load(run.inputs["data"]).dev_half(TUNING)
    np.save(run.folder / "tuning.npy", score_texts(teacher, teacher.labels, tuning.texts))
    pool, identity = run.inputs["pool"], teacher.identity()
    return score_pool(pool, run.folder, teacher, identity, run.store, run.made_with, run.force)


def _run_select(run: StepRun) -> Figures:
    from limbeck.data.prepare import Prepared
    from limbeck.pseudo.guesses import PoolScores
    from limbeck.pseudo.select import select

    steps = run.inputs
    scores = PoolScores.load(steps["pool"], steps["pseudo"], steps["teach"], steps.get("calibrate"))
    return select(scores, Prepared.load(steps["data"]), run.project.config, run.folder)


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
        from limbeck.teach.calibrate import load_calibrated

        teacher = load_calibrated(run.inputs["teach"], run.inputs.get("calibrate"), run.project.root, run.store)
        measure(f"teacher-{config.teach.kind}", teacher)
    if "distill" in run.inputs:
        from limbeck.distill.students import load_distilled

        for student in config.students.kinds:
            measure(f"student-{student}", load_distilled(run.inputs["distill"] / student))
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
        builds_on=("task", "seed", "split"),
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
        libraries=WORD_COUNTERS,
    ),
    Step(
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
        files=lambda project: [*_pool_files(project), *_encoder_files(project)],
        run=_run_adapt,
        libraries=("torch", "transformers", "tokenizers", "accelerate"),
        unmoved_by=("data.titles", "data.labels", "data.dev", "data.test", "data.categories"),
        wanted=lambda config: config.adapt.on and not {"none", "folder"}.issuperset(config.teach.kinds),
    ),
    Step(
        name="teach",
        summary="teach a large encoder your labels",
        tasks=("multilabel", "multiclass"),
        settings=("task", "seed", "text", "encoder", "teach", "probe", "train", "baselines", "measure"),
        code=tuple(
            f"limbeck.{name}" for name in ("teach", "training", "baselines", "tune", "measure", "data.splits", "text")
        ),
        after=("data", "adapt"),
        files=_encoder_files,
        run=_run_teach,
        libraries=("torch", "transformers", "tokenizers", "accelerate", *WORD_COUNTERS),
        unmoved_by=("train.checkpoint_seconds", "baselines.kinds"),
        wanted=lambda config: config.teach.kind != "none",
    ),
    Step(
        name="calibrate",
        summary="make the teacher's probabilities mean what they say",
        tasks=("multilabel", "multiclass"),
        settings=("task", "seed", "data", "text", "calibrate", "measure"),
        code=(
            *(f"limbeck.data.{name}" for name in ("pool", "records", "lines", "splits")),
            *(f"limbeck.{name}" for name in ("teach", "training", "measure", "text")),
        ),
        after=("data", "teach"),
        files=_rated_pool_files,
        run=_run_calibrate,
        libraries=("torch", "transformers", "scipy"),
        unmoved_by=("data.titles", "data.labels", "data.dev", "data.test", "data.categories"),
        wanted=lambda config: (
            config.teach.kind != "none" and (config.calibrate.method != "none" or config.calibrate.rates == "pool")
        ),
    ),
    Step(
        name="pool",
        summary="read the pool, each different text once",
        tasks=("multilabel", "multiclass"),
        settings=("data", "text"),
        code=(
            *(f"limbeck.pseudo.{name}" for name in ("gather", "buckets")),
            *(f"limbeck.data.{name}" for name in ("pool", "records", "lines")),
            "limbeck.text",
        ),
        after=("data",),
        files=_pool_files,
        run=_run_pool,
        unmoved_by=("data.titles", "data.labels", "data.dev", "data.test", "data.categories"),
        wanted=_distills,
    ),
    Step(
        name="pseudo",
        summary="let the teacher score the pool",
        tasks=("multilabel", "multiclass"),
        settings=(),
        code=(
            *(f"limbeck.pseudo.{name}" for name in ("scores", "buckets")),
            "limbeck.teach",
            "limbeck.training",
            "limbeck.text",
        ),
        after=("data", "pool", "teach"),
        files=_no_files,
        run=_run_pseudo,
        libraries=("torch", "transformers", "tokenizers"),
        wanted=_distills,
    ),
    Step(
        name="select",
        summary="choose the guesses that students learn from",
        tasks=("multilabel", "multiclass"),
        settings=("task", "seed", "pseudo", "measure.thresholds", "measure.min_positives"),
        code=("limbeck.pseudo", "limbeck.measure"),
        after=("data", "pool", "pseudo", "teach", "calibrate"),
        files=_no_files,
        run=_run_select,
        libraries=("scipy",),
        wanted=_distills,
    ),
    Step(
        name="distill",
        summary="let small students learn from the teacher",
        tasks=("multilabel", "multiclass"),
        settings=("task", "seed", "text", "encoder", "students", "distill", "baselines", "measure"),
        code=tuple(
            f"limbeck.{name}"
            for name in ("distill", "students", "training", "baselines", "teach", "measure", "data.splits", "text")
        ),
        after=("data", "teach", "select"),
        files=_student_files,
        run=_run_distill,
        libraries=("torch", "transformers", "tokenizers", "accelerate", *WORD_COUNTERS),
        unmoved_by=("distill.checkpoint_seconds",),
        wanted=_distills,
    ),
    Step(
        name="measure",
        summary="tune thresholds on one half of dev, judge on the other and on test",
        tasks=("multilabel", "multiclass"),
        settings=("task", "seed", "measure"),
        code=("limbeck.measure",),
        after=("data", "baselines", "teach", "calibrate", "distill"),
        files=_no_files,
        run=_run_measure,
    ),
)
