"""Entities from files to bundles: what is found is there, cut exactly, and each step keeps its promises."""

import json
import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tagging_project import make_sentences, tag_pipeline

from limbeck import load
from limbeck.compress import tagger_scoring
from limbeck.compress.tagger_scoring import ExportedTagger
from limbeck.compress.taggers import draft_tagger, student_tagger
from limbeck.config import DataSettings, load_project
from limbeck.data.splits import JUDGING, TUNING
from limbeck.data.tagged import PreparedSentences
from limbeck.errors import BadSetting, BrokenRow, ColumnMissing
from limbeck.measure.taggers import load_measured_taggers, tags_of_spans
from limbeck.runtime.openvino_session import run_by_openvino
from limbeck.runtime.tagger import EntityPredictor
from limbeck.runtime.viterbi import tag_names
from limbeck.scale import ThisMachine
from limbeck.scorer import Span, Tagger
from limbeck.store import Store
from limbeck.tagging.lesson import tags_of
from limbeck.tagging.pool import choose_sentences, confidence_of, first_sentences, gather_sentences, score_sentences
from limbeck.tagging.student import load_tagger_student
from limbeck.tagging.teach import TagLessons, teach_tagger
from limbeck.tagging.teacher import load_tagger_teacher
from limbeck.teach.encoders import find_encoder

KINDS = ("cnn", "bilstm", "transformer")


def prepared_of(pipeline):
    return PreparedSentences.load(pipeline.folder("data"))


def test_students_find_what_their_teacher_finds(tagged):
    measured = load_measured_taggers(tagged.folder("measure"))
    f1 = {name: told["figures"]["test"]["exact"]["f1"] for name, told in measured.items()}
    assert f1["teacher-partial"] > 0.9
    assert all(f1[f"student-{kind}"] > 0.9 for kind in KINDS)
    assert all(0 <= told["figures"]["test"]["ace"] <= 1 for told in measured.values())


@pytest.mark.parametrize("kind", KINDS)
def test_a_bundle_says_what_its_network_says(tagged, kind):
    bundle, network = load(tagged.folder("compress") / kind), load_tagger_student(tagged.folder("distill") / kind)
    texts = [s.text for s in prepared_of(tagged).test]
    exact = [[(e.start, e.end, e.type) for e in found] for found in bundle.predict(texts)]
    plain = [[(s.start, s.end, s.type) for s in found] for found in network.tag(texts)]
    assert np.mean([a == b for a, b in zip(exact, plain, strict=True)]) > 0.95
    assert isinstance(bundle, Tagger) and isinstance(network, Tagger)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.lists(st.text(max_size=40) | st.sampled_from(["Bad  Aibling, Ida!", "Ada\u0301 🚂 Bonn"]), max_size=5))
def test_any_text_gives_spans_that_cut_it(tagged, kind, texts):
    bundle = _bundle(tagged, kind)
    for text, found in zip(texts, bundle.predict(texts), strict=True):
        ends = [0, *(entity.end for entity in found)]
        for entity, before in zip(found, ends, strict=False):
            assert before <= entity.start < entity.end <= len(text)
            assert entity.text == text[entity.start : entity.end] and entity.text.strip() == entity.text
            assert entity.type in bundle.labels and 0 <= entity.confidence <= 1


_BUNDLES: dict = {}


@pytest.mark.parametrize("kind", KINDS)
def test_openvino_finds_what_onnxruntime_finds(tagged, kind):
    sentences = prepared_of(tagged).test[:20]
    student = load_tagger_student(tagged.folder("distill") / kind)
    made = draft_tagger(student_tagger(student), [sentence.tokens for sentence in sentences])
    run_by_openvino(made.bundle.graph, "openvino", threads=1)
    mine, theirs = (EntityPredictor(made.with_graph(made.bundle.graph, name)) for name in ("float@openvino", "float"))
    texts = [sentence.text for sentence in sentences]
    assert mine.tag(texts[:1]) and [_cut(found) for found in mine.tag(texts)] == [
        _cut(found) for found in theirs.tag(texts)
    ]
    for one, other in zip(*(model.emissions([s.tokens for s in sentences]) for model in (mine, theirs)), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-4)


def _cut(spans):
    return [(span.start, span.end, span.type) for span in spans]


