"""Encoders of any architecture: pooled as they were trained, cut where they end, and started from a frozen layer."""

import json

import numpy as np
import pytest
import torch
from tiny_encoders import CONFIGS, tiny_encoder

from limbeck.errors import EncoderMissing
from limbeck.runtime.batches import batches_by_length
from limbeck.teach.network import Classifier, Encoder
from limbeck.teach.pooling import pool, pooling_of
from limbeck.training.tokens import Tokens, pad, shuffled_batches

WORDS = "the train was late again and cold so we sat still".split()


def batch():
    ids = torch.tensor([[0, 5, 6, 7, 2], [0, 8, 2, 1, 1]])
    return ids, (ids != 1).long()


@pytest.mark.parametrize("kind", CONFIGS)
def test_every_architecture_gives_the_same_from_a_frozen_layer_on(tmp_path, kind):
    encoder = Encoder(tiny_encoder(tmp_path, WORDS, kind, layers=3)).eval()
    ids, mask = batch()
    assert len(encoder.layers) == 3 and encoder.longest in (128, 130)
    with torch.no_grad():
        whole, layers = encoder(ids, mask), encoder.all_layers(ids, mask)
        assert torch.equal(layers[-1], whole)
        with encoder.starting_at(2, layers[2]):
            assert torch.allclose(encoder(torch.full_like(ids, 9), mask), whole, atol=1e-6)
        assert torch.equal(encoder(ids, mask), whole)


@pytest.mark.parametrize("kind", CONFIGS)
def test_a_pass_that_stops_early_gives_what_a_whole_pass_gives_there(tmp_path, kind):
    encoder = Encoder(tiny_encoder(tmp_path, WORDS, kind)).eval()
    ids = torch.tensor([[0, 5, 6, 2], [0, 7, 2, 1]])
    mask = torch.tensor([[1, 1, 1, 1], [1, 1, 1, 0]])
    with torch.no_grad():
        assert torch.equal(encoder.up_to(1, ids, mask), encoder.all_layers(ids, mask)[1])
        assert encoder(ids, mask).shape == (2, 4, 32), "and the encoder is whole again"


def test_half_the_layers_and_never_all_of_them_are_frozen(tmp_path):
    encoder = Encoder(tiny_encoder(tmp_path, WORDS, layers=5))
    assert [encoder.lowest(wanted) for wanted in ("half", 0, 3, 9)] == [2, 0, 3, 4]


def test_frozen_embeddings_alone(tmp_path):
    network = Classifier(Encoder(tiny_encoder(tmp_path, WORDS)), 2, freeze_embeddings=True)
    trained = {name for name, parameter in network.named_parameters() if parameter.requires_grad}
    assert not any("word_embeddings" in name for name in trained)
    assert any(".layer.0." in name for name in trained)


def test_frozen_layers_do_not_learn_and_the_others_do(tmp_path):
    model = Classifier(Encoder(tiny_encoder(tmp_path, WORDS, layers=3)), labels=2, frozen=2)
    model(*batch()).sum().backward()
    learning = {name for name, p in model.named_parameters() if p.grad is not None}
    assert any("layer.2" in name for name in learning) and any(name.startswith("head") for name in learning)
    assert not any("layer.0" in name or "layer.1" in name or "embeddings" in name for name in learning)


def test_padding_does_not_change_a_text_s_vector(tmp_path):
    model = Classifier(Encoder(tiny_encoder(tmp_path, WORDS)), labels=2).eval()
    ids, mask = batch()
    with torch.no_grad():
        assert torch.allclose(model(ids, mask)[1], model(ids[1:, :3], mask[1:, :3])[0], atol=1e-5)


def test_pooling_by_hand():
    states = torch.tensor([[[1.0, 4.0], [3.0, 0.0], [9.0, 9.0]]])
    mask = torch.tensor([[1, 1, 0]])
    assert pool(states, mask, "mean").tolist() == [[2.0, 2.0]]
    assert pool(states, mask, "first").tolist() == [[1.0, 4.0]]
    assert pool(states, mask, "max").tolist() == [[3.0, 4.0]]


@pytest.mark.parametrize(
    ("settings", "how"),
    [
        ({"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": False}, "mean"),
        ({"pooling_mode_cls_token": True}, "first"),
        ({"pooling_mode_max_tokens": True}, "max"),
        ({"pooling_mode": "cls"}, "first"),
        ({"pooling_mode": "mean"}, "mean"),
        (None, "mean"),
    ],
)
def test_pooling_is_the_encoder_s_own(tmp_path, settings, how):
    if settings is not None:
        (tmp_path / "1_Pooling").mkdir()
        (tmp_path / "1_Pooling" / "config.json").write_text(json.dumps(settings), encoding="utf-8")
    assert pooling_of(tmp_path) == how


def test_an_encoder_that_cannot_be_loaded_is_one_sentence(tmp_path):
    tiny_encoder(tmp_path, WORDS)
    (tmp_path / "model.safetensors").write_bytes(b"broken")
    with pytest.raises(EncoderMissing, match="can't be loaded"):
        Encoder(tmp_path)


def test_long_texts_are_cut_and_cost_no_more_than_what_is_kept(tmp_path):
    tokens = Tokens(tiny_encoder(tmp_path, WORDS), max_tokens=10)
    short, long = tokens.encode(["the train", "late " * 100_000])
    assert (len(short), len(long)) == (4, 10) and short[0] == 0 and long[-1] == 2


def test_batches_hold_every_row_once_and_similar_lengths():
    lengths = np.random.default_rng(0).integers(3, 60, 500)
    for batches in (batches_by_length(lengths, 32), list(shuffled_batches(lengths, 32, np.random.default_rng(1)))):
        assert sorted(np.concatenate(batches).tolist()) == list(range(500))
        wasted = sum(int((lengths[b].max() - lengths[b]).sum()) for b in batches)
        assert wasted < 0.1 * lengths.sum()


def test_a_batch_is_as_wide_as_its_longest_text():
    made = pad([np.array([0, 5, 2]), np.array([0, 2])], np.array([1, 0]), pad_id=1)
    assert made.ids.tolist() == [[0, 2, 1], [0, 5, 2]] and made.mask.tolist() == [[1, 1, 0], [1, 1, 1]]
