"""Models that count words, as graphs over word ids, so that one runtime serves them and networks alike."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper
from tokenizers import Regex, Tokenizer
from tokenizers.models import WordLevel
from tokenizers.normalizers import Lowercase
from tokenizers.pre_tokenizers import Split
from tokenizers.processors import TemplateProcessing

from limbeck.baselines import BaselineScorer
from limbeck.baselines.boosted import Boosted
from limbeck.baselines.features import WordFeatures
from limbeck.baselines.logistic import Logistic
from limbeck.baselines.svm import RbfSvm
from limbeck.compress.draft import Trained
from limbeck.compress.export import INPUTS, OPSET
from limbeck.errors import BadSetting, ExtraMissing
from limbeck.students.pieces import Pieces

PAD, UNKNOWN, START = "[PAD]", "[UNK]", "[CLS]"
# What the counters of scikit-learn take for a word: letters and digits of any script, and no marks between them.
WORD = r"[\p{L}\p{N}_]+"
MAX_TOKENS = 4096
# Support vectors are dense in a graph; those of many thousand texts would fill the memory of whoever loads it.
LARGEST = 256_000_000
EDGE = 1e-7


def words_graph(scorer: BaselineScorer) -> Trained:
    """Give a baseline as a graph of word ids, with the tokeniser that makes them."""
    models = [part.model for part in scorer.parts if part.model]
    words = sorted({word for model in models for word in _features(model).words if " " not in word})
    ids = {word: number for number, word in enumerate([PAD, UNKNOWN, START, *words])}
    graph = _Graph(ids)
    columns: dict[int, str] = {}
    for part in scorer.parts:
        if part.model:
            found = says(part.model, graph)
            columns |= {column: graph.column(found, at) for at, column in enumerate(part.columns)}
        else:
            columns |= {column: graph.rate(part.rate) for column in part.columns}
    proba = graph.add("Concat", *(columns[column] for column in sorted(columns)), axis=1)
    if scorer.one_class:
        total = graph.add("ReduceSum", proba, graph.constant(np.array([1])), keepdims=1)
        proba = graph.add("Div", proba, graph.add("Max", total, graph.number(1e-12)))
    made = graph.model(proba, scorer.one_class, len(scorer.labels))
    return Trained(
        scorer.kind,
        scorer.labels,
        scorer.clean,
        scorer.one_class,
        graph.numbers_held,
        Pieces(_tokeniser(ids), MAX_TOKENS, ids[PAD], None),
        made.SerializeToString(),
        scorer,
        network=None,
    )


class _Graph:
    """A graph in the making; every method adds to it and gives the name of what it made, [texts, something]."""

    def __init__(self, ids: dict[str, int]) -> None:
        self.ids = ids
        self.nodes: list[NodeProto] = []
        self.constants: list[TensorProto] = []
        self.numbers_held = 0
        self.domains = [helper.make_opsetid("", OPSET)]

    def add(self, operation: str, *inputs: str, **attributes: Any) -> str:  # noqa: ANN401 - whatever operations take
        """Add an operation with one output."""
        output = f"{operation}.{len(self.nodes)}"
        self.nodes.append(helper.make_node(operation, list(inputs), [output], output, **attributes))
        return output

    def constant(self, numbers: NDArray[np.generic], exact: bool = False) -> str:
        """Add an array; floats are held in single precision, or as they are if they must be `exact`."""
        single = numbers.dtype.kind == "f" and not exact
        kept = numbers.astype(np.float32) if single else numbers
        self.numbers_held += kept.size
        name = f"constant.{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(kept), name))
        return name

    def number(self, value: float, exact: bool = False) -> str:
        """Add a single number."""
        return self.constant(np.array(value, dtype=np.float64), exact)

    def column(self, matrix: str, at: int) -> str:
        """Take one column, as a matrix."""
        return self.add("Gather", matrix, self.constant(np.array([at])), axis=1)

    def rate(self, rate: float) -> str:
        """Give the same number for every text."""
        first = self.add(
            "Cast", self.add("Gather", INPUTS[1], self.constant(np.array([0])), axis=1), to=TensorProto.FLOAT
        )
        nothing = self.add("Mul", first, self.number(0.0))
        return self.add("Add", nothing, self.number(rate))

    def counts(self, features: WordFeatures) -> str:
        """Count words and runs of words."""
        runs = [tuple(self.ids[word] for word in run.split(" ")) for run in features.words]
        order = sorted(range(len(runs)), key=lambda column: len(runs[column]))
        sizes = [len(runs[column]) for column in order]
        starts = [sum(size for size in sizes if size < length) for length in range(1, features.longest + 1)]
        return self.add(
            "TfIdfVectorizer",
            INPUTS[0],
            mode="TF",
            min_gram_length=1,
            max_gram_length=features.longest,
            max_skip_count=0,
            ngram_counts=starts,
            ngram_indexes=order,
            pool_int64s=[number for column in order for number in runs[column]],
        )

    def weighed(self, features: WordFeatures) -> str:
        """Weigh words by how rare they are, repeated ones by the logarithm, and bring rows to length 1.

        In double precision: boosters part texts at the very numbers that some of them have, and a last digit decides.
        """
        counts = self.counts(features)
        if features.idf is None:
            return counts
        one = self.number(1.0, exact=True)
        exact = self.add("Cast", counts, to=TensorProto.DOUBLE)
        # Words that aren't there have the logarithm 0 and no presence, hence stay 0.
        repeated, there = self.add("Log", self.add("Max", exact, one)), self.add("Min", exact, one)
        rows = self.add("Mul", self.add("Add", repeated, there), self.constant(features.idf, exact=True))
        length = self.add("ReduceL2", rows, axes=[1], keepdims=1)
        unit = self.add("Div", rows, self.add("Max", length, self.number(1e-12, exact=True)))
        return self.add("Cast", unit, to=TensorProto.FLOAT)

    def model(self, proba: str, one_class: bool, labels: int) -> ModelProto:
        """Finish with the outputs that every bundle has."""
        inside = self.add("Clip", proba, self.number(EDGE), self.number(1 - EDGE))
        logs = self.add("Log", inside)
        if not one_class:
            logs = self.add("Sub", logs, self.add("Log", self.add("Sub", self.number(1.0), inside)))
        for name, found in (("logits", logs), ("probabilities", proba)):
            self.nodes.append(helper.make_node("Identity", [found], [name]))
        inputs = [helper.make_tensor_value_info(n, TensorProto.INT64, ["texts", "tokens"]) for n in INPUTS]
        outputs = [
            helper.make_tensor_value_info(n, TensorProto.FLOAT, ["texts", labels]) for n in ("logits", "probabilities")
        ]
        graph = helper.make_graph(self.nodes, "words", inputs, outputs, self.constants)
        return helper.make_model(graph, opset_imports=self.domains, ir_version=8)


@singledispatch
def says(model: object, graph: _Graph) -> str:
    """Add a model to the graph; give the name of its probabilities [texts, columns]."""
    raise BadSetting(f"There is no graph of a {type(model).__name__}.", "Compress another model.")


@says.register
def _(model: Logistic, graph: _Graph) -> str:
    scores = graph.add("MatMul", graph.weighed(model.features), graph.constant(model.weights.T))
    return graph.add("Sigmoid", graph.add("Add", scores, graph.constant(model.intercepts)))


@says.register
def _(model: RbfSvm, graph: _Graph) -> str:
    size = sum(4 * machine.vectors.shape[0] * machine.vectors.shape[1] for machine in model.machines)
    if size > LARGEST:
        raise BadSetting(f"The support vectors of this svm would take {size / 1e6:,.0f} MB.", "Compress another model.")
    rows = graph.weighed(model.features)
    own = graph.add("ReduceSumSquare", rows, axes=[1], keepdims=1)
    columns = []
    for machine in model.machines:
        vectors = np.asarray(machine.vectors.todense())
        near = graph.add("MatMul", rows, graph.constant(-2.0 * vectors.T))
        theirs = graph.constant((vectors**2).sum(axis=1))
        distance = graph.add("Max", graph.add("Add", graph.add("Add", near, own), theirs), graph.number(0.0))
        kernel = graph.add("Exp", graph.add("Mul", distance, graph.number(-machine.gamma)))
        margin = graph.add("MatMul", kernel, graph.constant(machine.slope * machine.duals[:, None]))
        columns.append(graph.add("Add", margin, graph.number(machine.slope * machine.intercept + machine.offset)))
    return graph.add("Sigmoid", graph.add("Concat", *columns, axis=1))


@says.register
def _(model: Boosted, graph: _Graph) -> str:
    try:
        from onnxmltools import convert_xgboost
        from onnxmltools.convert.common.data_types import FloatTensorType
    except ImportError:
        raise ExtraMissing("baselines", "A bundle of XGBoost") from None
    rows = graph.weighed(model.features)
    # To a booster a word that isn't there is missing, not 0.
    absent = graph.add("Equal", rows, graph.number(0.0))
    shown = graph.add("Where", absent, graph.number(float("nan")), rows)
    width = len(model.features.words)
    columns = []
    for booster in model.boosters:
        converted = convert_xgboost(booster, initial_types=[("rows", FloatTensorType([None, width]))], target_opset=15)
        [trees] = converted.graph.node
        graph.numbers_held += next(len(a.floats) for a in trees.attribute if a.name == "nodes_values")
        if len(graph.domains) == 1:
            graph.domains += [domain for domain in converted.opset_import if domain.domain == trees.domain]
        output = f"trees.{len(graph.nodes)}"
        trees.input[:], trees.output[:], trees.name = [shown], [f"{output}.label", output], output
        graph.nodes.append(trees)
        columns.append(graph.column(output, 1))
    return graph.add("Concat", *columns, axis=1)


def _features(model: object) -> WordFeatures:
    features: WordFeatures = model.features  # type: ignore[attr-defined]
    return features


def _tokeniser(ids: dict[str, int]) -> Tokenizer:
    """Split texts into lowered words; a start token stands before them, so that no text is empty.

    But for a capital sigma at a word's end, which the library lowers like any other, they are scikit-learn's words.
    """
    tokenizer = Tokenizer(WordLevel(ids, unk_token=UNKNOWN))
    tokenizer.normalizer = Lowercase()
    tokenizer.pre_tokenizer = Split(Regex(WORD), behavior="removed", invert=True)
    tokenizer.post_processor = TemplateProcessing(single=f"{START} $A", special_tokens=[(START, ids[START])])
    return tokenizer
