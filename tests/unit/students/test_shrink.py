"""Feed-forward columns that texts use stay, with the very weights they had; the others go, and the folder loads again."""

import numpy as np
import pytest
import torch
from tiny_encoders import CONFIGS, tiny_encoder

from limbeck.compress.draft import fused_transformer
from limbeck.errors import BadSetting
from limbeck.students.network import Plan
from limbeck.students.observe import batches_of
from limbeck.students.shrink import _pair, keep_inner
from limbeck.students.transformer import Transformer, save_encoder
from limbeck.teach.network import Encoder

WORDS = [f"word{n}" for n in range(60)]


@pytest.fixture(scope="module")
def batches():
    rng = np.random.default_rng(0)
    return batches_of([rng.integers(5, 60, length).astype(np.int32) for length in rng.integers(3, 20, 80)], 1)


@pytest.mark.parametrize("kind", CONFIGS)
def test_half_of_the_columns_stay_and_it_loads_again(kind, batches, tmp_path):
    encoder = Encoder(tiny_encoder(tmp_path / "whole", WORDS, kind)).eval()
    before = [wide.weight.detach().clone() for wide, _ in (_pair(layer, 32) for layer in encoder.layers)]
    assert keep_inner(encoder, 0.5, batches) == 32
    for layer, rows in zip(encoder.layers, before, strict=True):
        wide, narrow = _pair_of_half(layer)
        assert wide.weight.shape == (32, 32) and narrow.weight.shape == (32, 32)
        there = {tuple(row.tolist()) for row in rows}
        assert all(tuple(row.tolist()) in there for row in wide.weight.detach())
    save_encoder(encoder, tmp_path / "half")
    again = Encoder(tmp_path / "half").eval()
    ids, mask = batches[0]
    with torch.no_grad():
        assert torch.allclose(encoder(ids, mask), again(ids, mask), atol=1e-6)
    network = Transformer(again, Plan(3, 65, 32, 32, 0.0, 1)).eval()
    assert len(fused_transformer(network, again, one_class=False)) > 1000


def _pair_of_half(layer):
    found = [module for module in layer.modules() if isinstance(module, torch.nn.Linear)]
    return found[-2:]


def test_the_columns_that_carry_most_are_kept(batches, tmp_path):
    encoder = Encoder(tiny_encoder(tmp_path / "e", WORDS)).eval()
    wide, narrow = _pair(encoder.layers[0], 32)
    with torch.no_grad():
        narrow.weight[:, ::2] *= 1e-4  # every second column says next to nothing
        odd = wide.weight[1::2].clone()
        ids, mask = batches[0]
        before = encoder(ids, mask)
    keep_inner(encoder, 0.5, batches)
    assert torch.equal(encoder.layers[0].intermediate.dense.weight, odd)
    with torch.no_grad():
        encoder.layers = encoder.layers[:1]
        assert (encoder(ids, mask) - before).abs().max() < 10


def test_a_whole_share_changes_nothing_and_no_columns_are_an_error(batches, tmp_path):
    encoder = Encoder(tiny_encoder(tmp_path / "e", WORDS)).eval()
    assert keep_inner(encoder, 1.0, batches) == 64
    with pytest.raises(BadSetting, match="feed-forward"):
        _pair(torch.nn.Linear(32, 32), 32)
