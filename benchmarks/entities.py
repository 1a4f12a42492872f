"""Taggers with few tagged sentences: teachers, small taggers on tags alone and distilled, softmax and CRF.

python benchmarks/entities.py curve --data FOLDER [--only 300:0 …], where FOLDER/conll2003/{train,dev,test}.conll hold a
word and its BIO tag a line. Word vectors are FOLDER/vectors/glove.json (words and their numbers; for German
multilingual.npy and multilingual.txt), the larger encoder is FOLDER/all-mpnet-base-v2. Runs that are finished are not
repeated, so a table can be made piece by piece.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from results import RESULTS, WORK, run_tables
from scarce import make_few_sentences

from limbeck.bench.compare import Compared, compare_models, draw, open_model
from limbeck.bench.efficiency import time_calls
from limbeck.config import load_project
from limbeck.data.tagged import PreparedSentences
from limbeck.measure.taggers import load_measured_taggers
from limbeck.pipeline import Pipeline
from limbeck.students.wordvectors import read_word_vectors
from limbeck.tagging.teacher import TaggerTeacher, load_tagger_teacher

SIZES, DRAWS = (150, 300, 750, 1500, 3000), (0, 1, 2)
ALL = 14_041
# Few sentences make cheap networks, of which several are better.
FOLDS = {150: 2, 300: 2, 750: 1, 1500: 1, 3000: 1, 0: 1}
# Tags alone: so many steps at least, and so many passes; judged ten times and never stopped for want of patience.
LEAST_STEPS, PASSES, BATCH = 600, 20, 64
# With all tags there is more to learn than a usual student has the time and the room for.
MORE_ROOM = "students.size=large"
MORE_STEPS = ["distill.steps=6000", "distill.patience=10", "distill.labelled=0.5"]
DECODERS = ("softmax", "crf")
BATCHES = (1, 32, 64, 128)
# Seconds that a slow model is timed for, a batch size.
SECONDS = 15.0
# What other models' figures are compared with: the draw that the comparison and the speeds are of.
COMPARED = (1500, 0)
SENTENCES = 1000
LARGE = "all-mpnet-base-v2"
# It learns at a rate for large encoders; one network, so that it is ready in minutes.
LARGE_TEACHER = ("teach.folds=1", "train.rate=5e-5")
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


def settings_of(data: Path, sentences: int, *more: str) -> list[str]:
    """Give the settings of a chain: folds by size, and GloVe's word vectors."""
    vectors = ["students.vectors=files", f"students.vector_files={json.dumps([glove(data)])}"]
    return [f"teach.folds={FOLDS[sentences]}", *vectors, *more]


def glove(data: Path) -> str:
    """Give GloVe as a matrix and a list of words, which every student reads faster than JSON."""
    numbers, words = (WORK / "entities" / f"glove.{ending}" for ending in ("npy", "txt"))
    if not words.exists():
        told = read_word_vectors("vectors/glove.json", data)
        numbers.parent.mkdir(parents=True, exist_ok=True)
        listed = [word for word in told.words if "\n" not in word]
        np.save(numbers, told.vectors[[told.words[word] for word in listed]])
        words.write_text("\n".join(listed) + "\n", encoding="utf-8")
    return f"{numbers.resolve()} + {words.resolve()}"