def _bundle(tagged, kind):
    if kind not in _BUNDLES:
        _BUNDLES[kind] = load(tagged.folder("compress") / kind)
    return _BUNDLES[kind]


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(words=st.lists(st.text(min_size=1, max_size=6), min_size=1, max_size=12))
def test_tags_are_always_bio(tagged, kind, words):
    student = load_tagger_student(tagged.folder("distill") / kind) if kind not in _STUDENTS else _STUDENTS[kind]
    _STUDENTS[kind] = student
    [tags] = tags_of(student.emissions([words]), student.moves)
    names, before = tag_names(student.labels), "O"
    for tag in (names[number] for number in tags):
        assert not tag.startswith("I-") or before[2:] == tag[2:]
        before = tag


_STUDENTS: dict = {}


@pytest.mark.parametrize("kind", KINDS)
def test_a_text_of_any_length_is_read_whole(tagged, kind):
    bundle = _bundle(tagged, kind)
    text = "the wifi never worked 9011 " * 300 + "Ida lives in Bonn 9012"
    found = bundle.predict([text])[0]
    assert [entity.text for entity in found][-2:] == ["Ida", "Bonn"]
    assert bundle.predict(["", "   ", "\n"]) == [[], [], []]


def test_many_texts_are_answered_as_one_by_one(tagged):
    texts = [" ".join(word for word, _ in s) for s in make_sentences(70, 9)]
    for kind in KINDS:
        bundle = _bundle(tagged, kind)
        # Sums of other batches round otherwise; entities stay.
        together = [[(e.start, e.end, e.type) for e in found] for found in bundle.predict(texts)]
        alone = [[(e.start, e.end, e.type) for e in bundle.predict([text])[0]] for text in texts]
        assert np.mean([a == b for a, b in zip(together, alone, strict=True)]) > 0.97


def test_it_serves_without_torch(tagged):
    told = (
        "import sys, limbeck\n"
        f"found = limbeck.load({str(tagged.folder('compress') / 'bilstm')!r}).predict(['Ida lives in Bonn'])\n"
        "assert [e.text for e in found[0]] == ['Ida', 'Bonn'], found\n"
        "heavy = {'torch', 'transformers', 'sklearn', 'pandas', 'scipy', 'pyarrow'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", told], check=True)


def test_confidence_is_fitted_on_the_other_half(tagged):
    measured = load_measured_taggers(tagged.folder("measure"))["student-cnn"]
    bundle = _bundle(tagged, "cnn")
    assert bundle.manifest.tagging.slope == pytest.approx(measured["slope"])
    assert set(measured["calibration_error"]) == {"judging", "test"}
    halves = prepared_of(tagged).halves
    assert (halves == TUNING).any() and (halves == JUDGING).any()


def test_a_teacher_is_read_again_as_it_was(tagged):
    teacher = load_tagger_teacher(tagged.folder("teach"), tagged.project.root)
    [found] = teacher.tag(["Ida lives in Bonn"])
    assert [(span.start, span.end, span.type) for span in found] == [(0, 3, "PER"), (13, 17, "LOC")]


def test_tagged_sentences_are_guessed_by_members_that_did_not_see_them(tagged):
    from limbeck.tagging.teach import load_scores

    prepared = prepared_of(tagged)
    scores = load_scores(tagged.folder("teach") / "out_of_fold.npz")
    for fold, sentence, guess in zip(prepared.folds, prepared.train, scores, strict=True):
        assert len(guess) == (len(sentence.tokens) if fold < 2 else 0)


class Elsewhere(ThisMachine):
    """Does tasks as another process would: work and tasks go there as bytes."""

    def run(self, work, tasks, what, sizes=None):
        return super().run(*pickle.loads(pickle.dumps((work, list(tasks)))), what, sizes)


def test_shards_that_are_tagged_elsewhere_get_the_same_guesses(tagged, tmp_path, monkeypatch):
    monkeypatch.setattr(tagger_scoring, "MANY", 2)
    teacher = ExportedTagger(load_tagger_teacher(tagged.folder("teach"), tagged.project.root))
    for name, executor in (("here", ThisMachine()), ("there", Elsewhere())):
        out, store = tmp_path / name, Store(tmp_path / f"store-{name}")
        out.mkdir()
        told = score_sentences(tagged.folder("pool"), out, teacher, "it", store, {}, False, executor)
        assert told["sentences"] > 10
    for file in (tmp_path / "here").iterdir():
        assert file.read_bytes() == (tmp_path / "there" / file.name).read_bytes()


