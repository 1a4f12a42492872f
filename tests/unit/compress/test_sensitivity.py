"""The products that lose most by 8 bits are found, and left in float."""

import numpy as np
import onnx
import pytest
import torch
from tiny_encoders import tiny_encoder

from limbeck.compress import sensitivity
from limbeck.compress.draft import fused_transformer
from limbeck.compress.recipes import RECIPES, Circumstances
from limbeck.compress.sensitivity import guilty_products, losses, products, spare_until
from limbeck.students.network import Plan
from limbeck.students.transformer import Transformer
from limbeck.teach.network import Encoder


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    torch.manual_seed(0)
    folder = tiny_encoder(tmp_path_factory.mktemp("e"), [f"word{n}" for n in range(60)])
    network = Transformer(Encoder(folder), Plan(3, 65, 32, 32, 0.0, 1)).eval()
    with torch.no_grad():
        # One product with a column far larger than the others: 8 bits are too coarse for the rest of it.
        network.encoder.layers[1].output.dense.weight[:, 5] *= 300
    graph = fused_transformer(network, network.encoder, one_class=False)
    rng = np.random.default_rng(0)
    ids = [rng.integers(5, 60, (1, 12)) for _ in range(20)]
    return graph, [{"input_ids": one, "attention_mask": np.ones_like(one)} for one in ids]


def test_the_guilty_one_is_spared(made, monkeypatch):
    graph, samples = made
    monkeypatch.setattr(sensitivity, "FEWEST", 1)
    spared = guilty_products(graph, samples, saturates=False)
    sizes, lost = products(onnx.load_from_string(graph)), losses(graph, samples, saturates=False)
    assert 0 < len(spared) < len(sizes)
    for_size = {name: lost[name] / sizes[name] for name in sizes}
    assert max(for_size, key=for_size.get) in spared and min(for_size, key=for_size.get) not in spared
    assert sum(sizes[name] for name in spared) <= sensitivity.SPARED * sum(sizes.values())


def test_a_small_graph_and_one_without_texts_spare_nothing(made):
    graph, samples = made
    assert guilty_products(graph, samples, saturates=False) == []
    assert guilty_products(graph, [], saturates=False) == []


def test_what_is_spared_stays_in_float(made, monkeypatch):
    graph, samples = made
    monkeypatch.setattr(sensitivity, "FEWEST", 1)
    mixed, rows = (RECIPES[name](graph, Circumstances(False, samples)) for name in ("int8-mixed", "int8-rows"))

    def integers(graph):
        nodes = onnx.load_from_string(graph).graph.node
        return sum(node.op_type in ("MatMulInteger", "DynamicQuantizeMatMul", "QAttention") for node in nodes)

    assert 0 < integers(mixed) < integers(rows)


def test_products_are_spared_one_after_the_other_until_little_is_lost(made):
    graph, samples = made
    sizes, lost = products(onnx.load_from_string(graph)), losses(graph, samples, saturates=False)
    worst = sorted(sizes, key=lambda name: lost[name] / sizes[name], reverse=True)

    def spared_until(enough):
        return spare_until(graph, samples, False, lambda spared: "|".join(spared).encode(), enough)

    assert spared_until(lambda small: True) == b""
    assert spared_until(lambda small: worst[1] in small.decode().split("|")) == "|".join(worst[:2]).encode()
    with pytest.raises(ValueError, match="too much is lost"):
        spared_until(lambda small: False)


def test_how_much_is_spared_hangs_on_what_may_be_lost(made):
    graph, samples = made
    # Token tables are in 8 bits whatever is spared.
    plain = sensitivity.answers(RECIPES["tables"](graph, Circumstances(False)), samples)

    def lost(small):
        return float(((sensitivity.answers(small, samples) - plain) ** 2).mean())

    def integers(most):
        asked = Circumstances(False, samples, lambda small: lost(small) <= most)
        nodes = onnx.load_from_string(RECIPES["int8-budget"](graph, asked)).graph.node
        return sum(node.op_type in ("MatMulInteger", "DynamicQuantizeMatMul", "QAttention") for node in nodes)

    whole = lost(RECIPES["int8-channels"](graph, Circumstances(False, samples)))
    assert 0 < integers(whole * 0.8) < integers(whole * 2)
