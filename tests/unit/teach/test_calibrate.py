"""The calibrate step: fitted on one half of dev, judged on the other, moved to the pool's rates on request."""

import json

import numpy as np
import pytest
from teaching_project import pipeline, teaching_project

from limbeck.errors import TooFewRows
from limbeck.teach.calibrate import load_calibrated
from limbeck.teach.kinds import load_teacher


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    return teaching_project(tmp_path_factory.mktemp("calibrate") / "p")


def test_calibrated_probabilities_keep_the_order_and_the_decisions(project):
    chain = pipeline(project, "probe")
    chain.run(until="measure")
    teacher = load_teacher(chain.folder("teach"), project)
    calibrated = load_calibrated(chain.folder("teach"), chain.folder("calibrate"), project)
    texts = [json.loads(line)["text"] for line in (project / "test.jsonl").read_text(encoding="utf-8").splitlines()]
    raw, put_right = teacher.predict_proba(texts), calibrated.predict_proba(texts)
    assert not np.allclose(raw, put_right)
    for column in range(3):
        assert (np.diff(put_right[np.argsort(raw[:, column]), column]) >= 0).all()
    decided = put_right >= calibrated.calibration.thresholds(teacher.card.thresholds)
    assert np.array_equal(decided, raw >= teacher.card.thresholds)


def test_both_are_stored_before_and_after(project):
    chain = pipeline(project, "probe")
    chain.run(until="measure")
    figures = {state.step.name: state.figures for state in chain.status()}["calibrate"]
    assert {"ece_before", "ece_after", "brier_before", "brier_after", "log_loss_before", "log_loss_after"} <= set(
        figures
    )
    tables = json.loads((chain.folder("calibrate") / "reliability.json").read_text(encoding="utf-8"))
    assert set(tables) == {"heat", "late", "wifi"}
    dev = [json.loads(line) for line in (project / "dev.jsonl").read_text(encoding="utf-8").splitlines()]
    counts = [sum(b["count"] for b in tables["heat"][when]) for when in ("before", "after")]
    assert counts == [len(dev) // 2] * 2


def test_the_pool_s_rates_move_the_probabilities(project):
    # A pool in which everybody was online: wifi complaints are nowhere.
    lines = [json.dumps({"text": f"we arrived late on train {number}"}) for number in range(300)]
    (project / "other.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    moved = ["calibrate.rates=pool", 'data.pool=["other.jsonl"]']
    still = pipeline(project, "partial", "train.epochs=6")
    chain = pipeline(project, "partial", "train.epochs=6", *moved)
    still.run(until="calibrate")
    chain.run(until="calibrate")
    rates = json.loads((chain.folder("calibrate") / "rates.json").read_text(encoding="utf-8"))
    assert rates["wifi"]["pool"] < rates["wifi"]["dev"] < rates["late"]["pool"]
    before = load_calibrated(still.folder("teach"), still.folder("calibrate"), project)
    after = load_calibrated(chain.folder("teach"), chain.folder("calibrate"), project)
    text = ["the wifi dropped, coffee was fine"]
    assert after.predict_proba(text)[0, 2] < before.predict_proba(text)[0, 2]


def test_without_a_pool_there_are_no_rates(project):
    with pytest.raises(TooFewRows, match="pool"):
        pipeline(project, "probe", "calibrate.rates=pool", "data.pool=[]").run(until="calibrate")


def test_none_leaves_the_step_out(project):
    chain = pipeline(project, "probe", "calibrate.method=none")
    chain.run(until="measure")
    assert "calibrate" not in [step.name for step in chain.steps]
