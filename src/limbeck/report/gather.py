"""Collecting a run's results; what compressing changed is measured again, by the bundles themselves."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from limbeck.budget.limits import FIT
from limbeck.config import Config
from limbeck.data.prepare import Prepared
from limbeck.data.splits import JUDGING
from limbeck.data.tagged import PreparedSentences
from limbeck.errors import RunError
from limbeck.measure import decide, decide_classes, evaluate, evaluate_classes
from limbeck.measure.bootstrap import Interval, bootstrap_interval, entity_interval, label_intervals
from limbeck.measure.compare import load_measured
from limbeck.measure.entities import evaluate_entities, exact_counts
from limbeck.measure.taggers import load_measured_taggers
from limbeck.pipeline import RESULTS, Pipeline
from limbeck.report.charts import Look
from limbeck.report.run import BASELINE, BUNDLE, STUDENT, TEACHER, Model, Rates, Run, Sentences, Texts
from limbeck.runtime.bundle import read_bundle
from limbeck.runtime.predictor import Predictor
from limbeck.runtime.tagger import EntityPredictor
from limbeck.steps.compressing import chosen_in, folder_of
from limbeck.tune.found import file_of
from limbeck.tune.space import TARGETS

_SHAPES = ("up", "down", "cross", "plus", "square", "circle", "diamond")
EIGHT_BITS = ", compressed"


def gather(pipeline: Pipeline, bench: Mapping[str, Any] | None = None, with_texts: bool = True) -> Run:
    """Read everything that a report of a finished run needs; `bench` is what `limbeck bench` measured of it."""
    folders = _folders(pipeline)
    for step in ("data", "measure", "compress"):
        if step not in folders:
            raise RunError(f"The step {step} hasn't run for these files and settings.", "Run: limbeck run")
    config = pipeline.project.config
    bundle = chosen_in(folders["compress"])
    chosen = bundle.name
    manifest = read_bundle(bundle).manifest
    ner = config.task == "ner"
    models, judged, part = (_taggers if ner else _classifiers)(folders, config, chosen)
    labels = tuple(label.name for label in manifest.labels)
    return Run(
        name=pipeline.project.root.resolve().name,
        config=config,
        part=part,
        labels=labels,
        titles=tuple(config.data.titles.get(name, name) for name in labels),
        states=pipeline.status(),
        folders=folders,
        models=_looking(models, chosen),
        manifest=manifest,
        bundle=bundle,
        judged=judged,
        bench=bench,
        sweep=sweep(pipeline),
        with_texts=with_texts,
        fit=_fit(pipeline),
        tuned=_tuned(pipeline),
    )


def _fit(pipeline: Pipeline) -> dict[str, Any] | None:
    """Read what the last search for a budget looked at, if there was one."""
    file = pipeline.project.workdir / FIT
    return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else None


def _tuned(pipeline: Pipeline) -> list[dict[str, Any]]:
    """Read what the last search for each target came to."""
    files = [file_of(pipeline.project.workdir, target) for target in TARGETS]
    return [json.loads(file.read_text(encoding="utf-8")) for file in files if file.is_file()]


def _folders(pipeline: Pipeline) -> dict[str, Path]:
    return {s.step.name: pipeline.store.folder(f"{RESULTS}/{s.step.name}", s.key) for s in pipeline.status() if s.done}


def _bundles(folders: dict[str, Path], chosen: str) -> list[Path]:
    """Give the bundles, the chosen one first."""
    found = [folder for folder in sorted(folders["compress"].iterdir()) if (folder / "bundle.json").exists()]
    return sorted(found, key=lambda folder: folder.name != chosen)


def _classifiers(folders: dict[str, Path], config: Config, chosen: str) -> tuple[list[Model], Texts, str]:
    prepared = Prepared.load(folders["data"])
    part = "test" if prepared.test is not None else "judging"
    halves = {"judging": prepared.dev_half(JUDGING)} | ({"test": prepared.test} if prepared.test else {})
    judged = halves[part]
    one_class = config.task == "multiclass"
    models: list[Model] = []
    proba, decisions, limits = {}, {}, {}
    for told_name, told in load_measured(folders["measure"]).items():
        name, role = _named(told_name)
        thresholds = np.array(told["thresholds"])
        scores = np.load(folders["measure"] / told_name / "proba.npz", allow_pickle=False)[part]
        proba[name], limits[name] = scores, thresholds
        decisions[name] = decide_classes(scores) if one_class else decide(scores, thresholds)
        found = told["figures"][part]
        rates = tuple(
            Rates(_or_nan(r["precision"]), _or_nan(r["recall"]), _or_nan(r["f1"]), r["support"])
            for r in found["labels"]
        )
        judging = _or_nan(told["figures"]["judging"]["macro_f1"])
        models.append(Model(name, role, Look(), _interval(told["macro_f1_intervals"][part]), judging, rates))
    for folder in _bundles(folders, chosen):
        predictor = Predictor(read_bundle(folder), warn=False)
        order = [predictor.labels.index(name) for name in judged.names]
        thresholds = np.array([predictor.manifest.labels[place].threshold for place in order])
        name = folder.name + EIGHT_BITS
        macro = {}
        for half, rows in halves.items():
            scores = predictor.predict_proba(rows.texts)[:, order]
            if one_class:
                found, given = evaluate_classes(rows.labels, scores, rows.names), decide_classes(scores)
            else:
                found, given = evaluate(rows.labels, scores, thresholds, rows.names), decide(scores, thresholds)
            macro[half] = found.macro_f1
            if half == part:
                proba[name], decisions[name], limits[name] = scores, given, thresholds
                rates = tuple(Rates(f.precision, f.recall, f.f1, f.support) for f in found.labels)
        settings = config.measure
        sure = bootstrap_interval(
            judged.labels, decisions[name], rounds=settings.rounds, level=settings.level, seed=config.seed
        )
        models.append(Model(name, BUNDLE, Look(), sure, macro["judging"], rates))
    rounds = config.measure.rounds
    for at, model in enumerate(models):
        if model.role == TEACHER or model.name == chosen + EIGHT_BITS:
            by_label = label_intervals(judged.labels, decisions[model.name], rounds, config.measure.level, config.seed)
            models[at] = replace(model, intervals=tuple(by_label))
    return models, Texts(prepared, judged, proba, decisions, limits), part


def _taggers(folders: dict[str, Path], config: Config, chosen: str) -> tuple[list[Model], Sentences, str]:
    prepared = PreparedSentences.load(folders["data"])
    part = "test" if prepared.test else "judging"
    halves = {"judging": prepared.dev_half(JUDGING)} | ({"test": prepared.test} if prepared.test else {})
    judged = halves[part]
    truth = [sentence.spans() for sentence in judged]
    models: list[Model] = []
    for told_name, told in load_measured_taggers(folders["measure"]).items():
        name, role = _named(told_name)
        types = {one["type"]: one for one in told["figures"][part]["types"]}
        rates = tuple(_rates_of(types[kind]) for kind in prepared.types)
        judging = told["figures"]["judging"]["exact"]["f1"]
        models.append(Model(name, role, Look(), _interval(told["f1_intervals"][part]), judging, rates))
    found = {}
    settings = config.measure
    for folder in _bundles(folders, chosen):
        tagger = EntityPredictor(read_bundle(folder))
        name = folder.name + EIGHT_BITS
        mine = found[name] = tagger.tag([sentence.text for sentence in judged])
        dev = halves["judging"]
        judging = evaluate_entities(
            [sentence.spans() for sentence in dev], tagger.tag([s.text for s in dev]), prepared.types
        ).exact.f1
        told_types = {one.type: one for one in evaluate_entities(truth, mine, prepared.types).types}
        rates = tuple(
            Rates(one.exact.precision, one.exact.recall, one.exact.f1, one.entities)
            for one in (told_types[kind] for kind in prepared.types)
        )
        sure = entity_interval(exact_counts(truth, mine), settings.rounds, settings.level, config.seed)
        counts = [exact_counts(_of(truth, kind), _of(mine, kind)) for kind in prepared.types]
        by_type = tuple(entity_interval(some, settings.rounds, settings.level, config.seed) for some in counts)
        models.append(Model(name, BUNDLE, Look(), sure, judging, rates, by_type if folder.name == chosen else ()))
    return models, Sentences(prepared, judged, found), part


def _of(spans: Sequence[Sequence[Any]], kind: str) -> list[list[Any]]:
    return [[span for span in some if span.type == kind] for some in spans]


def _named(measured: str) -> tuple[str, str]:
    if measured.startswith("teacher-"):
        return "teacher", TEACHER
    if measured.startswith("student-"):
        return folder_of(measured), STUDENT
    return measured, BASELINE


def _interval(told: dict[str, Any]) -> Interval:
    estimate, low, high = (_or_nan(told[name]) for name in ("estimate", "low", "high"))
    return Interval(estimate, low, high, told["level"], told["rounds"])


def _rates_of(told: dict[str, Any]) -> Rates:
    exact = told["exact"]
    return Rates(exact["precision"], exact["recall"], exact["f1"], told["entities"])


def _or_nan(value: float | None) -> float:
    return float("nan") if value is None else value


def _looking(models: Sequence[Model], chosen: str) -> list[Model]:
    """Give each model its look: the chosen one, its student and the teacher have colours of their own."""
    found, others = [], 0
    for model in sorted(models, key=lambda m: (_RANK[m.role], m.name != chosen + EIGHT_BITS, m.name != chosen)):
        if model.name == chosen + EIGHT_BITS:
            look = Look("bundle", "square")
        elif model.role == TEACHER:
            look = Look("teacher", "diamond")
        elif model.name == chosen:
            look = Look("student", "circle")
        else:
            look, others = Look(f"other{others % 5}", _SHAPES[others % len(_SHAPES)]), others + 1
        found.append(replace(model, look=look))
    return found


_RANK = {BUNDLE: 0, TEACHER: 1, STUDENT: 2, BASELINE: 3}


def sweep(pipeline: Pipeline) -> list[tuple[float, float]]:
    """Give (positive weight, the teacher's macro-F1 on the judging half) of runs that differ in nothing else."""
    config = pipeline.project.config.model_dump(mode="json")
    mine = _without_weight(config)
    found: dict[float, float] = {}
    for key, manifest in pipeline.store.newest_first(f"{RESULTS}/measure"):
        weight = manifest["config"].get("train", {}).get("positive_weight")
        if isinstance(weight, float | int) and _without_weight(manifest["config"]) == mine:
            folder = pipeline.store.folder(f"{RESULTS}/measure", key)
            for told in folder.glob("teacher-*/figures.json"):
                figures = json.loads(told.read_text(encoding="utf-8"))["figures"]["judging"]
                if figures.get("macro_f1") is not None:
                    found.setdefault(float(weight), figures["macro_f1"])
    return sorted(found.items()) if len(found) > 1 else []


def _without_weight(config: dict[str, Any]) -> dict[str, Any]:
    return {**config, "train": {k: v for k, v in config.get("train", {}).items() if k != "positive_weight"}}
