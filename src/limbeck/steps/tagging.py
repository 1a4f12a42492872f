"""Steps of projects that look for entities: teach, pool, pseudo, distill, measure, compress."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from limbeck.scorer import Floats
from limbeck.steps.compressing import CHOSEN, TABLE, pool_size, table_of
from limbeck.steps.pool import distills, pool_files
from limbeck.steps.step import NETWORKS, Figures, Step, StepRun, no_files
from limbeck.steps.students import student_files
from limbeck.steps.teaching import encoder_files
from limbeck.store import content_of, key_of

if TYPE_CHECKING:
    from limbeck.runtime.viterbi import Moves

SCORED_KIND = "tasks/scored-words"
# Sentences of the pool that a bundle's facts are made from.
SHOWN = 2000
_TAGGING = tuple(f"limbeck.{name}" for name in ("tagging", "training", "teach", "runtime", "text"))


def _run_teach(run: StepRun) -> Figures:
    from limbeck.data.tagged import PreparedSentences
    from limbeck.tagging.teach import TagLessons, save_out_of_fold, teach_tagger
    from limbeck.teach.encoders import find_encoder

    config = run.project.config
    prepared = PreparedSentences.load(run.inputs["data"])
    encoder = find_encoder(config.encoder.name, run.project.root)
    taught = teach_tagger(TagLessons(prepared, config, encoder, run.store, run.made_with, run.force, run.executor))
    taught.teacher.save(run.folder)
    save_out_of_fold(taught.out_of_fold, run.folder / "out_of_fold.npz")
    run.write_json("history.json", taught.history)
    run.write_json("skipped.json", {})
    scores = {name: max(told["f1"] for told in history) for name, history in taught.history.items()}
    run.write_json("tasks.json", scores)
    return {"tasks": len(taught.history)}


def _run_pool(run: StepRun) -> Figures:
    from limbeck.data.tagged import PreparedSentences
    from limbeck.tagging.pool import gather_sentences

    prepared = PreparedSentences.load(run.inputs["data"])
    return gather_sentences(pool_files(run.project), run.project.config.data, prepared, run.folder)


def _run_pseudo(run: StepRun) -> Figures:
    from limbeck.compress.tagger_scoring import ExportedTagger
    from limbeck.tagging.pool import score_sentences
    from limbeck.tagging.teacher import load_tagger_teacher

    teacher = ExportedTagger(load_tagger_teacher(run.inputs["teach"], run.project.root))
    identity = content_of(run.inputs["teach"])
    made_with, pool = dict(run.made_with), run.inputs["pool"]
    return score_sentences(pool, run.folder, teacher, identity, run.store, made_with, run.force, run.executor)


def _run_distill(run: StepRun) -> Figures:
    import shutil

    from limbeck.data.tagged import PreparedSentences
    from limbeck.tagging.course import TagCourse
    from limbeck.tagging.distill import train_tagger

    steps = run.inputs
    course = TagCourse(
        PreparedSentences.load(steps["data"]),
        run.project.config,
        steps["teach"],
        steps["pool"],
        steps["pseudo"],
        run.project.root,
        run.store,
        run.made_with,
        run.force,
    )
    figures: Figures = {}
    history: dict[str, Any] = {}
    for kind in run.project.config.students.kinds:
        graduate = train_tagger(kind, course)
        shutil.copytree(graduate.folder / "student", run.folder / kind, copy_function=os.link)
        history[kind] = graduate.outcome["history"]
        told = ("parameters", "rows", "labelled", "seconds", "score")
        figures |= {f"{kind}.{name}": graduate.outcome[name] for name in told}
    run.write_json("history.json", history)
    return figures


@dataclass(frozen=True)
class _Remembered:
    """A slow tagger whose scores are kept: students come and go, and it needn't read dev and test for each."""

    tagger: Any
    content: str
    run: StepRun

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(self.tagger.labels)

    @property
    def moves(self) -> tuple[Moves, bool]:
        found: tuple[Moves, bool] = self.tagger.moves
        return found

    def emissions(self, sentences: Sequence[Sequence[str]]) -> list[Floats]:
        import numpy as np

        about = {"tagger": self.content, "words": key_of([list(s) for s in sentences])}
        key, store = key_of(about), self.run.store
        if self.run.force or not store.intact(SCORED_KIND, key):
            with store.write(SCORED_KIND, key, about) as folder:
                np.save(folder / "scores.npy", np.concatenate(self.tagger.emissions(sentences)))
        scores = np.load(store.folder(SCORED_KIND, key) / "scores.npy", allow_pickle=False)
        return np.split(scores, np.cumsum([len(words) for words in sentences])[:-1])


