"""A small bundle made by hand: three labels, a bag of words, no training."""

from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer
from tokenizers.processors import TemplateProcessing

from limbeck.runtime.bundle import write_facts
from limbeck.runtime.manifest import Label, Manifest, Model, Reading

WORDS = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "late",
    "hot",
    "wifi",
    "the",
    "train",
    "was",
    ",",
    "!",
    "l",
    "##ate",
    "##r",
]


def tokeniser() -> Tokenizer:
    numbers = {word: number for number, word in enumerate(WORDS)}
    made = Tokenizer(WordPiece(numbers, unk_token="[UNK]"))
    made.normalizer = BertNormalizer(lowercase=True)
    made.pre_tokenizer = BertPreTokenizer()
    made.post_processor = TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    made.add_special_tokens(WORDS[:4])
    return made


def graph(external: str = "") -> bytes:
    """A table whose first three columns count 'late', 'hot' and 'wifi', added up over the text."""
    table = np.full((len(WORDS), 3), 0.0, dtype=np.float32)
    table[4, 0] = table[5, 1] = table[6, 2] = 8
    table[2] = -4  # once a text
    numbers = numpy_helper.from_array(table, "table")
    if external:
        numbers = TensorProto(name="table", data_type=TensorProto.FLOAT, dims=table.shape)
        numbers.data_location = TensorProto.EXTERNAL
        entry = numbers.external_data.add()
        entry.key, entry.value = "location", external
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["vectors"]),
        helper.make_node("Cast", ["attention_mask"], ["inside"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["inside", "last"], ["wide"]),
        helper.make_node("Mul", ["vectors", "wide"], ["shown"]),
        helper.make_node("ReduceSum", ["shown", "tokens"], ["embedding"], keepdims=0),
        helper.make_node("Identity", ["embedding"], ["logits"]),
        helper.make_node("Sigmoid", ["logits"], ["probabilities"]),
    ]
    axes = [numpy_helper.from_array(np.array([at], dtype=np.int64), name) for name, at in (("last", 2), ("tokens", 1))]
    given = [
        helper.make_tensor_value_info(n, TensorProto.INT64, ["texts", "tokens"])
        for n in ("input_ids", "attention_mask")
    ]
    told = [
        helper.make_tensor_value_info(n, TensorProto.FLOAT, ["texts", 3])
        for n in ("logits", "probabilities", "embedding")
    ]
    whole = helper.make_model(
        helper.make_graph(nodes, "bag", given, told, [numbers, *axes]),
        opset_imports=[helper.make_opsetid("", 17)],
        ir_version=8,
    )
    return whole.SerializeToString()


def manifest(**changed) -> Manifest:
    reading = {"clean": ["whitespace"], "max_tokens": 8, "pad_id": 0, "unknown_id": 1} | changed.pop("reading", {})
    about = {
        "name": "by hand",
        "made_with": "test",
        "made_at": "today",
        "task": "multilabel",
        "labels": [Label(name=name, title=name.title(), threshold=0.5) for name in ("late", "hot", "wifi")],
        "reading": Reading(**reading),
        "model": Model(kind="bag", recipe="float", parameters=45, embedding=3),
        "files": {},
    }
    return Manifest(**about | changed)


def write_bundle(folder: Path, model: bytes = b"", **changed) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.onnx").write_bytes(model or graph())
    tokeniser().save(str(folder / "tokenizer.json"))
    (folder / "README.md").write_text("# By hand\n", encoding="utf-8")
    write_facts(folder, manifest(**changed))
    return folder
