"""Tables in less than 8 bits: what is looked up stays near, and bytes go where they should."""

import numpy as np
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

from limbeck.compress.eight_bits import quantise_tables
from limbeck.compress.small_tables import by_products, factorised, in_four_bits, met, nearest_of_few

TOKENS, WIDTH = 3000, 64


def lookup(table):
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["logits"], "lookup")]
    given = [helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["texts", "tokens"])]
    told = [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["texts", "tokens", table.shape[1]])]
    graph = helper.make_graph(nodes, "lookup", given, told, [numpy_helper.from_array(table, "table")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return model.SerializeToString()


def rows_of(graph, ids):
    return onnxruntime.InferenceSession(graph).run(["logits"], {"input_ids": ids})[0]


@pytest.fixture(scope="module")
def table():
    """Rows of very different sizes that lie near 16 dimensions, as learnt ones do."""
    rng = np.random.default_rng(0)
    near = rng.normal(size=(TOKENS, 16)) @ rng.normal(size=(16, WIDTH)) + 0.1 * rng.normal(size=(TOKENS, WIDTH))
    return (near * rng.gamma(1.0, size=(TOKENS, 1))).astype(np.float32)


@pytest.fixture(scope="module")
def ids():
    return np.random.default_rng(1).integers(0, TOKENS, (3, 40))


def lost(graph, table, ids):
    wanted = table[ids]
    return float(((rows_of(graph, ids) - wanted) ** 2).sum() / (wanted**2).sum())


def test_products_take_a_byte_for_so_many_numbers(table, ids):
    plain = lookup(table)
    sizes, losses = {}, {}
    for numbers in (2, 4, 6):
        small = by_products(plain, [], numbers)
        sizes[numbers], losses[numbers] = len(small), lost(small, table, ids)
        codes = TOKENS * -(-WIDTH // numbers)
        assert codes < sizes[numbers] < codes + TOKENS * 2 + 256 * 2 * (WIDTH + numbers) + 2_000
        assert rows_of(small, ids).shape == (3, 40, WIDTH)  # also where the width is no multiple
    assert losses[2] < losses[4] < losses[6] < 0.5 and losses[2] < 0.02
    assert sizes[4] < len(quantise_tables(plain)) / 2


def test_tokens_that_texts_use_are_kept_best(table):
    used = np.arange(50)[None]
    samples = [{"input_ids": used}] * 200
    with_texts, without = (lost(by_products(lookup(table), some, 8), table, used) for some in (samples, []))
    assert with_texts < without / 2
    counted = met(samples, TOKENS)
    assert counted[0] > 200 and 0 < counted[60] < 1


def test_a_table_of_low_rank_is_kept_by_its_factors(table, ids):
    small = factorised(lookup(table), [], 0.25)
    assert len(small) < len(lookup(table)) / 3 and lost(small, table, ids) < 0.02


def test_four_bits(table, ids):
    small = in_four_bits(lookup(table))
    assert len(small) < len(lookup(table)) / 6 and lost(small, table, ids) < 0.02
    odd = np.ascontiguousarray(table[:, :50])
    assert rows_of(in_four_bits(lookup(odd)), ids) == pytest.approx(odd[ids])  # no whole blocks: left as it is


def test_rows_of_zeros_and_few_rows(ids):
    few = np.zeros((10, 16), dtype=np.float32)
    few[1] = 3
    for smaller in (lambda g: by_products(g, [], 4), in_four_bits, lambda g: factorised(g, [], 0.5)):
        assert rows_of(smaller(lookup(few)), ids % 10) == pytest.approx(few[ids % 10], abs=0.3)


def test_centres_are_the_points_themselves_where_there_are_few():
    points = np.repeat(np.array([[0.0, 1.0], [5.0, -2.0], [9.0, 9.0]], dtype=np.float32), 40, axis=0)
    centres, codes = nearest_of_few(points, np.ones(120), 0)
    assert centres[codes] == pytest.approx(points) and codes.dtype == np.uint8
