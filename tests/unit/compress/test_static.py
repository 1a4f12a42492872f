"""Ranges seen beforehand: answers stay near, and products that can't bear it are left alone."""

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

from limbeck.compress.four_bits import quantise_weights
from limbeck.compress.static import quantise_static

WIDTH = 64


def two_products(outlier=1.0):
    """Two products in a row; the input of the second has one column that is far larger than the others."""
    rng = np.random.default_rng(0)
    first, second = (rng.normal(size=(WIDTH, WIDTH)).astype(np.float32) / 8 for _ in range(2))
    first[:, 0] *= outlier
    second[0] /= outlier
    nodes = [
        helper.make_node("MatMul", ["states", "first"], ["middle"], "one"),
        helper.make_node("Tanh", ["states"], ["bent"], "tanh"),
        helper.make_node("Add", ["middle", "bent"], ["sum"], "add"),
        helper.make_node("MatMul", ["sum", "second"], ["answers"], "two"),
    ]
    given = [helper.make_tensor_value_info("states", TensorProto.FLOAT, ["texts", "tokens", WIDTH])]
    told = [helper.make_tensor_value_info("answers", TensorProto.FLOAT, ["texts", "tokens", WIDTH])]
    weights = [numpy_helper.from_array(one, name) for one, name in ((first, "first"), (second, "second"))]
    graph = helper.make_graph(nodes, "two", given, told, weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()


@pytest.fixture(scope="module")
def samples():
    rng = np.random.default_rng(1)
    return [{"states": rng.normal(size=(1, 3 + n % 5, WIDTH)).astype(np.float32)} for n in range(30)]


def answers(graph, samples):
    session = onnxruntime.InferenceSession(graph)
    return np.concatenate([session.run(None, sample)[0].ravel() for sample in samples])


def lost(small, plain, samples):
    wanted = answers(plain, samples)
    return float(((answers(small, samples) - wanted) ** 2).sum() / (wanted**2).sum())


@pytest.mark.parametrize("ranges", ["minmax", "percentile", "entropy"])
def test_answers_stay_near_for_texts_of_any_length(samples, ranges):
    plain = two_products()
    small = quantise_static(plain, samples, ranges, reduce_range=False)
    assert lost(small, plain, samples) < 0.01 and len(small) < len(plain) * 0.75
    assert {"QuantizeLinear", "DequantizeLinear"} <= {node.op_type for node in onnx.load_from_string(small).graph.node}


def test_the_product_that_can_t_bear_it_stays_in_float(samples):
    plain = two_products(outlier=300.0)
    small = onnx.load_from_string(quantise_static(plain, samples, "minmax", reduce_range=False))
    float_weights = {t.name for t in small.graph.initializer if t.data_type == TensorProto.FLOAT and len(t.dims) == 2}
    assert float_weights == {"second"}
    assert lost(small.SerializeToString(), plain, samples) < 0.02


def test_a_graph_without_products_is_refused_in_words():
    model = onnx.load_from_string(two_products())
    for node in model.graph.node:
        if node.op_type == "MatMul":
            node.op_type = "Add"
    for recipe in (lambda g: quantise_static(g, [], "minmax", False), quantise_weights):
        with pytest.raises(ValueError, match="no product"):
            recipe(model.SerializeToString())


def test_four_bits_of_weights(samples):
    plain = two_products()
    small = quantise_weights(plain)
    assert len(small) < len(plain) / 4 and lost(small, plain, samples) < 0.05
