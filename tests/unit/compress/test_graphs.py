"""Encoders of every shape export, fuse, quantise, and still say what the network says."""

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from onnx import TensorProto, helper, numpy_helper
from tiny_encoders import CONFIGS, tiny_encoder

from limbeck.compress.draft import fused_transformer
from limbeck.compress.eight_bits import quantise, quantise_tables
from limbeck.compress.export import export
from limbeck.compress.fuse import fused_operations
from limbeck.compress.recipes import RECIPES, Circumstances
from limbeck.compress.rows import scale_rows
from limbeck.students.network import Plan
from limbeck.students.registry import NETWORKS
from limbeck.students.transformer import Transformer
from limbeck.teach.network import Encoder

WORDS = [f"word{n}" for n in range(60)]
LENGTHS = [(1, 1), (1, 7), (3, 12), (2, 40)]


def batch(texts, tokens, rng):
    ids = rng.integers(5, 60, (texts, tokens))
    mask = np.ones_like(ids)
    for row in range(1, texts):
        mask[row, -row * 2 :] = 0
        ids[row, -row * 2 :] = 1
    return ids, mask


def run(graph, ids, mask):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(graph, options)
    return session.run(["probabilities"], {"input_ids": ids, "attention_mask": mask})[0]


def farthest(network, graph):
    rng, gaps = np.random.default_rng(0), []
    for texts, tokens in LENGTHS:
        ids, mask = batch(texts, tokens, rng)
        with torch.no_grad():
            expected = torch.sigmoid(network.eval()(torch.from_numpy(ids), torch.from_numpy(mask))).numpy()
        gaps.append(float(np.abs(run(graph, ids, mask) - expected).max()))
    return max(gaps)


@pytest.fixture(scope="module", params=CONFIGS)
def encoder(request, tmp_path_factory):
    return request.param, tiny_encoder(tmp_path_factory.mktemp(request.param), WORDS, request.param)


def test_encoders_of_every_shape(encoder):
    kind, folder = encoder
    torch.manual_seed(0)
    network = Transformer(Encoder(folder), Plan(3, 65, 32, 32, 0.0, 1)).eval()
    plain = export(network, one_class=False)
    assert farthest(network, plain) < 1e-5
    fused = fused_transformer(network, network.encoder, one_class=False)
    assert farthest(network, fused) < 1e-5
    told = fused_operations(fused)
    # Fused with the skip connection before it, a norm takes longer than apart from it.
    assert "SkipLayerNormalization" not in told, (kind, told)
    assert operations(fused).count("LayerNormalization") >= 3, kind
    assert kind == "mpnet" or told.get("Attention") == 2, (kind, told)
    rng = np.random.default_rng(1)
    samples = [dict(zip(("input_ids", "attention_mask"), batch(1, 9, rng), strict=True)) for _ in range(120)]
    for name, recipe in RECIPES.items():
        try:
            small = recipe(fused, Circumstances(True, samples, lambda small: True))
        except ValueError as error:
            # What the runtime has no kernel for is refused in words.
            assert name.startswith(("static", "int4")) and "product" in str(error), (kind, name)
            continue
        # Random tables have no directions that matter less than others.
        assert farthest(network, small) < (0.15 if name == "tables-low-rank" else 0.05), (kind, name)


def test_a_scale_a_token_changes_nothing_but_the_rounding(encoder):
    kind, folder = encoder
    torch.manual_seed(0)
    network = Transformer(Encoder(folder), Plan(3, 65, 32, 32, 0.0, 1)).eval()
    with torch.no_grad():
        # One token far larger than all others, as encoders have them.
        next(network.encoder.parameters())[7] *= 100
    fused = fused_transformer(network, network.encoder, one_class=False)
    assert farthest(network, scale_rows(fused)) < 1e-5
    assert farthest(network, scale_rows(fused, normed=False)) < 1e-5
    everywhere, some = (maxima(scale_rows(fused, normed)) for normed in (True, False))
    # A layer's products with states from a norm: the wide one, and query, key and value where they aren't fused.
    assert 2 <= everywhere - some <= 8, (kind, everywhere, some)


def maxima(graph):
    return operations(graph).count("ReduceMax")


def operations(graph):
    return [node.op_type for node in onnx.load_from_string(graph).graph.node]


def test_a_scale_a_token_rounds_less():
    rng = np.random.default_rng(0)
    weights = rng.normal(size=(64, 8)).astype(np.float32)
    states = rng.normal(size=(1, 12, 64)).astype(np.float32)
    states[0, 3] *= 50
    states[0, 5] = 0
    graph = product_of(weights)
    plain, apart = (
        quantise(g, per_channel=True, symmetric=True, reduce_range=True) for g in (graph, scale_rows(graph))
    )
    others = np.arange(12) != 3
    gaps = [np.abs(times(g, states) - states @ weights)[0, others].mean() for g in (plain, apart)]
    assert gaps[1] < gaps[0] / 10


def product_of(weights):
    shape = [1, "tokens", weights.shape[0]]
    made = helper.make_graph(
        [helper.make_node("MatMul", ["states", "weights"], ["found"], "product")],
        "product",
        [helper.make_tensor_value_info("states", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("found", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(weights, "weights")],
    )
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()


def times(graph, states):
    return onnxruntime.InferenceSession(graph, providers=["CPUExecutionProvider"]).run(None, {"states": states})[0]


@pytest.mark.parametrize("kind", NETWORKS)
def test_small_networks(kind):
    torch.manual_seed(0)
    network = NETWORKS[kind](Plan(3, 65, 16, 16, 0.0, 1)).eval()
    plain = export(network, one_class=False)
    assert farthest(network, plain) < 1e-5
    assert farthest(network, quantise_tables(plain)) < 0.02
    assert farthest(network, quantise(plain, per_channel=False, symmetric=True, reduce_range=True)) < 0.05
