"""A transformer student of half the width is distilled, compressed and looked ahead at like any other."""

import json

import numpy as np
import pytest
from small_project import make_texts
from teaching_project import pipeline, teaching_project

import limbeck
from limbeck.budget.survey import prospect
from limbeck.data.prepare import Prepared
from limbeck.data.splits import JUDGING
from limbeck.distill.students import load_distilled
from limbeck.measure import average_precision

SETTINGS = [
    'students.kinds=["transformer"]',
    "students.layers=1",
    "distill.enough=0",
    "distill.epochs=8",
    "distill.encoder_batch=24",
    "distill.head_rate=0.01",
    "distill.rate=0.003",
    'compress.recipes=["int8"]',
]
NARROW = ["students.width=0.5", "students.inner=0.5", "distill.hidden=0.2", "distill.relation=0.2"]


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = teaching_project(tmp_path_factory.mktemp("narrower") / "p", width=64, inner=128)
    texts = [json.dumps({"text": text}) for text, _ in make_texts(120, seed=5)]
    (folder / "pool.jsonl").write_text("\n".join(texts) + "\n", encoding="utf-8")
    return folder


def test_it_learns_from_a_wider_teacher_by_all_losses_and_becomes_a_bundle(project):
    done = pipeline(project, "probe", *SETTINGS, *NARROW, "distill.attention=0.2")
    done.run(until="compress")
    student = load_distilled(done.folder("distill") / "transformer")
    config = student.network.encoder.model.config
    assert (config.hidden_size, config.num_attention_heads, config.intermediate_size) == (32, 2, 64)
    made = make_texts(80, 77)
    proba = student.predict_proba([text for text, _ in made])
    labels = np.array([[float(name in on) for name in student.labels] for _, on in made], dtype=np.float32)
    assert np.mean([average_precision(labels[:, c], proba[:, c]) for c in range(3)]) > 0.7
    [bundle] = [file.parent for file in done.folder("compress").glob("**/bundle.json") if "transformer" in str(file)]
    model = limbeck.load(bundle)
    assert model.manifest.model.embedding == 32
    assert (
        np.abs(model.predict_proba(["the train was late"]) - student.predict_proba(["the train was late"])).max() < 0.1
    )


def test_a_budget_sees_how_small_it_would_be(project):
    least = []
    for told in ([], NARROW):
        done = pipeline(project, "probe", *SETTINGS, *told)
        done.run(until="data")
        prepared = Prepared.load(done.folder("data"))
        seen = prospect("transformer", "small", done.project, prepared.dev_half(JUDGING), prepared.train.texts)
        least.append(seen.bytes)
    assert least[1] < 0.8 * least[0]
