"""The window: what it counts, what it forgets, and that windows of several processes add up to one."""

import json
from dataclasses import asdict
from pathlib import Path
from threading import Thread

import numpy as np
import pytest
from bundles import manifest, write_bundle
from onnx import TensorProto, helper, numpy_helper

from limbeck.compress.reference import reference_of
from limbeck.compress.taggers import _reference as tagger_reference_of
from limbeck.runtime.bundle import Bundle, read_bundle
from limbeck.runtime.facts import BadFact
from limbeck.runtime.lexicon import word_list
from limbeck.runtime.manifest import Model, Reference, Tagging
from limbeck.runtime.predictor import Predictor
from limbeck.runtime.tagger import EntityPredictor
from limbeck.serve.drift import compare
from limbeck.serve.window import Snapshot, Window, length_edges, merged, snapshot_of

REFERENCE = Reference(
    texts=1000,
    label_rates={"late": 0.1, "hot": 0.2, "wifi": 0.3},
    confidence=[0.1] * 10,
    lengths=[2.0, 4, 4, 6, 8, 8.5, 10, 12, 14, 20, 30],
    unknown_rate=0.02,
    embedding=[1.0, 0.0, -1.0],
)


def window(size=2000, blocks=10, **changed):
    return Window(manifest(reference=REFERENCE, **changed), size, blocks)


