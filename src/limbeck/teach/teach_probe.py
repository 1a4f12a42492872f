"""Teaching a probe: one task a category, kept when it is finished."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial

import numpy as np
from safetensors.numpy import load_file, save_file
from threadpoolctl import threadpool_limits

from limbeck.config import MeasureSettings
from limbeck.measure import choose_thresholds
from limbeck.scorer import Floats
from limbeck.store import key_of
from limbeck.teach.encoders import encoder_key
from limbeck.teach.features import FeatureCache
from limbeck.teach.heads import Head, HeadTask, Sample, fit_heads, fixed_features
from limbeck.teach.lessons import Lessons, Taught
from limbeck.teach.probe import ProbeTeacher

TASK_KIND = "tasks/probe"


def teach_probe(lessons: Lessons) -> Taught:
    """Train a head for each category and fold on features that are computed once for all."""
    train = lessons.train
    vectors, watched = _features(lessons)
    teacher, skipped = _fit(lessons, vectors, watched)
    chosen: dict[str, object] = {
        name: [round(head.score, 4) for head in found] for name, found in zip(train.names, teacher.heads, strict=True)
    }
    taught = sum(1 for heads in teacher.heads if heads)
    return Taught(teacher, _out_of_fold(teacher, lessons, vectors), skipped, taught, chosen)


def probe_committee(lessons: Lessons) -> Floats:
    """Teach a probe; give what each fold's heads say of all training rows [folds, rows, labels]."""
    vectors, watched = _features(lessons)
    return _fit(lessons, vectors, watched)[0].score_vectors(vectors)


def _features(lessons: Lessons) -> tuple[Floats, Floats]:
    """Read the texts of the training rows and of dev's tuning half."""
    cache = FeatureCache(lessons.store, lessons.encoder, lessons.config.encoder.max_tokens)
    if lessons.force:
        cache.forget()
    return cache(lessons.train.texts), cache(lessons.tuning.texts)


def _fit(lessons: Lessons, vectors: Floats, watched: Floats) -> tuple[ProbeTeacher, dict[str, str]]:
    """Give the probe, and the categories that it leaves out."""
    train = lessons.train
    skipped = lessons.skipped()
    columns = [column for column, name in enumerate(train.names) if name not in skipped]
    # Every category is judged on the same texts of dev: their features are made once.
    dev = Sample(watched, np.zeros(0, np.float32), flow=fixed_features(watched, lessons.config.probe))
    work = partial(_category, lessons, vectors, dev, encoder_key(lessons.encoder))
    taught = dict(zip(columns, lessons.executor.run(work, columns, "teaching probes"), strict=True))
    heads = tuple(taught[column][0] if column in taught else () for column in range(len(train.names)))
    thresholds = [float(np.mean(taught[column][1])) if column in taught else 0.5 for column in range(len(heads))]
    return ProbeTeacher(lessons.card("probe", np.array(thresholds)), heads), skipped


def _category(
    lessons: Lessons, vectors: Floats, watched: Sample, encoder: str, column: int
) -> tuple[tuple[Head, ...], list[float]]:
    """Give a category's heads and thresholds, one a fold, from the store or by training them."""
    train, config = lessons.train, lessons.config
    dev = replace(watched, labels=lessons.tuning.labels[:, column])
    rows = lessons.known(column)
    labels, folds = train.labels[rows, column], lessons.prepared.folds[rows]
    strong = train.strong[rows, column]
    weights = train.weights[rows, column] if len(train.weights) else None
    about = {
        **({} if weights is None else {"weights": weights.tolist()}),
        "encoder": [encoder, config.encoder.max_tokens],
        "rows": key_of([[train.texts[row] for row in rows], labels.tolist(), folds.tolist()]),
        "dev": key_of([lessons.tuning.texts, np.nan_to_num(dev.labels, nan=-1).tolist()]),
        "probe": config.probe.model_dump(),
        "positive_weight": config.train.positive_weight,
        "thresholds": [config.measure.thresholds, config.measure.min_positives],
        "folds": lessons.folds,
        "seed": config.seed,
        "made_with": dict(lessons.made_with),
    }
    key = key_of(about)
    if lessons.force or not lessons.store.intact(TASK_KIND, key):
        parts = []
        for fold in lessons.folds:
            inside, outside = folds != fold, folds == fold
            held_out = Sample(vectors[rows[outside]], strong[outside])
            weight = lessons.positive_weight(column, rows[inside])
            seen = Sample(vectors[rows[inside]], labels[inside], None if weights is None else weights[inside])
            parts.append(HeadTask(seen, [held_out, dev], weight))
        with threadpool_limits(1, "blas"), lessons.store.write(TASK_KIND, key, about) as folder:
            heads = fit_heads(parts, config.probe, config.seed)
            limits = [_threshold(head, dev, config.measure) for head in heads]
            arrays = {
                f"{fold}.{name}": array for fold, head in enumerate(heads) for name, array in head.arrays().items()
            }
            save_file(
                {name: np.ascontiguousarray(array) for name, array in arrays.items()}, folder / "heads.safetensors"
            )
            (folder / "thresholds.json").write_text(json.dumps(limits), encoding="utf-8")
    folder = lessons.store.folder(TASK_KIND, key)
    arrays = load_file(folder / "heads.safetensors")
    found = []
    for number in range(len(lessons.folds)):
        mine = {name.partition(".")[2]: array for name, array in arrays.items() if name.startswith(f"{number}.")}
        found.append(Head.from_arrays(mine))
    return tuple(found), json.loads((folder / "thresholds.json").read_text(encoding="utf-8"))


def _threshold(head: Head, dev: Sample, settings: MeasureSettings) -> float:
    if np.isnan(dev.labels).all():
        return 0.5
    proba = head.predict(dev.vectors) if dev.flow is None else head.read(dev.flow)
    how, least = settings.thresholds, settings.min_positives
    return float(choose_thresholds(dev.labels[:, None], proba[:, None], how, least)[0])


def _out_of_fold(teacher: ProbeTeacher, lessons: Lessons, vectors: Floats) -> Floats:
    proba = np.full((len(vectors), len(teacher.labels)), np.nan, dtype=np.float32)
    committee = teacher.score_vectors(vectors)
    for number, fold in enumerate(lessons.folds):
        mine = lessons.prepared.folds == fold
        proba[mine] = committee[min(number, teacher.folds - 1)][mine]
    return proba
