"""Finished transformers classifiers as teachers: their labels are found by name, their answers are their own."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from teaching_project import pipeline
from tiny_encoders import CONFIGS, tiny_classifier, tiny_encoder
from torch import nn

from limbeck.errors import BadSetting, EncoderMissing
from limbeck.teach.card import Card
from limbeck.teach.encoders import find_encoder
from limbeck.teach.kinds import load_teacher
from limbeck.teach.ready import Logits, ReadyTeacher

TEXTS = ["the wifi dropped", "we arrived late, the staff were kind", "coffee was fine"]


def classifier(project, names, problem="multi_label_classification"):
    model, tokenizer = tiny_classifier(project / "encoder", project / "finished", names, problem)
    batch = tokenizer(TEXTS, padding=True, return_tensors="pt", return_token_type_ids=False)
    with torch.no_grad():
        return model.eval()(**batch).logits.numpy()


def test_its_probabilities_are_the_model_s_own_whatever_the_order_of_its_labels(project):
    logits = classifier(project, ["WiFi", "something else", "Heat"])
    chain = pipeline(project, "folder", "teach.folder=finished", "encoder.name=not-needed")
    chain.run(until="measure")
    teacher = load_teacher(chain.folder("teach"), project)
    proba = teacher.predict_proba(TEXTS)
    expected = 1 / (1 + np.exp(-logits))
    assert teacher.labels == ("heat", "late", "wifi")
    assert proba[:, [0, 2]] == pytest.approx(expected[:, [2, 0]], abs=1e-5)
    assert np.ptp(proba[:, 1]) == 0
    skipped = json.loads((chain.folder("teach") / "skipped.json").read_text(encoding="utf-8"))
    assert skipped == {"folder": {"late": "the model has no such label"}}
    assert not np.isnan(np.load(chain.folder("teach") / "out_of_fold.npy")).any()


def test_a_model_of_one_class_gives_its_softmax(project):
    logits = classifier(project, ["heat", "late", "wifi"], "single_label_classification")
    chain = pipeline(project, "folder", "teach.folder=finished")
    chain.run(until="teach")
    expected = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    assert load_teacher(chain.folder("teach"), project).predict_proba(TEXTS) == pytest.approx(expected, abs=1e-5)


def test_a_model_with_other_labels_says_which_it_has(project):
    classifier(project, ["LABEL_0", "LABEL_1"])
    with pytest.raises(BadSetting, match=r"label_0, label_1.*heat, late, wifi"):
        pipeline(project, "folder", "teach.folder=finished").run(until="teach")


def test_an_encoder_without_a_classifier_is_not_taken_for_one(project):
    with pytest.raises(EncoderMissing, match="no finished classifier"):
        pipeline(project, "folder", "teach.folder=encoder").run(until="teach")


def test_no_folder_is_one_sentence(project):
    with pytest.raises(BadSetting, match=r"teach\.folder"):
        pipeline(project, "folder").run(until="teach")


@pytest.mark.parametrize("kind", sorted(CONFIGS))
def test_sparing_what_nobody_reads_changes_no_answer(tmp_path, kind):
    names = ["heat", "late", "wifi"]
    words = sorted(set(" ".join(TEXTS).replace(",", " ").split()))
    encoder = tiny_encoder(tmp_path / "encoder", words, kind)
    model, tokenizer = tiny_classifier(encoder, tmp_path / "finished", names)
    card = Card(
        "folder", tuple(names), np.full(3, 0.5), (0.1,) * 3, (), find_encoder(str(tmp_path / "finished")), 64, False
    )
    teacher = ReadyTeacher(card, (0, 1, 2))
    with torch.no_grad():
        batch = tokenizer(TEXTS, padding=True, return_tensors="pt", return_token_type_ids=False)
        expected = torch.sigmoid(model.eval()(**batch).logits).numpy()
    assert teacher.predict_proba(TEXTS) == pytest.approx(expected, abs=1e-5)


def test_a_classifier_of_the_first_token_computes_no_other_in_its_last_layer(project):
    classifier(project, ["heat", "late", "wifi"])
    chain = pipeline(project, "folder", "teach.folder=finished")
    chain.run(until="teach")
    teacher = load_teacher(chain.folder("teach"), project)
    layers = teacher.model[0].model.bert.encoder.layer
    seen = [[], []]
    for layer, told in zip(layers, seen, strict=True):
        layer.intermediate.register_forward_hook(lambda _, given, __, told=told: told.append(given[0].shape[1]))
    teacher.predict_proba(TEXTS)
    assert min(seen[0]) > 1
    assert seen[1] == [1] * len(seen[0])


class Odd(nn.Module):
    """A classifier without layers, or one whose layers read only texts with a certain token."""

    def __init__(self, layers):
        super().__init__()
        if layers:
            self.layers = nn.ModuleList([nn.Module(), nn.Module()])
            self.layers[1].attention = nn.Identity()

    def forward(self, input_ids, attention_mask):
        if not (input_ids == 99).any():
            raise ValueError("no token to pool")
        return SimpleNamespace(logits=input_ids[:, :3].float())


@pytest.mark.parametrize("layers", [True, False])
def test_a_classifier_of_another_make_goes_on_as_it_is(layers):
    network = Logits(Odd(layers))
    network.spare_what_nobody_reads()
    ids = torch.tensor([[1, 2, 3, 99]])
    assert network(ids, torch.ones_like(ids)).tolist() == [[1, 2, 3]]
    assert not any(module._forward_hooks for module in network.modules())
