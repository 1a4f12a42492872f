"""Projects that grow: a new category costs that category alone, and nothing that judges was ever learnt."""

import csv
import json

import numpy as np
import pytest
from teaching_project import add_category, pipeline

from limbeck.data.prepare import Prepared
from limbeck.store import key_of
from limbeck.teach.kinds import load_teacher
from limbeck.text import normalise

ONE = ["teach.folds=1", "train.epochs=2"]


def finished(folder, kind):
    manifests = (folder / ".limbeck" / "tasks" / kind).glob("*/manifest.json")
    return {m.parent.name: json.loads(m.read_text(encoding="utf-8"))["finished"] for m in manifests}


@pytest.mark.parametrize(("kind", "tasks"), [("probe", "probe"), ("binary-ensemble", "networks")])
def test_a_new_category_trains_only_itself(project, kind, tasks):
    pipeline(project, kind, *ONE).run(until="teach")
    before = finished(project, tasks)
    add_category(project)
    chain = pipeline(project, kind, *ONE)
    chain.run(until="teach")
    after = finished(project, tasks)
    assert len(before) == 3 and len(after) == 4
    assert {key: after[key] for key in before} == before
    assert load_teacher(chain.folder("teach"), project).labels == ("heat", "kind", "late", "wifi")


def test_texts_keep_their_fold_and_their_half(project):
    chain = pipeline(project, "probe")
    chain.run(until="data")
    before = Prepared.load(chain.folder("data"))
    add_category(project)
    chain = pipeline(project, "probe")
    chain.run(until="data")
    after = Prepared.load(chain.folder("data"))
    assert len(after.train) > len(before.train)
    for texts, sides, more, now in (
        (before.train.texts, before.folds, after.train.texts, after.folds),
        (before.dev.texts, before.halves, after.dev.texts, after.halves),
    ):
        where = dict(zip(more, now.tolist(), strict=True))
        assert [where[text] for text in texts] == sides.tolist()


def test_another_seed_draws_anew(project):
    def folds(*more):
        chain = pipeline(project, "probe", *more)
        chain.run(until="data")
        return Prepared.load(chain.folder("data")).folds

    assert not np.array_equal(folds(), folds("seed=5"))
    assert np.array_equal(folds(), folds())


def outcomes(folder):
    found = {}
    for file in (folder / ".limbeck" / "tasks" / "networks").glob("*/outcome.json"):
        manifest = json.loads((file.parent / "manifest.json").read_text(encoding="utf-8"))
        found[file.parent.name] = (manifest, json.loads(file.read_text(encoding="utf-8")), file.parent)
    return found


def test_partial_goes_on_from_its_last_network(project):
    # Guesses would make even a fresh network good at once.
    told = ["teach.folds=1", "teach.guesses=0"]
    pipeline(project, "partial", *told).run(until="teach")
    first = next(iter(outcomes(project)))
    add_category(project)
    pipeline(project, "partial", *told).run(until="teach")
    manifest, outcome, folder = next(v for k, v in outcomes(project).items() if k != first)
    assert manifest["categories"] == ["heat", "kind", "late", "wifi"]
    assert outcome["started_from"] == first
    # It starts where the first one ended, not from nothing: its first evaluation is already good.
    fresh = outcomes(project)[first][1]["history"]
    assert outcome["history"][0]["f1"] > fresh[0]["f1"] + 0.05
    trained_on = json.loads((folder / "trained_on.json").read_text(encoding="utf-8"))
    chain = pipeline(project, "partial", *told)
    prepared = Prepared.load(chain.folder("data"))
    held_out = [t for t, f in zip(prepared.train.texts, prepared.folds, strict=True) if f == 0]
    judges = {key_of(normalise(text)) for text in held_out + prepared.dev.texts + prepared.test.texts}
    assert trained_on and judges.isdisjoint(trained_on)


def test_partial_starts_afresh_when_a_text_that_it_learnt_now_judges(project):
    pipeline(project, "partial", *ONE).run(until="teach")
    first, (_, _, folder) = next(iter(outcomes(project).items()))
    learnt = json.loads((folder / "trained_on.json").read_text(encoding="utf-8"))
    prepared = Prepared.load(pipeline(project, "partial", *ONE).folder("data"))
    moved = next(text for text in prepared.train.texts if key_of(normalise(text)) in learnt)
    with (project / "dev.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps({"text": moved, "labels": ["heat"]}) + "\n")
    pipeline(project, "partial", *ONE).run(until="teach")
    assert [o["started_from"] for key, (_, o, _) in outcomes(project).items() if key != first] == [None]


def test_partial_starts_afresh_when_a_label_was_corrected(project):
    pipeline(project, "partial", *ONE).run(until="teach")
    first, (_, _, folder) = next(iter(outcomes(project).items()))
    learnt = json.loads((folder / "trained_on.json").read_text(encoding="utf-8"))
    file = project / "labels" / "heat.csv"
    with file.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.reader(lines))
    wrong = next(row for row in rows[1:] if "heat" in learnt.get(key_of(normalise(row[0])), {}))
    wrong[1] = str(1 - int(wrong[1]))
    with file.open("w", encoding="utf-8", newline="") as lines:
        csv.writer(lines).writerows(rows)
    pipeline(project, "partial", *ONE).run(until="teach")
    assert [o["started_from"] for key, (_, o, _) in outcomes(project).items() if key != first] == [None]


def test_partial_never_goes_on_from_a_network_of_another_kind(project):
    pipeline(project, "binary-ensemble", *ONE).run(until="teach")
    pipeline(project, "partial", *ONE).run(until="teach")
    assert [outcome["started_from"] for _, outcome, _ in outcomes(project).values()] == [None] * 4


def test_a_run_on_fewer_files_does_not_move_texts(project):
    def sides(*more):
        chain = pipeline(project, "probe", *more)
        chain.run(until="data")
        prepared = Prepared.load(chain.folder("data"))
        return dict(zip(prepared.train.texts, prepared.folds.tolist(), strict=True))

    before = sides()
    sides('data.labels=["labels/heat.csv"]', "data.unknown_labels=ignore")
    add_category(project)
    after = sides()
    assert {text: after[text] for text in before} == before


def test_other_settings_start_afresh(project):
    pipeline(project, "partial", *ONE).run(until="teach")
    pipeline(project, "partial", *ONE, "train.dropout=0.2").run(until="teach")
    assert [outcome["started_from"] for _, outcome, _ in outcomes(project).values()] == [None, None]
