"""Taggers with few tagged sentences: teachers, small taggers on tags alone and distilled, softmax and CRF.

python benchmarks/entities.py curve --data FOLDER [--only 300:0 …], where FOLDER/conll2003/{train,dev,test}.conll hold a
word and its BIO tag a line. Runs that are finished are not repeated, so a table can be made piece by piece.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from results import WORK, run_tables
from scarce import make_few_sentences

from limbeck.bench.compare import Compared, open_model
from limbeck.bench.efficiency import time_calls
from limbeck.config import load_project
from limbeck.measure.taggers import load_measured_taggers
from limbeck.pipeline import Pipeline

SIZES, DRAWS = (150, 300, 750, 1500, 3000), (0, 1, 2)
# Few sentences make cheap networks, of which several are better.
FOLDS = {150: 3, 300: 3, 750: 2, 1500: 1, 3000: 1, 0: 1}
LABELS_ONLY = ("distill.soft=0", "distill.steps=0", "distill.epochs=40")
BATCHES = (1, 32, 64, 128)
NOTE = (
    "conll2003, F1 by exact match. The first so many sentences of a shuffled training set are tagged, the others are "
    "the pool (benchmarks/scarce.py; the draw is the seed). Encoder: all-MiniLM-L6-v2, told the shapes of words. "
)


@dataclass(frozen=True)
class Tagged:
    """A finished chain of taggers: figures by model, and what distilling told."""

    measured: dict[str, dict[str, Any]]
    figures: dict[str, float]
    pipeline: Pipeline

    def f1(self, model: str, part: str = "test") -> float:
        """Give F1 by exact match."""
        return float(self.measured[model]["figures"][part]["exact"]["f1"])


def few(data: Path, name: str, sentences: int, draw: int) -> Path:
    """Give the project of a draw."""
    folder = WORK / "entities" / name / f"{sentences or 'all'}-{draw}"
    if not (folder / "limbeck.toml").exists():
        make_few_sentences(data / name, folder, sentences, draw)
    return folder


def run(folder: Path, *settings: str, until: str = "measure") -> Tagged:
    """Run the chain of a project as a user would, up to the figures."""
    pipeline = Pipeline(load_project(folder, settings))
    states = {state.step.name: state for state in pipeline.run(until=until)}
    measured = pipeline.folder("measure")
    assert measured is not None
    return Tagged(load_measured_taggers(measured), dict(states["distill"].figures), pipeline)


def curve(data: Path, only: list[str], settings: list[str]) -> tuple[list[dict[str, object]], str]:
    """Compare teacher, tags alone and distilled by the number of tagged sentences."""
    wanted = [tuple(map(int, told.split(":"))) for told in only] or [(n, d) for d in DRAWS for n in SIZES]
    found: dict[tuple[int, str, str], list[float]] = {}
    for sentences, draw in wanted:
        folder = few(data, "conll2003", sentences, draw)
        for decoder in ("softmax", "crf"):
            for title, told in (("tags alone", LABELS_ONLY), ("distilled", ())):
                shared = [f"teach.folds={FOLDS[sentences]}", f"students.decoder={decoder}", *settings]
                outcome = run(folder, *shared, *told)
                found.setdefault((sentences, "teacher", ""), []).append(outcome.f1("teacher-partial"))
                for kind in outcome.pipeline.project.config.students.kinds:
                    found.setdefault((sentences, f"{kind}, {decoder}", title), []).append(outcome.f1(f"student-{kind}"))
                print(
                    json.dumps(
                        {
                            "sentences": sentences,
                            "draw": draw,
                            "decoder": decoder,
                            "learns": title,
                            **{name: round(outcome.f1(name), 4) for name in outcome.measured},
                        }
                    ),
                    flush=True,
                )
    draws = {n: len({d for m, d in wanted if m == n}) for n, _ in wanted}
    rows: list[dict[str, object]] = []
    for sentences in sorted(draws):
        # The teacher is the same in every run of a draw.
        row: dict[str, object] = {"tagged sentences": sentences, "draws": draws[sentences]}
        row["teacher"] = float(np.mean(found[sentences, "teacher", ""]))
        for (n, model, title), values in found.items():
            if n == sentences and title:
                row[f"{model}: {title}"] = float(np.mean(values))
        rows.append(row)
    return rows, NOTE + "Test F1, the mean over draws."


def speed(data: Path, only: list[str], settings: list[str]) -> tuple[list[dict[str, object]], str]:
    """Time taggers on the test sentences, from raw text to spans, by batch, on one thread."""
    rows: list[dict[str, object]] = []
    teachers: dict[int, float] = {}
    for decoder in ("softmax", "crf"):
        told = [f"teach.folds={FOLDS[300]}", f"students.decoder={decoder}", *settings]
        outcome = run(few(data, "conll2003", 300, 0), *told, until="compress")
        models = [("bundle", kind) for kind in outcome.pipeline.project.config.students.kinds]
        if not teachers:
            teacher = _one_network(outcome.pipeline)
            teachers = {batch: _speed(teacher, outcome, batch) for batch in BATCHES}
            rows.append({"model": "teacher, one network, torch", **{f"batch {b}": t for b, t in teachers.items()}})
        for _, kind in models:
            folder = outcome.pipeline.folder("compress")
            assert folder is not None
            model = open_model(str(folder / kind), outcome.pipeline, 1)
            taken = {batch: _speed(model, outcome, batch) for batch in BATCHES}
            faster = {f"times faster, {b}": f"{t / teachers[b]:.1f}" for b, t in taken.items()}
            title = f"{kind}, {decoder}, {model.form}"
            rows.append(
                {"model": title, **{f"batch {b}": t for b, t in taken.items()}, **faster, "MB": model.bytes / 1e6}
            )
            print(json.dumps(rows[-1]), flush=True)
    return rows, "Sentences a second, from raw text to spans, sentences of the conll2003 test set, one thread."


def _one_network(pipeline: Pipeline) -> Compared:
    from dataclasses import replace

    from limbeck.tagging.teacher import TaggerTeacher, load_tagger_teacher

    folder = pipeline.folder("teach")
    assert folder is not None
    teacher = load_tagger_teacher(folder, pipeline.project.root)
    assert isinstance(teacher, TaggerTeacher)
    alone = replace(teacher, members=teacher.members[:1])
    network = alone.network(alone.members[0])
    # Loading the weights isn't what is timed.
    object.__setattr__(alone, "network", lambda member: network)
    return Compared("teacher", "torch", 0, alone.tag)


def _speed(model: Compared, outcome: Tagged, batch: int) -> float:
    from limbeck.data.tagged import PreparedSentences

    folder = outcome.pipeline.folder("data")
    assert folder is not None
    texts = [sentence.text for sentence in PreparedSentences.load(folder).test]
    groups = [texts[at : at + batch] for at in range(0, len(texts) - batch, batch)]
    return time_calls(model.answer, groups, 15.0).texts_a_second


TABLES = {"curve": curve, "speed": speed}


if __name__ == "__main__":
    run_tables("entities", TABLES, __doc__)
