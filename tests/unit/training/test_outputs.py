"""Networks that score many texts as ONNX graphs say the same as the networks themselves."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
import torch
from tiny_encoders import CONFIGS, tiny_encoder
from torch import nn

from limbeck.teach.features import Featuriser
from limbeck.teach.network import Classifier, Encoder
from limbeck.teach.states import lowest_layers, states_of
from limbeck.training import outputs as module
from limbeck.training.examples import unlabelled
from limbeck.training.outputs import MANY, Graph, ManyTexts, outputs

WORDS = [f"word{number}" for number in range(60)]


def some_ids(count, seed=0):
    """Texts of 1 to 40 tokens, and enough of them to be worth an export."""
    rng = np.random.default_rng(seed)
    return [rng.integers(5, 60, size=rng.integers(1, 41)).astype(np.int32) for _ in range(count)]


def everything(network, examples):
    found = {
        int(row): said for rows, output in outputs(network, examples, 1) for row, said in zip(rows, output, strict=True)
    }
    return [found[row] for row in range(len(examples))]


@pytest.fixture
def graphs_run(monkeypatch):
    """Count the batches that go through graphs."""
    counted = []
    original = Graph.run
    monkeypatch.setattr(Graph, "run", lambda self, inputs: counted.append(1) or original(self, inputs))
    return counted


@pytest.mark.parametrize("kind", sorted(CONFIGS))
def test_every_architecture_says_the_same_as_a_graph(tmp_path, kind, graphs_run):
    classifier = Classifier(Encoder(tiny_encoder(tmp_path, WORDS, kind)), 3).eval()
    examples = unlabelled(some_ids(MANY))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fast = everything(ManyTexts(classifier), examples)
    assert len(graphs_run) > MANY / 32
    assert np.allclose(fast, everything(classifier, examples), atol=1e-5)


def test_few_texts_are_not_worth_an_export_unless_it_is_there_already(tmp_path, graphs_run):
    many = ManyTexts(Classifier(Encoder(tiny_encoder(tmp_path, WORDS)), 3))
    everything(many, unlabelled(some_ids(MANY - 1)))
    assert not graphs_run
    everything(many, unlabelled(some_ids(MANY)))
    before = len(graphs_run)
    everything(many, unlabelled(some_ids(10)))
    assert before > 0
    assert len(graphs_run) > before


def test_one_graph_serves_members_with_weights_of_their_own(tmp_path, graphs_run):
    encoder = Encoder(tiny_encoder(tmp_path, WORDS, layers=3))
    classifier = Classifier(encoder, 2, frozen=1).eval()
    ids = some_ids(MANY)
    states = states_of(lowest_layers(encoder, 1), ids, 1)
    examples = replace(unlabelled(ids), states=states)
    many = ManyTexts(classifier, weights_apart=True)
    members = []
    for seed in (1, 2):
        torch.manual_seed(seed)
        trained = [name for name, weight in classifier.named_parameters() if weight.requires_grad]
        state = classifier.state_dict()
        members.append({name: state[name] + 0.2 * torch.randn_like(state[name]) for name in trained})
    said = []
    for member in members:
        many.take(member)
        said.append(everything(many, examples))
        assert np.allclose(said[-1], everything(classifier, examples), atol=1e-4)
    assert not np.allclose(said[0], said[1], atol=1e-2)
    assert graphs_run


def test_the_features_of_many_texts_are_those_of_few(tmp_path, graphs_run):
    featuriser = Featuriser(tiny_encoder(tmp_path, WORDS), 32)
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(WORDS, rng.integers(1, 20))) for _ in range(MANY)]
    one_by_one = np.concatenate([featuriser([text]) for text in texts[:20]])
    assert not graphs_run
    assert np.allclose(featuriser(texts)[:20], one_by_one, atol=1e-5)
    assert graphs_run


class Branching(nn.Module):
    """Says another thing of long texts, which tracing can't follow."""

    def forward(self, ids, mask):
        long = ids.shape[1] > 8
        return ids.float().mean(dim=1, keepdim=True) * (2 if long else 1)


class Strange(nn.Module):
    """Can't be exported at all."""

    def forward(self, ids, mask):
        return torch.from_numpy(np.sort(ids.numpy(), axis=1)[:, -1:].astype(np.float32))


@pytest.mark.parametrize("network", [Branching(), Strange()])
def test_a_network_whose_graph_says_something_else_runs_as_it_is(network):
    examples = unlabelled([np.full(20, number % 50, dtype=np.int32) for number in range(MANY)])
    with pytest.warns(UserWarning, match="can't be exported"):
        found = everything(ManyTexts(network), examples)
    assert np.array_equal(found, everything(network, examples))


def test_few_batches_are_held_in_memory_at_a_time(tmp_path, monkeypatch):
    many = ManyTexts(Classifier(Encoder(tiny_encoder(tmp_path, WORDS)), 3))
    monkeypatch.setattr(module, "SCORED_AT_ONCE", 4)
    made = []
    original = Graph.run
    monkeypatch.setattr(Graph, "run", lambda self, inputs: made.append(1) or original(self, inputs))
    stream = outputs(many, unlabelled(some_ids(MANY)), 1)
    next(stream)
    assert len(made) <= 2 * many.graph(None, []).cores + 2
    stream.close()
