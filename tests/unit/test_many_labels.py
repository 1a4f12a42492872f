"""Many categories: the whole chain, a report and answers that stay of a size that somebody can read."""

import csv
import json
import random

import numpy as np
import pytest
from tiny_encoders import tiny_encoder

from limbeck import load
from limbeck.cli.report import make_report
from limbeck.config import load_project
from limbeck.data.prepare import Prepared
from limbeck.errors import TooFewRows
from limbeck.measure.compare import load_measured
from limbeck.pipeline import Pipeline
from limbeck.serve.app import likeliest
from limbeck.serve.shelf import load_model

LABELS = 240
QUICK = [
    "encoder.name=encoder",
    "teach.kind=probe",
    "teach.folds=1",
    "teach.min_positives=2",
    "probe.layers=last",
    "split.folds=2",
    "measure.thresholds=line-search",
    "measure.min_positives=2",
    "measure.rounds=100",
    "baselines.kinds=[]",
    "students.size=small",
    "distill.steps=30",
    "distill.enough=0",
]


def texts(names, count, seed):
    rng = random.Random(seed)
    found = {}
    while len(found) < count:
        mine = rng.sample(names, rng.randint(1, 2))
        words = [*rng.choices(["the", "train", "was", "and", "we", "it", "so", "very"], k=6), *mine]
        rng.shuffle(words)
        found[" ".join(words)] = mine
    return list(found.items())


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    folder = tmp_path_factory.mktemp("many")
    names = ["".join(random.Random(n).choices("bdfgklmnprst", k=6)) + str(n) for n in range(LABELS)]
    tiny_encoder(folder / "encoder", [*names, "the", "train", "was", "and", "we", "it", "so", "very"], layers=1)
    (folder / "labels").mkdir()
    rows = texts(names, 1500, 0)
    rng = random.Random(1)
    for name in names:
        on = [text for text, mine in rows if name in mine][:6]
        off = rng.sample([text for text, mine in rows if name not in mine], 6)
        with (folder / "labels" / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([("text", "label"), *((t, 1) for t in on), *((t, 0) for t in off)])
    for seed, (part, count) in enumerate((("pool", 600), ("dev", 400), ("test", 400)), 2):
        told = [{"text": t} | ({} if part == "pool" else {"labels": mine}) for t, mine in texts(names, count, seed)]
        (folder / f"{part}.jsonl").write_text("\n".join(map(json.dumps, told)), encoding="utf-8")
    (folder / "limbeck.toml").write_text('task = "multilabel"\n', encoding="utf-8")
    parents = ", ".join(f'{name} = "group {number % 8}"' for number, name in enumerate(names))
    chain = Pipeline(load_project(folder, [*QUICK, f"data.parents={{{parents}}}"]))
    chain.run()
    return chain


def test_folds_hold_positives_and_negatives_of_every_category(done):
    data = Prepared.load(done.folder("data"))
    for column in range(LABELS):
        for value in (0, 1):
            rows = data.train.labels[:, column] == value
            assert rows.sum() < 2 or set(data.folds[rows].tolist()) == {0, 1}
    assert abs(np.mean(data.folds) - 0.5) < 0.1 and abs(np.mean(data.halves) - 0.5) < 0.1


def test_the_report_stays_small_and_tells_of_parents(done):
    file, size, _ = make_report(done, bench=False)
    page = file.read_text(encoding="utf-8")
    assert size < 3_000_000 and "F1 by parent" in page and "group 7" in page
    told = load_measured(done.folder("measure"))["student-bag"]
    assert set(told["by_parent"]["test"]) == {f"group {n}" for n in range(8)}
    selection = json.loads((done.folder("select") / "selection.json").read_text(encoding="utf-8"))
    assert selection["correlation"] == [] and len(selection["strongest"]) <= 20


def test_uncertain_guesses_as_unknown_keep_texts_that_the_plain_filter_leaves_out(done):
    kept = {}
    for way in ("leave-out", "unknown"):
        settings = [*QUICK, "pseudo.confidence=0.7", f"pseudo.uncertain={way}"]
        chain = Pipeline(load_project(done.project.root, settings))
        try:
            chain.run(until="select")
        except TooFewRows:
            kept[way] = 0
            continue
        told = json.loads((chain.folder("select") / "selection.json").read_text(encoding="utf-8"))
        kept[way] = told["sizes"]["kept"]
    assert kept["leave-out"] < 0.5 * kept["unknown"]


def test_answers_can_be_cut_to_the_likeliest_categories(done):
    folder = done.folder("compress") / "bag"
    model, _ = load_model("bag", folder, 1)
    [answered], _ = model.answers(["the train was so very late"])
    everything = answered.told["probabilities"]
    assert everything == pytest.approx(dict(load(folder).answer("the train was so very late").probabilities), abs=1e-5)
    some = likeliest(answered.told, 3)["probabilities"]
    assert set(answered.labels) <= set(some) and len(some) <= 3 + len(answered.labels)
    assert sorted(some.values())[-3:] == sorted(everything.values())[-3:]
    assert set(model.about(some)["thresholds"]) == set(some)
    assert json.loads(model.head + b"[]}")["thresholds"].keys() == everything.keys()
