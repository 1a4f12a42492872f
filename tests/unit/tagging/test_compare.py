"""limbeck compare: any models on the same texts."""

import json
import sys

import pytest
import torch
from tagging_project import ALL_STUDENTS, CITIES, FRAMES, PEOPLE, QUICK
from tiny_encoders import tiny_classifier, tiny_encoder
from typer.testing import CliRunner

from limbeck.bench.compare import compare_models, draw
from limbeck.cli import app
from limbeck.errors import BadSetting, ExtraMissing
from limbeck.tagging.ready import ReadyTagger


@pytest.fixture(scope="module")
def token_classifier(tmp_path_factory):
    from transformers import AutoModelForTokenClassification, AutoTokenizer

    folder = tmp_path_factory.mktemp("ready")
    words = " ".join([*CITIES, *PEOPLE, *FRAMES]).lower().split()
    encoder = tiny_encoder(folder / "encoder", words)
    torch.manual_seed(0)
    names = dict(enumerate(["B-LOC", "I-LOC", "O", "B-PER"]))
    model = AutoModelForTokenClassification.from_pretrained(encoder, id2label=names, num_labels=4)
    model.save_pretrained(folder / "model")
    AutoTokenizer.from_pretrained(encoder).save_pretrained(folder / "model")
    return folder / "model"


def test_all_models_of_a_project_and_others(tagged, token_classifier):
    rows = compare_models(tagged, ["teacher", "student-cnn", "bundle-cnn", str(token_classifier)], limit=20, batch=8)
    assert [row["model"] for row in rows] == ["teacher", "student-cnn", "bundle-cnn", "model"]
    assert all(row["F1"] > 0.8 for row in rows[:3]) and 0 <= rows[3]["F1"] < 0.5
    for row in rows:
        assert row["samples a second"] == pytest.approx(20 / row["seconds"]) and row["MB"] > 0
        assert 0 < row["latency ms"] <= row["p99 ms"]


def test_a_finished_model_knows_what_its_configuration_names(token_classifier):
    tagger = ReadyTagger(token_classifier)
    assert tagger.labels == ("LOC", "PER")
    [scores] = tagger.emissions([["Ida", "lives"]])
    assert scores.shape == (2, 5) and (scores[:, 4] < -1000).all()  # it has no I-PER


def test_the_command_prints_and_draws(tagged, tmp_path):
    told = [part for setting in [*QUICK, *ALL_STUDENTS] for part in ("--set", setting)]
    chart = tmp_path / "charts.svg"
    arguments = ["compare", "bundle-cnn", "bundle-bilstm", "-p", str(tagged.project.root), "--limit", "10"]
    shown = CliRunner().invoke(app, [*arguments, "--chart", str(chart), *told])
    assert shown.exit_code == 0, shown.output
    assert "bundle-bilstm" in shown.output and chart.read_text(encoding="utf-8").startswith("<?xml")
    assert len(json.loads((tagged.project.workdir / "compare.json").read_text(encoding="utf-8"))) == 2


def test_without_spacy_its_extra_is_named(tagged, monkeypatch):
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(ExtraMissing, match="rivals"):
        compare_models(tagged, ["spacy:en_core_web_sm"])


def test_what_is_no_model_says_what_is(tagged, tmp_path):
    with pytest.raises(BadSetting, match="bundle-cnn"):
        compare_models(tagged, ["bundel-cnn"])
    with pytest.raises(BadSetting, match="no model that can be compared"):
        compare_models(tagged, [str(tmp_path)])


def test_classifiers_of_texts_are_compared_too(project, tmp_path):
    from teaching_project import pipeline

    told = pipeline(project, "probe", 'students.kinds=["bag"]')
    told.run()
    names = list(told.project.config.data.categories) or ["heat", "late"]
    tiny_classifier(project / "encoder", tmp_path / "foreign", names)
    rows = compare_models(told, ["teacher", "student-bag", "bundle-bag", str(tmp_path / "foreign")], limit=30)
    assert len(rows) == 4 and all(0 <= row["F1"] <= 1 for row in rows)
    assert rows[1]["F1"] == pytest.approx(rows[2]["F1"], abs=0.1)
    draw(rows, tmp_path / "c.png")
    assert (tmp_path / "c.png").stat().st_size > 1000
