"""Log-odds that rounding moved are moved back, without looking at labels."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from limbeck.compress.recentre import FEWEST, fit, recentred
from limbeck.compress.sensitivity import answers

RNG = np.random.default_rng(0)
WEIGHTS = RNG.normal(size=(6, 3)).astype(np.float32)


def graph(weights, offset=0.0):
    """A product, an offset, and probabilities, as every classifier ends."""
    numbers = [numpy_helper.from_array(weights, "weights"), numpy_helper.from_array(np.float32([offset] * 3), "offset")]
    nodes = [
        helper.make_node("MatMul", ["x", "weights"], ["product"]),
        helper.make_node("Add", ["product", "offset"], ["logits"]),
        helper.make_node("Sigmoid", ["logits"], ["probabilities"]),
    ]
    shape = [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 6])]
    given = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 3]) for name in ("logits", "probabilities")]
    made = helper.make_model(
        helper.make_graph(nodes, "g", shape, given, numbers), opset_imports=[helper.make_opsetid("", 17)]
    )
    made.ir_version = 9
    return bytes(made.SerializeToString())


def samples(count):
    return [{"x": RNG.normal(size=(1, 6)).astype(np.float32)} for _ in range(count)]


def test_what_moved_is_moved_back_also_in_the_probabilities():
    plain, small = graph(WEIGHTS), graph(0.9 * WEIGHTS, offset=0.4)
    mended = recentred(small, plain, samples(FEWEST))
    onnx.checker.check_model(onnx.load_from_string(mended))
    unseen = samples(50)
    for output in ("logits", "probabilities"):
        assert np.abs(answers(mended, unseen, output) - answers(plain, unseen, output)).max() < 1e-4
        assert np.abs(answers(small, unseen, output) - answers(plain, unseen, output)).max() > 0.05


def test_what_was_moved_can_be_moved_again_as_joined_recipes_do():
    plain = graph(WEIGHTS)
    once = recentred(graph(0.9 * WEIGHTS, offset=0.4), plain, samples(FEWEST))
    twice = recentred(once, graph(1.1 * WEIGHTS), samples(FEWEST))
    onnx.checker.check_model(onnx.load_from_string(twice))
    unseen = samples(50)
    assert np.abs(answers(twice, unseen, "logits") - answers(graph(1.1 * WEIGHTS), unseen, "logits")).max() < 1e-4


def test_few_texts_and_graphs_without_logits_change_nothing():
    plain, small = graph(WEIGHTS), graph(0.9 * WEIGHTS)
    assert recentred(small, plain, samples(FEWEST - 1)) == small
    assert recentred(b"".join([plain]), plain, []) == plain


def test_a_label_that_never_moves_has_no_slope():
    slopes, offsets = fit(np.tile([1.0, 0.0], (200, 1)), np.tile([3.0, 0.0], (200, 1)))
    assert slopes.tolist() == [1.0, 1.0] and offsets.tolist() == [2.0, 0.0]
