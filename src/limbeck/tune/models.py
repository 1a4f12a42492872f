"""The models that a trial made, and what they are worth: on dev's tuning half, and once on its judging half.

Test is never scored here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from limbeck.config import Config, Project
from limbeck.data.dataset import Dataset
from limbeck.data.prepare import Prepared
from limbeck.data.sentences import Sentence
from limbeck.data.splits import JUDGING, TUNING, assign_folds
from limbeck.data.tagged import PreparedSentences
from limbeck.errors import TooFewRows
from limbeck.measure import choose_thresholds, decide, decide_classes, evaluate_classes
from limbeck.measure.bootstrap import Difference, bootstrap_interval, entity_interval, paired_bootstrap, paired_entities
from limbeck.measure.compare import measure_scorer
from limbeck.measure.entities import exact_counts
from limbeck.measure.taggers import Tag
from limbeck.measure.thresholds import Unlabelled
from limbeck.scorer import Scorer
from limbeck.steps.measuring import drawn_texts
from limbeck.store import Store

# Parts of the tuning half; each is decided by thresholds that the others chose.
PARTS = 5


@dataclass(frozen=True)
class Made:
    """The results of one run of the chain: the project with the settings of the run, and its steps' folders."""

    project: Project
    store: Store
    folders: Mapping[str, Path]

    @property
    def config(self) -> Config:
        """The settings of the run."""
        return self.project.config


def scores(made: Made, target: str, kinds: Sequence[str]) -> dict[str, float]:
    """Give each model's F1 on dev's tuning half: macro-F1, or of entities."""
    if made.config.task == "ner":
        sentences = PreparedSentences.load(made.folders["data"]).dev_half(TUNING)
        counted = _counted(made, target, kinds, sentences)
        return {name: entity_interval(counts, rounds=1).estimate for name, counts in counted.items()}
    tuning = Prepared.load(made.folders["data"]).dev_half(TUNING)
    return {name: tuning_f1(model, tuning, made.config) for name, model in _scorers(made, target, kinds).items()}


def tuning_f1(model: Scorer, tuning: Dataset, config: Config) -> float:
    """Give macro-F1 on the half that also chooses thresholds: those of a text come from the others."""
    if not (tuning.labels == 1).any():
        raise TooFewRows("Dev's tuning half has no positive label to tune by.", "Add labelled texts to data.dev.")
    proba = model.predict_proba(tuning.texts)
    if config.task == "multiclass":
        return evaluate_classes(tuning.labels, proba, tuning.names).macro_f1
    decisions = np.zeros(proba.shape, dtype=bool)
    parts = min(PARTS, len(dict.fromkeys(tuning.texts)))
    part_of = assign_folds(tuning.texts, tuning.labels, parts, config.seed)
    settings = config.measure
    for part in range(parts):
        mine, others = part_of == part, part_of != part
        # Of the pool nothing is asked: it would be scored anew in every trial.
        limits = choose_thresholds(tuning.labels[others], proba[others], settings.thresholds, settings.min_positives)
        decisions[mine] = decide(proba[mine], limits)
    return bootstrap_interval(tuning.labels, decisions, rounds=1).estimate


def compare(one: Made, other: Made, target: str, kinds: Sequence[str]) -> dict[str, tuple[float, float, Difference]]:
    """Give each model's F1 on dev's judging half in two runs, and the paired difference: `one` less `other`.

    Thresholds are those that `limbeck measure` would choose.
    """
    settings = one.config.measure
    told = settings.rounds, settings.level, one.config.seed
    found = {}
    if one.config.task == "ner":
        sentences = PreparedSentences.load(one.folders["data"]).dev_half(JUDGING)
        counts, before = (_counted(made, target, kinds, sentences) for made in (one, other))
        for name in counts:
            f1, was = (entity_interval(some[name], rounds=1).estimate for some in (counts, before))
            found[name] = f1, was, paired_entities(counts[name], before[name], *told)
        return found
    labels = Prepared.load(one.folders["data"]).dev_half(JUDGING).labels
    decided, earlier = (_judged(made, target, kinds) for made in (one, other))
    for name, (f1, decisions) in decided.items():
        was, theirs = earlier[name]
        found[name] = f1, was, paired_bootstrap(labels, decisions, theirs, "macro_f1", *told)
    return found


def _counted(
    made: Made, target: str, kinds: Sequence[str], sentences: Sequence[Sentence]
) -> dict[str, NDArray[np.int64]]:
    """Count what each tagger found, sentence by sentence."""
    truth, texts = [sentence.spans() for sentence in sentences], [sentence.text for sentence in sentences]
    return {name: exact_counts(truth, tag(texts)) for name, tag in _taggers(made, target, kinds).items()}


def _judged(made: Made, target: str, kinds: Sequence[str]) -> dict[str, tuple[float, NDArray[np.bool_]]]:
    """Give macro-F1 and decisions on the judging half."""
    prepared = replace(Prepared.load(made.folders["data"]), test=None)
    drawn = drawn_texts(made.config, made.folders)
    found = {}
    for name, model in _scorers(made, target, kinds).items():
        unlabelled = Unlabelled(model.predict_proba(drawn[0]), drawn[1]) if drawn else None
        measured = measure_scorer(model, prepared, made.config, unlabelled)
        proba = measured.proba["judging"]
        one_class = made.config.task == "multiclass"
        decisions = decide_classes(proba) if one_class else decide(proba, measured.thresholds)
        found[name] = measured.figures["judging"].macro_f1, decisions
    return found


def _scorers(made: Made, target: str, kinds: Sequence[str]) -> dict[str, Scorer]:
    from limbeck.baselines import BaselineScorer

    folders = made.folders
    if target == "baselines":
        return {kind: BaselineScorer.load(folders["baselines"] / kind) for kind in kinds}
    if target == "teach":
        from limbeck.teach.calibrate import load_calibrated

        teacher = load_calibrated(folders["teach"], folders.get("calibrate"), made.project.root, made.store)
        return {"teacher": teacher}
    from limbeck.distill.students import load_distilled

    return {kind: load_distilled(folders["distill"] / kind) for kind in kinds}


def _taggers(made: Made, target: str, kinds: Sequence[str]) -> dict[str, Tag]:
    from limbeck.compress.tagger_scoring import ExportedTagger
    from limbeck.tagging.scorer import find_entities
    from limbeck.tagging.student import load_tagger_student
    from limbeck.tagging.teacher import load_tagger_teacher

    if target == "teach":
        taggers: dict[str, Any] = {
            "teacher": ExportedTagger(load_tagger_teacher(made.folders["teach"], made.project.root))
        }
    else:
        taggers = {kind: load_tagger_student(made.folders["distill"] / kind) for kind in kinds}
    return {name: partial(find_entities, tagger) for name, tagger in taggers.items()}
