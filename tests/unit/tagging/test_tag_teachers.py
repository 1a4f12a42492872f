"""Teachers of entities: probes, blends, encoders of other shapes, and going on after a kill."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from tagging_project import CITIES, FRAMES, PEOPLE, make_sentences, tag_pipeline, tagging_project
from tiny_encoders import CONFIGS, tiny_encoder

from limbeck.compress.taggers import draft_tagger, export_tagger, teacher_tagger
from limbeck.data.tagged import PreparedSentences
from limbeck.errors import BadSetting
from limbeck.runtime.wordinputs import EncoderReader
from limbeck.tagging.network import EncoderTagger
from limbeck.tagging.scorer import Confidence, find_entities
from limbeck.tagging.teacher import BlendedTagger, TaggerTeacher, load_tagger_teacher, tokeniser_of
from limbeck.teach.network import Encoder

SENTENCES = [[word for word, _ in s] for s in make_sentences(20, 5)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tagging_project(tmp_path_factory.mktemp("teachers") / "p")


def test_a_blend_is_as_good_as_its_parts_on_what_weighed_it(folder):
    pipeline = tag_pipeline(folder, "teach.kind=blend", 'teach.blend=["probe", "partial"]', "teach.folds=1")
    pipeline.run(until="teach")
    blend = load_tagger_teacher(pipeline.folder("teach"), folder)
    assert isinstance(blend, BlendedTagger) and sum(blend.weights) == pytest.approx(1)
    found = blend.tag(["Ida lives in Bonn"])[0]
    assert [(span.start, span.end, span.type) for span in found] == [(0, 3, "PER"), (13, 17, "LOC")]
    for scores, words in zip(blend.emissions(SENTENCES), SENTENCES, strict=True):
        assert scores.shape == (len(words), 5)
        assert np.exp(scores).sum(axis=1) == pytest.approx(np.ones(len(words)), abs=1e-4)


def test_single_sentences_dont_wait_for_weights(folder, monkeypatch):
    pipeline = tag_pipeline(folder, "teach.folds=2")
    pipeline.run(until="teach")
    teacher = load_tagger_teacher(pipeline.folder("teach"), folder)
    first = teacher.emissions(SENTENCES[:3])
    # Each member has weights of its own, however often the other was asked.
    alone = [replace(teacher, members=(member,)).emissions(SENTENCES[:3]) for member in teacher.members]
    for both, *parts in zip(first, *alone, strict=True):
        assert np.exp(both) == pytest.approx(np.mean([np.exp(part) for part in parts], axis=0), abs=1e-6)
    monkeypatch.setattr("limbeck.tagging.teacher.load_file", lambda _: pytest.fail("weights were read again"))
    for again, before in zip(teacher.emissions(SENTENCES[:3]), first, strict=True):
        assert again == pytest.approx(before)


def test_a_kind_for_texts_alone_is_refused(folder):
    with pytest.raises(BadSetting, match="binary-ensemble"):
        tag_pipeline(folder, "teach.kind=binary-ensemble").run(until="teach")


@pytest.mark.parametrize("kind", CONFIGS)
def test_encoders_of_every_shape_tag_and_export(kind, tmp_path):
    words = " ".join([*CITIES, *PEOPLE, *FRAMES]).lower().split()
    encoder = tiny_encoder(tmp_path / kind, words, kind)
    torch.manual_seed(1)
    network = EncoderTagger(Encoder(encoder), 2, 0.0).eval()
    torch.nn.init.normal_(network.shapes_before.weight)
    told, pad_id, unknown_id = tokeniser_of(encoder)
    reader = EncoderReader(told, 64, pad_id, unknown_id)
    graph = export_tagger(network, reader)

    import onnxruntime

    session = onnxruntime.InferenceSession(graph)
    for sentences in ([SENTENCES[0]], SENTENCES[:3], [["One"]]):
        given = reader.collate([reader.read(words) for words in sentences])
        with torch.no_grad():
            expected = network(*map(torch.from_numpy, given)).numpy()
        found = session.run(["emissions"], dict(zip(reader.names, given, strict=True)))[0]
        assert np.abs(found - expected).max() < 1e-4


def test_shapes_reach_the_answers(tmp_path):
    encoder = tiny_encoder(tmp_path / "e", ["ida"])
    torch.manual_seed(1)
    network = EncoderTagger(Encoder(encoder), 2, 0.0).eval()
    told, pad_id, unknown_id = tokeniser_of(encoder)
    reader = EncoderReader(told, 64, pad_id, unknown_id)
    plain, capital = (network(*map(torch.from_numpy, reader.collate([reader.read([w])]))) for w in ("ida", "Ida"))
    assert not torch.allclose(plain, capital)


def test_a_taught_network_becomes_a_bundle(tagged):
    teacher = load_tagger_teacher(tagged.folder("teach"), tagged.project.root)
    assert isinstance(teacher, TaggerTeacher)
    made = draft_tagger(teacher_tagger(teacher), SENTENCES)
    assert made.gap < 1e-4 and made.bundle.manifest.task == "ner"


def test_confidence_grows_with_the_curve(tagged):
    teacher = load_tagger_teacher(tagged.folder("teach"), tagged.project.root)
    texts = [s.text for s in PreparedSentences.load(tagged.folder("data")).test[:10]]
    plain, lower = (find_entities(teacher, texts, Confidence(1.0, offset)) for offset in (0.0, -2.0))
    pairs = [(a, b) for one, other in zip(plain, lower, strict=True) for a, b in zip(one, other, strict=True)]
    assert pairs and all(a.confidence > b.confidence for a, b in pairs)


def test_a_killed_teaching_goes_on_to_the_same_weights(folder, tmp_path, monkeypatch):
    """A run that is cut off after its first checkpoint ends as an undisturbed one does."""
    from shutil import copytree, ignore_patterns

    from limbeck.training import loop

    copies = [copytree(folder, tmp_path / name, ignore=ignore_patterns(".limbeck")) for name in ("a", "b")]
    settings = ["teach.folds=1", "train.steps=30", "train.checkpoint_seconds=0.000001"]
    tag_pipeline(copies[0], *settings).run(until="teach")
    steps = loop._Run._one_step

    def falling(self):
        if self.progress.step == 17:
            raise KeyboardInterrupt
        steps(self)

    monkeypatch.setattr(loop._Run, "_one_step", falling)
    with pytest.raises(KeyboardInterrupt):
        tag_pipeline(copies[1], *settings).run(until="teach")
    monkeypatch.setattr(loop._Run, "_one_step", steps)
    tag_pipeline(copies[1], *settings).run(until="teach")
    folders = [tag_pipeline(copy, *settings).folder("teach") for copy in copies]
    one, other = ((f / "member-0.safetensors").read_bytes() for f in folders)
    assert one == other
