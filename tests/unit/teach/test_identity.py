"""Teachers know which of their labels changed, and can be asked for some of them alone."""

from dataclasses import replace

import numpy as np
import pytest
from teaching_project import multiclass_project, pipeline, teaching_project
from tiny_encoders import tiny_classifier

from limbeck.teach.kinds import load_teacher

TEXTS = ["the wifi dropped", "we arrived late, the staff were kind", "coffee was fine", ""]
QUICKER = ["teach.folds=2", "train.epochs=1"]
ALL = 'teach.blend=["probe", "partial", "binary-ensemble", "tfidf-logreg"]'


@pytest.fixture(scope="module")
def teachers(tmp_path_factory):
    """One teacher of every kind, taught the same rows."""
    project = teaching_project(tmp_path_factory.mktemp("identity") / "p")
    chain = pipeline(project, "blend", *QUICKER, ALL)
    chain.run(until="teach")
    blend = replace(load_teacher(chain.folder("teach"), project), weights=(0.4, 0.3, 0.2, 0.1))
    tiny_classifier(project / "encoder", project / "finished", ["WiFi", "something else", "Heat"])
    ready = pipeline(project, "folder", "teach.folder=finished")
    ready.run(until="teach")
    parts = {part.card.kind: part for part in blend.teachers}
    return {**parts, "blend": blend, "folder": load_teacher(ready.folder("teach"), project)}


KINDS = ["probe", "partial", "binary-ensemble", "tfidf-logreg", "blend", "folder"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("labels", [("wifi",), ("wifi", "heat"), ("late",)])
def test_some_labels_alone_are_answered_as_among_all(teachers, kind, labels):
    teacher = teachers[kind]
    some = teacher.only(labels)
    assert some.labels == some.card.labels == labels and len(some.card.thresholds) == len(labels)
    columns = [teacher.labels.index(label) for label in labels]
    assert some.predict_proba(TEXTS) == pytest.approx(teacher.predict_proba(TEXTS)[:, columns], abs=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_a_label_is_the_same_alone_and_among_others(teachers, kind):
    identity = teachers[kind].identity()
    assert list(identity) == ["heat", "late", "wifi"] and len(set(identity.values())) == 3
    assert teachers[kind].identity() == identity
    assert teachers[kind].only(["late", "heat"]).identity() == {name: identity[name] for name in ("late", "heat")}
    assert teachers[kind].only(teachers[kind].labels) is teachers[kind]


def test_a_binary_ensemble_asks_only_the_networks_that_it_needs(teachers):
    assert len(teachers["binary-ensemble"].members) == 6
    assert len(teachers["binary-ensemble"].only(["wifi"]).members) == 2
    assert len(teachers["partial"].only(["wifi"]).members) == 2


def changed(before, after):
    return {label for label, name in before.identity().items() if after.identity()[label] != name}


def test_another_head_changes_its_label_alone(teachers):
    probe = teachers["probe"]
    head = probe.heads[1][0]
    better = replace(head, score=head.score / 2)
    other = replace(head, offsets=(head.offsets[0] + np.float32(1e-3),))
    assert changed(probe, replace(probe, heads=(probe.heads[0], (better, probe.heads[1][1]), probe.heads[2]))) == set()
    moved = replace(probe, heads=(probe.heads[0], (other, probe.heads[1][1]), probe.heads[2]))
    assert changed(probe, moved) == {"late"}
    blend = teachers["blend"]
    assert changed(blend, replace(blend, teachers=(moved, *blend.teachers[1:]))) == {"late"}
    # A teacher without weight isn't asked.
    silent = replace(blend, weights=(0.0, 0.5, 0.4, 0.1))
    assert changed(silent, replace(silent, teachers=(moved, *blend.teachers[1:]))) == set()


def test_another_network_changes_the_labels_that_it_fills(teachers, tmp_path):
    for kind, labels in (("binary-ensemble", {"late"}), ("partial", {"heat", "late", "wifi"})):
        teacher = teachers[kind]
        number = next(n for n, member in enumerate(teacher.members) if 1 in member.columns)
        file = tmp_path / "other.safetensors"
        file.write_bytes(teacher.members[number].weights.read_bytes() + b" ")
        members = list(teacher.members)
        members[number] = replace(members[number], weights=file)
        assert changed(teacher, replace(teacher, members=tuple(members))) == labels
        assert changed(teacher, replace(teacher, frozen=1)) == {"heat", "late", "wifi"}


@pytest.mark.parametrize("kind", KINDS)
def test_what_all_labels_share_changes_all_of_them(teachers, kind):
    teacher = teachers[kind]
    parts = teacher.teachers if kind == "blend" else (teacher,)
    for change in ({"max_tokens": 9}, {"clean": ("whitespace",)}):
        moved = tuple(replace(part, card=replace(part.card, **change)) for part in parts)
        after = replace(teacher, teachers=moved) if kind == "blend" else moved[0]
        assert changed(teacher, after) == {"heat", "late", "wifi"}


def test_if_one_class_is_right_every_label_hangs_on_all_others(teachers, tmp_path):
    project = teaching_project(tmp_path / "p")
    folder = multiclass_project(project, tmp_path / "classes")
    chain = pipeline(folder, "blend", *QUICKER, ALL)
    chain.run(until="teach")
    blend = load_teacher(chain.folder("teach"), folder)
    assert all(teacher.only(["wifi"]) is teacher for teacher in (blend, *blend.teachers))
    [probe] = [part for part in blend.teachers if part.card.kind == "probe"]
    heads = ((probe.heads[0][1], probe.heads[0][0]), *probe.heads[1:])
    assert changed(probe, replace(probe, heads=heads)) == {"heat", "late", "wifi"}