@pytest.mark.parametrize("kind", ["probe", "partial"])
def test_folds_that_are_taught_elsewhere_learn_the_same(tagged, tmp_path, kind):
    root = tagged.project.root
    config = load_project(root, [f"teach.kind={kind}", "train.steps=4", "teach.folds=1", "encoder.name=encoder"]).config
    encoder = find_encoder("encoder", root)
    for name, executor in (("here", ThisMachine()), ("there", Elsewhere())):
        store = Store(tmp_path / name)
        teach_tagger(TagLessons(prepared_of(tagged), config, encoder, store, {}, executor=executor))
    for file in (tmp_path / "here").rglob("weights.safetensors"):
        assert file.read_bytes() == (tmp_path / "there" / file.relative_to(tmp_path / "here")).read_bytes()
    assert list((tmp_path / "there").rglob("weights.safetensors"))


def test_nothing_is_done_twice(tagged):
    assert all(state.done for state in tagged.status())
    again = tag_pipeline(tagged.project.root, 'students.kinds=["cnn"]', "students.decoder=crf", "students.layers=1")
    done = {state.step.name: state.done for state in again.status()}
    assert done["pseudo"] and not done["distill"]


def test_uncertain_words_become_unknown_or_cost_the_sentence(tagged):
    pool, scored = tagged.folder("pool"), tagged.folder("pseudo")
    config = tagged.project.config.pseudo
    every, _ = choose_sentences(pool, scored, config, 0)
    assert len(every) == len(first_sentences(pool, 10_000)) == 150
    strict = config.model_copy(update={"confidence": 0.999})
    left, guesses = choose_sentences(pool, scored, strict, 0)
    assert len(left) < len(every) and not any(np.isnan(guess).any() for guess in guesses)
    kept, guesses = choose_sentences(pool, scored, strict.model_copy(update={"uncertain": "unknown"}), 0)
    assert len(kept) == len(every) and any(np.isnan(guess).any() for guess in guesses)
    few, _ = choose_sentences(pool, scored, config.model_copy(update={"rows": 7}), 0)
    assert len(few) == 7
    assert confidence_of(np.full((1, 5), 0.2)).tolist() == pytest.approx([0.5])


def test_of_sentences_that_are_nearly_the_same_the_first_stays(tagged, tmp_path):
    long = "the conductor told all of us that the next train to Hamburg was cancelled"
    file = tmp_path / "pool.jsonl"
    texts = [long, "fine", f"{long} too", f"{long.upper()}!", "Fine."]
    file.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts), encoding="utf-8")
    told = gather_sentences([file], DataSettings(near_duplicates=0.8), prepared_of(tagged), tmp_path)
    assert [" ".join(words) for words in first_sentences(tmp_path, 9)] == [long, "fine"]
    assert (told["sentences"], told["repeated"], told["near"], told["saved"]) == (2, 2, 1, pytest.approx(1 / 3))


@pytest.mark.parametrize(
    ("row", "error"), [({"txt": "a"}, ColumnMissing), ({"text": 3}, BrokenRow), ({"tokens": ["a", 3]}, BrokenRow)]
)
def test_a_broken_pool_is_an_error_with_its_place(tagged, tmp_path, row, error):
    from shutil import copytree, ignore_patterns

    folder = copytree(tagged.project.root, tmp_path / "p", ignore=ignore_patterns(".limbeck"))
    (folder / "pool.jsonl").write_text(json.dumps({"text": "fine"}) + "\n" + json.dumps(row) + "\n", encoding="utf-8")
    with pytest.raises(error) as told:
        tag_pipeline(folder).run(until="pool")
    assert told.value.place.line == 2


def test_a_kind_that_finds_no_entities_is_refused(tagged):
    with pytest.raises(BadSetting, match="bag"):
        tag_pipeline(tagged.project.root, 'students.kinds=["bag"]').run(until="distill")


def test_words_get_the_tags_of_spans(tagged):
    sentence = prepared_of(tagged).test[0]
    assert tags_of_spans(sentence, sentence.spans()) == sentence.tags
    # One that ends within a word covers it; one that touches a word of another is left out.
    start, end = sentence.offsets()[1]
    assert tags_of_spans(sentence, [Span(start, end - 1, "LOC"), Span(end - 1, end, "PER")])[1] == "B-LOC"