def _run_measure(run: StepRun) -> Figures:
    from functools import partial

    from limbeck.compress.tagger_scoring import ExportedTagger
    from limbeck.data.tagged import PreparedSentences
    from limbeck.measure.taggers import measure_tagger
    from limbeck.tagging.scorer import find_entities
    from limbeck.tagging.student import load_tagger_student
    from limbeck.tagging.teacher import load_tagger_teacher

    config = run.project.config
    prepared = PreparedSentences.load(run.inputs["data"])
    figures: Figures = {}
    taggers: dict[str, Any] = {}
    if "teach" in run.inputs:
        teacher = ExportedTagger(load_tagger_teacher(run.inputs["teach"], run.project.root))
        taggers[f"teacher-{config.teach.kind}"] = _Remembered(teacher, content_of(run.inputs["teach"]), run)
    if "distill" in run.inputs:
        for kind in config.students.kinds:
            taggers[f"student-{kind}"] = load_tagger_student(run.inputs["distill"] / kind)
    for name, tagger in taggers.items():
        measured = measure_tagger(partial(find_entities, tagger), prepared, config)
        measured.save(run.folder / name)
        figures |= {f"{name}.{figure}": value for figure, value in measured.flat().items()}
    return figures


def _run_compress(run: StepRun) -> Figures:
    from limbeck.compress.compress import fastest_good_one
    from limbeck.compress.taggers import compress_tagger
    from limbeck.data.tagged import PreparedSentences
    from limbeck.measure.taggers import load_measured_taggers
    from limbeck.runtime.processor import saturates
    from limbeck.tagging.pool import first_sentences
    from limbeck.tagging.student import load_tagger_student

    config, steps = run.project.config, run.inputs
    prepared = PreparedSentences.load(steps["data"])
    measured = load_measured_taggers(steps["measure"])
    pool = first_sentences(steps["pool"], SHOWN)
    origin = {name: content_of(folder) for name, folder in steps.items() if name in ("data", "teach", "distill")}
    made = [
        compress_tagger(
            f"{run.project.root.resolve().name} {kind}",
            load_tagger_student(steps["distill"] / kind),
            measured[f"student-{kind}"],
            measured.get(f"teacher-{config.teach.kind}"),
            prepared,
            pool,
            config,
            origin,
            run.folder / kind,
            saturates(),
            pool_size(run),
        )
        for kind in config.students.kinds
    ]
    chosen, why = fastest_good_one(made, config.compress.student_budget)
    run.write_json(CHOSEN, {"model": chosen.kind, "why": why})
    table, figures = table_of(made)
    (run.folder / TABLE).write_text(json.dumps(table, indent=1), encoding="utf-8")
    return figures


TAG_TEACH = Step(
    name="teach",
    summary="teach a large encoder your entities",
    tasks=("ner",),
    settings=("seed", "encoder", "teach", "probe", "train"),
    code=_TAGGING,
    after=("data",),
    files=encoder_files,
    run=_run_teach,
    libraries=NETWORKS,
    unmoved_by=("train.checkpoint_seconds",),
    wanted=lambda config: config.teach.kind != "none",
)

TAG_POOL = Step(
    name="pool",
    summary="read the pool, each different sentence once",
    tasks=("ner",),
    settings=("data",),
    code=("limbeck.tagging.pool", "limbeck.data", "limbeck.text", "limbeck.runtime.wordinputs"),
    after=("data",),
    files=pool_files,
    run=_run_pool,
    libraries=("pyarrow",),
    unmoved_by=("data.titles", "data.parents", "data.labels", "data.dev", "data.test", "data.categories"),
    wanted=distills,
)

TAG_PSEUDO = Step(
    name="pseudo",
    summary="let the teacher tag the pool",
    tasks=("ner",),
    settings=(),
    code=(*_TAGGING, "limbeck.compress.taggers", "limbeck.compress.tagger_scoring", "limbeck.compress.fuse"),
    after=("pool", "teach"),
    files=no_files,
    run=_run_pseudo,
    libraries=NETWORKS,
    wanted=distills,
)

TAG_DISTILL = Step(
    name="distill",
    summary="let small taggers learn from the teacher",
    tasks=("ner",),
    settings=("seed", "encoder", "pseudo", "students", "distill"),
    code=(*_TAGGING, "limbeck.students", "limbeck.data.splits"),
    after=("data", "teach", "pool", "pseudo"),
    files=student_files,
    run=_run_distill,
    libraries=NETWORKS,
    unmoved_by=("distill.checkpoint_seconds",),
    wanted=distills,
)

TAG_MEASURE = Step(
    name="measure",
    summary="make confidence honest on one half of dev, judge on the other and on test",
    tasks=("ner",),
    settings=("seed", "measure"),
    code=(*_TAGGING, "limbeck.measure", "limbeck.compress.taggers", "limbeck.compress.tagger_scoring"),
    after=("data", "teach", "distill"),
    files=no_files,
    run=_run_measure,
    libraries=NETWORKS,
    wanted=lambda config: config.teach.kind != "none",
)

TAG_COMPRESS = Step(
    name="compress",
    summary="turn small taggers into bundles",
    tasks=("ner",),
    settings=("seed", "compress", "measure", "data.titles"),
    code=(*_TAGGING, "limbeck.compress", "limbeck.measure"),
    after=("data", "teach", "pool", "pseudo", "distill", "measure"),
    files=no_files,
    run=_run_compress,
    libraries=(*NETWORKS, "onnx", "openvino"),
    wanted=distills,
)