def batch(texts, seed=0):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 40, texts)
    return {
        "given": rng.random((texts, 3)) < (0.1, 0.2, 0.3),
        "confidence": rng.uniform(0.4, 1, texts),
        "lengths": lengths,
        "unknown": rng.binomial(lengths, 0.02),
        "embeddings": rng.normal(size=(texts // 2, 3)).astype(np.float32),
    }


def one_by_one(into, told):
    for row in range(len(told["lengths"])):
        some = {name: values[row : row + 1] for name, values in told.items() if name != "embeddings"}
        into.add(**some, embeddings=told["embeddings"][row : row + 1])


def assert_same(one, other):
    for name, value in one.items():
        assert other[name] == (pytest.approx(value, rel=1e-9, abs=1e-9) if isinstance(value, list) else value), name


def test_everything_is_counted():
    into, told = window(), batch(50)
    into.add(**told)
    seen = into.snapshot()
    assert seen["texts"] == 50 and seen["with_entities"] is None
    assert list(seen["given"].values()) == told["given"].sum(axis=0).tolist()
    assert sum(seen["confidence"]) == 50
    assert seen["confidence"][0] == (told["confidence"] < 0.55).sum(), "what is below 0.5 is in the first bin"
    assert seen["tokens"] == told["lengths"].sum() and seen["unknown"] == told["unknown"].sum()
    assert seen["squared"] == [
        int((a * b).sum())
        for a, b in (
            (told["unknown"], told["unknown"]),
            (told["unknown"], told["lengths"]),
            (told["lengths"], told["lengths"]),
        )
    ]
    assert seen["embeddings"] == 25
    np.testing.assert_allclose(seen["embedding"], told["embeddings"].sum(axis=0), rtol=1e-5)


def test_lengths_are_counted_at_and_between_the_edges():
    assert length_edges(REFERENCE).tolist() == [2, 4, 6, 8, 8.5, 10, 12, 14, 20, 30]
    into = window()
    lengths = [1, 2, 3, 4, 4, 8, 9, 31]
    into.add(np.zeros((8, 3), dtype=bool), np.ones(8), lengths, [0] * 8)
    cells = into.snapshot()["lengths"]
    assert len(cells) == 21 and sum(cells) == 8
    assert cells[:4] == [1, 1, 1, 2] and cells[7] == 1 and cells[10] == 1 and cells[20] == 1


def test_a_percentile_that_misses_a_whole_number_by_the_last_digit_is_one():
    near = Reference(**asdict(REFERENCE) | {"lengths": [1.0, 8.999999999999998, 9.0, 9.000000000000002, 12.0]})
    assert length_edges(near).tolist() == [1, 9, 12]


def test_one_by_one_is_the_same_as_at_once():
    single, whole, told = window(), window(), batch(300)
    told["embeddings"] = batch(600)["embeddings"]
    one_by_one(single, told)
    whole.add(**told)
    assert_same(single.snapshot(), whole.snapshot())


def test_merging_equals_one_window():
    parts, whole = [window() for _ in range(3)], window()
    for number, part in enumerate(parts):
        part.add(**batch(400, number))
        whole.add(**batch(400, number))
    carried = [json.loads(json.dumps(part.snapshot())) for part in parts]
    assert_same(asdict(merged(carried)), whole.snapshot())
    assert merged([]) == Snapshot()


def test_the_past_is_forgotten_block_by_block():
    into = window(size=100, blocks=5)
    for number in range(50):
        into.add(np.full((7, 3), number < 25), np.ones(7), [5] * 7, [0] * 7)
        texts = into.snapshot()["texts"]
        assert texts == 7 * (number + 1) or 100 <= texts < 100 + 27
    assert into.snapshot()["given"]["late"] == 0
    into.add(**batch(1000))
    into.add(**batch(1000, 1))
    assert into.snapshot()["texts"] == 1000, "large batches don't make the window larger than they are"


def test_a_snapshot_takes_nothing_away():
    into = window(size=100, blocks=5)
    into.add(**batch(13))
    first = into.snapshot()
    assert into.snapshot() == first
    assert Window(manifest()).snapshot()["texts"] == 0


def test_without_a_reference_it_counts_what_it_can():
    into = Window(manifest())
    into.add(**batch(30))
    seen = into.snapshot()
    assert seen["texts"] == 30 and seen["lengths"] == [30] and seen["along"] == [] and len(seen["confidence"]) == 10


def test_embeddings_that_are_no_numbers_do_not_count():
    into, told = window(), batch(10)
    told["embeddings"][2, 1] = np.nan
    into.add(**told)
    seen = into.snapshot()
    assert seen["embeddings"] == 4 and np.isfinite(seen["embedding"] + seen["along"]).all()


def test_entities_have_a_confidence_each():
    into = window(task="ner", tagging=Tagging(reads="vectors"))
    given = np.array([[True, True, False], [False, False, False]])
    into.add(given, [0.9, 0.6, 0.97], [5, 6], [1, 0], tokens=[20, 24])
    seen = into.snapshot()
    assert sum(seen["confidence"]) == 3 and seen["with_entities"] == 1 and seen["tokens"] == 44
    assert merged([seen, seen]).with_entities == 2


def test_shapes_that_do_not_fit_are_told_at_once():
    with pytest.raises(ValueError, match="2 lengths"):
        window().add(np.zeros((3, 3), dtype=bool), np.ones(2), [1, 2], [0, 0])
    with pytest.raises(ValueError, match="3 wide"):
        window().add(np.zeros((1, 3), dtype=bool), np.ones(1), [1], [0], np.zeros((1, 4)))


def test_windows_of_different_bundles_are_not_merged():
    seen = window().snapshot()
    for other in (seen | {"given": {"late": 0}}, seen | {"lengths": [0]}):
        with pytest.raises(ValueError, match="different bundles"):
            merged([seen, other])
    with pytest.raises(BadFact):
        merged([seen | {"texts": -1}])


def test_threads_lose_nothing():
    into = window(size=100_000, blocks=1000)
    told = batch(200)
    told["embeddings"] = batch(400)["embeddings"]
    threads = [Thread(target=one_by_one, args=(into, told)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seen = into.snapshot()
    assert seen["texts"] == 800 and seen["tokens"] == 4 * told["lengths"].sum() and seen["embeddings"] == 800


TEXTS = ["the train was late", "hot , hot !", "Ann met Bo in Ulm", "", "Bo was late", "strange words here"] * 40


def tagger(reference=None):
    """A list of words, each of which always has the same tag."""
    words = ["[PAD]", "[UNK]", "ann", "bo", "ulm", "the", "train", "was", "late", "in", "met"]
    table = np.zeros((len(words), 7), dtype=np.float32)
    table[:, 0] = 2
    for word, tag, score in (("ann", 1, 4), ("bo", 1, 9), ("ulm", 3, 6)):
        table[words.index(word), tag] = score
    nodes = [helper.make_node("Squeeze", ["input_ids", "last"], ["words"])]
    nodes += [helper.make_node("Gather", ["table", "words"], ["emissions"])]
    known = [numpy_helper.from_array(table, "table"), numpy_helper.from_array(np.array([2]), "last")]
    names = (("input_ids", "places"), ("marks", "marks"))
    given = [helper.make_tensor_value_info(n, TensorProto.INT64, ["texts", "words", last]) for n, last in names]
    told = [helper.make_tensor_value_info("emissions", TensorProto.FLOAT, ["texts", "words", 7])]
    graph = helper.make_graph(nodes, "tags", given, told, known)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    facts = manifest(
        task="ner",
        tagging=Tagging(reads="vectors"),
        model=Model(kind="words", recipe="float", parameters=77),
        reference=reference,
    )
    return Bundle(Path("by-hand"), facts, made.SerializeToString(), word_list(words))


@pytest.fixture(scope="module")
def classifier(tmp_path_factory):
    folder = tmp_path_factory.mktemp("window")
    bare = read_bundle(write_bundle(folder / "bare"))
    return Predictor(read_bundle(write_bundle(folder / "b", reference=reference_of(bare, TEXTS))), warn=False)


@pytest.fixture(scope="module")
def finder():
    return EntityPredictor(tagger(tagger_reference_of(tagger(), [text for text in TEXTS if text])))


def test_what_a_classifier_saw_is_what_its_reference_tells(classifier):
    reference, seen = classifier.manifest.reference, snapshot_of(classifier, iter(TEXTS), at_once=100)
    assert seen.texts == seen.embeddings == 240
    assert {name: count / 240 for name, count in seen.given.items()} == pytest.approx(reference.label_rates)
    assert np.array(seen.confidence) / 240 == pytest.approx(reference.confidence)
    assert seen.unknown / seen.tokens == pytest.approx(reference.unknown_rate) and seen.unknown
    assert np.array(seen.embedding) / 240 == pytest.approx(np.array(reference.embedding), abs=1e-5)
    assert not compare(reference, seen, alarm_rate=0.5).moved


def test_what_a_tagger_saw_is_what_its_reference_tells(finder):
    texts = [text for text in TEXTS if text]
    reference, seen = finder.manifest.reference, snapshot_of(finder, texts, at_once=7)
    assert seen.texts == 200 and seen.with_entities == 80 and seen.embeddings == 0
    assert {name: count / 200 for name, count in seen.given.items()} == pytest.approx(reference.label_rates)
    assert np.array(seen.confidence) / 160 == pytest.approx(reference.confidence)
    assert seen.unknown / seen.tokens == pytest.approx(reference.unknown_rate) and seen.unknown
    assert not compare(reference, seen, alarm_rate=0.5).moved
    assert snapshot_of(finder, [""]).texts == 1, "a text without words is one, too"


def test_no_texts_give_an_empty_window(classifier):
    assert merged([snapshot_of(classifier, []), snapshot_of(classifier, ["hot"])]).texts == 1
