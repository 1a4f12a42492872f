"""Weak labels: they count less, go behind what people said, and judge nothing."""

import csv
import json

import numpy as np
import pytest
from teaching_project import copy_of, pipeline

from limbeck.config import DataSettings, load_project
from limbeck.data.merge import read_dataset
from limbeck.data.prepare import Prepared, read_corpus
from limbeck.errors import BadLabel
from limbeck.text import Cleaner


def read(*files, judges=False):
    return read_dataset(list(files), "multilabel", DataSettings(), Cleaner(()), judges=judges).dataset


def write(file, *rows):
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return file


def test_a_weak_label_is_known_with_its_weight(tmp_path):
    found = read(write(tmp_path / "a.jsonl", {"text": "x", "late": 1, "weak": 0.3}, {"text": "y", "late": 0}))
    assert found.names == ("late",) and found.labels.tolist() == [[1], [0]]
    assert found.weights.ravel() == pytest.approx([0.3, 1])
    assert np.isnan(found.strong[0, 0]) and found.strong[1, 0] == 0


def test_a_person_goes_before_a_rule_and_that_is_no_contradiction(tmp_path):
    weak = write(tmp_path / "a.jsonl", {"text": "x", "late": 1, "staff": 1, "weak": 0.5})
    strong = write(tmp_path / "b.jsonl", {"text": "x", "late": 0})
    merged = read_dataset([weak, strong], "multilabel", DataSettings(), Cleaner(()))
    assert merged.dataset.labels.tolist() == [[0, 1]] and merged.conflicts == ()
    assert merged.dataset.weights.tolist() == [[1, 0.5]]


def test_without_weak_labels_nothing_is_weighed(tmp_path):
    assert not len(
        read(write(tmp_path / "a.jsonl", {"text": "x", "late": 1}, {"text": "y", "late": 0, "weak": 1})).weights
    )


@pytest.mark.parametrize("weight", [0, -1, 2, "much", True, [1]])
def test_a_weight_is_above_0_and_up_to_1(tmp_path, weight):
    with pytest.raises(BadLabel, match="weight"):
        read(write(tmp_path / "a.jsonl", {"text": "x", "late": 1, "weak": weight}))


def test_weak_labels_do_not_judge(tmp_path):
    with pytest.raises(BadLabel, match="judge"):
        read(write(tmp_path / "a.jsonl", {"text": "x", "late": 1, "weak": 0.5}), judges=True)


@pytest.mark.parametrize("kind", ["probe", "partial"])
def test_teachers_learn_from_weak_labels_and_less_from_weaker_ones(template, tmp_path, kind):
    """Rules call every text late; the more that counts, the likelier texts are late."""
    found = []
    for weight in (0.01, 1.0):
        folder = copy_of(template, tmp_path / f"{kind}{weight}")
        texts = [json.loads(line)["text"] for line in (folder / "pool.jsonl").read_text().splitlines()]
        with (folder / "labels" / "rules.jsonl").open("w", encoding="utf-8") as file:
            file.writelines(json.dumps({"text": text, "late": 1, "weak": weight}) + "\n" for text in texts)
        done = pipeline(folder, kind, "teach.guesses=0", "teach.folds=1", 'data.labels=["labels"]')
        done.run(until="teach")
        prepared = Prepared.load(done.folder("data"))
        assert (len(prepared.train.weights) > 0) == (weight < 1)
        proba = np.load(done.folder("teach") / "out_of_fold.npy")
        column = prepared.train.names.index("late")
        found.append(float(np.nanmean(proba[:, column])))
    assert found[0] < found[1] - 0.05


def test_rules_can_be_labels_if_somebody_asks_for_it(template, tmp_path):
    folder = copy_of(template, tmp_path / "p")
    with (folder / "labels" / "late.csv").open(encoding="utf-8", newline="") as file:
        first = next(csv.DictReader(file))["text"]
    write(
        folder / "labels" / "rules.jsonl",
        {"text": first, "late": 1, "weak": 0.5},
        {"text": "new", "late": 1, "weak": 0.5},
    )
    train = read_corpus(load_project(folder)).train.dataset
    assert train.weights[train.texts.index(first), train.names.index("late")] == 1
    assert train.weights[train.texts.index("new"), train.names.index("late")] == 0.5