def tags_alone(sentences: int) -> list[str]:
    """Give the settings of students that learn no teacher's guesses."""
    steps = max(LEAST_STEPS, PASSES * (sentences or ALL) // BATCH)
    return ["distill.soft=0", f"distill.steps={steps}", "distill.patience=10"]


def rows_of(outcome: Tagged, model: str) -> dict[str, object]:
    """Give a model's figures on test."""
    figures, interval = outcome.measured[model]["figures"], outcome.measured[model]["f1_intervals"]["test"]
    test = figures["test"]
    kind = model.removeprefix("student-")
    return {
        "model": model,
        "dev F1": figures["judging"]["exact"]["f1"],
        "test F1": test["exact"]["f1"],
        "95 % interval": f"{interval['low']:.3f} to {interval['high']:.3f}",
        "accuracy of words": outcome.measured[model]["accuracy"]["test"],
        "MUC F1": test["muc"]["f1"],
        "ACE value": test["ace"],
        "parameters": int(outcome.figures.get(f"{kind}.parameters", 0)) or None,
        "training seconds": round(outcome.figures.get(f"{kind}.seconds", 0)) or None,
    }


def curve(data: Path, only: list[str], settings: list[str]) -> tuple[list[dict[str, object]], str]:
    """Compare teacher, tags alone and distilled by the number of tagged sentences."""
    wanted = [tuple(map(int, told.split(":"))) for told in only] or [(n, d) for d in DRAWS for n in SIZES]
    found: dict[tuple[int, str, str], list[float]] = {}
    for sentences, draw_ in wanted:
        folder = few(data, "conll2003", sentences, draw_)
        for decoder in DECODERS:
            for title, told in (("tags alone", tags_alone(sentences)), ("distilled", [])):
                outcome = run(folder, *settings_of(data, sentences, f"students.decoder={decoder}", *settings), *told)
                found.setdefault((sentences, "teacher", ""), []).append(outcome.f1("teacher-partial"))
                for kind in outcome.pipeline.project.config.students.kinds:
                    found.setdefault((sentences, f"{kind}, {decoder}", title), []).append(outcome.f1(f"student-{kind}"))
                parts = {
                    name: [round(outcome.f1(name, part), 4) for part in ("judging", "test")]
                    for name in outcome.measured
                }
                told_of = {"sentences": sentences, "draw": draw_, "decoder": decoder, "learns": title}
                print(json.dumps(told_of | parts), flush=True)
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
    if len(rows) > 1:
        picture(rows, RESULTS.parent / "entities.svg")
    return rows, NOTE + "Test F1, the mean over draws; small taggers start from GloVe's word vectors."


def picture(rows: list[dict[str, object]], file: Path) -> None:
    """Draw F1 by the number of tagged sentences, a panel a small tagger."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    models = list(dict.fromkeys(name.partition(":")[0] for name in rows[0] if ":" in name))
    figure, places = plt.subplots(1, len(models), figsize=(4.2 * len(models), 3.8), sharey=True)
    sizes: list[Any] = [row["tagged sentences"] for row in rows]
    for place, model in zip(places, models, strict=True):
        for title, name, style in (
            ("teacher", "teacher", "k--"),
            (f"{model}: distilled", "distilled", "o-"),
            (f"{model}: tags alone", "tags alone", "s:"),
        ):
            values: list[Any] = [row[title] for row in rows]
            place.plot(sizes, values, style, label=name)
        place.set(xscale="log", xlabel="tagged sentences", title=model)
        place.set_xticks(sizes, [str(size) for size in sizes])
        place.minorticks_off()
        place.grid(alpha=0.3)
    places[0].set_ylabel("F1 on test")
    places[0].legend()
    figure.tight_layout()
    figure.savefig(file, metadata={"Date": None})


def whole(data: Path, only: list[str], settings: list[str]) -> tuple[list[dict[str, object]], str]:
    """Learn all tagged sentences."""
    folder = few(data, "conll2003", 0, 0)
    rows: list[dict[str, object]] = []
    for decoder in only or DECODERS:
        for title, told in (("tags alone", tags_alone(0)), ("tags and teacher", MORE_STEPS)):
            outcome = run(folder, *settings_of(data, 0, MORE_ROOM, f"students.decoder={decoder}", *settings), *told)
            if not rows:
                rows.append({**rows_of(outcome, "teacher-partial"), "decoder": "softmax", "learns": "tags"})
            for kind in outcome.pipeline.project.config.students.kinds:
                rows.append({**rows_of(outcome, f"student-{kind}"), "decoder": decoder, "learns": title})
                print(json.dumps(rows[-1]), flush=True)
    note = (
        "conll2003, all 14,041 training sentences tagged; the pool is 20,000 sentences of Reuters-21578. F1 by exact "
    )
    note += "match. Encoder: all-MiniLM-L6-v2."
    return rows, note


def german(data: Path, only: list[str], settings: list[str]) -> tuple[list[dict[str, object]], str]:
    """Tag German with 750 sentences: an English encoder, multilingual word vectors."""
    folder = few(data, "mobie", 750, 0)
    vectors = [str((data / "vectors" / f"multilingual.{end}").resolve()) for end in ("npy", "txt")]
    shared = [f"teach.folds={FOLDS[750]}", "students.decoder=crf", "students.vectors=files"]
    shared.append(f"data.categories={json.dumps(_types(data / 'mobie'))}")
    shared += [f"students.vector_files={json.dumps([' + '.join(vectors)])}", *settings]
    rows: list[dict[str, object]] = []
    for title, told in (("tags alone", tags_alone(750)), ("distilled", [])):
        outcome = run(folder, *shared, *told)
        if not rows:
            rows.append({**rows_of(outcome, "teacher-partial"), "learns": "tags"})
        for kind in outcome.pipeline.project.config.students.kinds:
            rows.append({**rows_of(outcome, f"student-{kind}"), "learns": title})
            print(json.dumps(rows[-1]), flush=True)
    note = "Mobie, German, 750 tagged sentences (draw 0), the others are the pool. F1 by exact match. The teacher's "
    return rows, note + "encoder is English: all-MiniLM-L6-v2; small taggers with CRF start from multilingual vectors."


def _types(data: Path) -> list[str]:
    """Give all types of a data set: what few sentences don't have is missed, not left out."""
    lines = (line for file in sorted(data.glob("*.conll")) for line in file.read_text(encoding="utf-8").splitlines())
    return sorted({line.split()[-1][2:] for line in lines if line.strip()} - {""})


def _bundled(data: Path, decoder: str, settings: list[str]) -> Tagged:
    told = settings_of(data, COMPARED[0], f"students.decoder={decoder}", *settings)
    return run(few(data, "conll2003", *COMPARED), *told, until="compress")


def _large(data: Path, *settings: str) -> Pipeline:
    """Teach the larger encoder in a project of its own."""
    folder = few(data, "conll2003", *COMPARED)
    told = [f"encoder.name={(data / LARGE).resolve()}", *LARGE_TEACHER, *settings]
    pipeline = Pipeline(load_project(folder, told))
    pipeline.run(until="teach")
    return pipeline


def compare(data: Path, only: list[str], settings: list[str]) -> tuple[list[dict[str, object]], str]:
    """Compare teachers, taggers and spaCy's pipelines (`only` names their packages) on dev sentences, and on test."""
    pipeline = _bundled(data, "crf", [*settings, 'students.kinds=["cnn", "bilstm", "transformer"]']).pipeline
    large = _large(data).folder("teach")
    names = [
        "teacher",
        *(f"{form}-{kind}" for kind in ("transformer", "bilstm", "cnn") for form in ("student", "bundle")),
    ]
    models = [str(large), *names, *(f"spacy:{package}" for package in only)]
    rows = compare_models(pipeline, models, "dev", SENTENCES)
    for row, tested in zip(rows, compare_models(pipeline, models, "test", SENTENCES), strict=True):
        row["F1, test"] = tested["F1"]
    rows[0]["model"] = f"teacher, {LARGE}"
    draw(rows, RESULTS.parent / "compare.svg")
    note = f"conll2003, {COMPARED[0]} tagged sentences; the first {SENTENCES} of dev, one at a time, one thread. The "
    note += "figures are over the types that a model knows. Half of dev tuned when training stopped; the last column "
    note += f"is over the first {SENTENCES} of test."
    return [{name: _rounded(value) for name, value in row.items()} for row in rows], note


def _rounded(value: object) -> object:
    return round(value, 4) if isinstance(value, float) else value


def speed(data: Path, only: list[str], settings: list[str]) -> tuple[list[dict[str, object]], str]:
    """Time taggers on the test sentences, from raw text to spans, by batch, on one thread."""
    import torch

    torch.set_num_threads(1)
    chains = {decoder: _bundled(data, decoder, settings) for decoder in DECODERS}
    small = chains[DECODERS[0]].pipeline
    texts = _texts(small)
    teachers = {"MiniLM": _timed(_one_network(small), texts), "mpnet": _timed(_one_network(_large(data)), texts)}
    rows: list[dict[str, object]] = [
        {"model": f"teacher, {name}", "form": "torch", **{f"batch {b}": round(t) for b, t in taken.items()}}
        for name, taken in teachers.items()
    ]
    for decoder, outcome in chains.items():
        folder = outcome.pipeline.folder("compress")
        assert folder is not None
        for kind in outcome.pipeline.project.config.students.kinds:
            model = open_model(str(folder / kind), outcome.pipeline, 1)
            taken = _timed(model, texts)
            row: dict[str, object] = {"model": f"{kind}, {decoder}", "form": model.form}
            row |= {f"batch {b}": round(t) for b, t in taken.items()}
            for name, theirs in teachers.items():
                row[f"times {name}"] = " / ".join(f"{taken[b] / theirs[b]:.1f}" for b in BATCHES)
            rows.append(row | {"MB": model.bytes / 1e6})
            print(json.dumps(rows[-1]), flush=True)
    note = "Sentences a second, from raw text to spans, sentences of the conll2003 test set, one thread. 'Times' a "
    return rows, note + f"teacher of one network in torch, at batches of {', '.join(map(str, BATCHES))}."


def _one_network(pipeline: Pipeline) -> Compared:
    folder = pipeline.folder("teach")
    assert folder is not None
    teacher = load_tagger_teacher(folder, pipeline.project.root)
    assert isinstance(teacher, TaggerTeacher)
    return Compared("teacher", "torch", 0, replace(teacher, members=teacher.members[:1]).tag)


def _texts(pipeline: Pipeline) -> list[str]:
    folder = pipeline.folder("data")
    assert folder is not None
    return [sentence.text for sentence in PreparedSentences.load(folder).test]


def _timed(model: Compared, texts: list[str]) -> dict[int, float]:
    """Give sentences a second by batch."""
    found = {}
    for batch in BATCHES:
        groups = [texts[at : at + batch] for at in range(0, len(texts) - batch, batch)]
        found[batch] = time_calls(model.answer, groups, SECONDS).texts_a_second
    return found


TABLES = {"curve": curve, "whole": whole, "german": german, "compare": compare, "speed": speed}


if __name__ == "__main__":
    run_tables("entities", TABLES, __doc__)
