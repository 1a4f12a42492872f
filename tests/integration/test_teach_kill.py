"""Teachers that are killed with SIGKILL in the middle of an epoch and end as if nothing had happened."""

import json
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from teaching_project import QUICK, copy_of, pipeline, teaching_project

from limbeck.teach.kinds import load_teacher

KIND = "partial"
SETTINGS = ["train.epochs=12", "train.patience=12", "train.checkpoint_seconds=0.1", "teach.folds=1"]


def command(folder):
    told = [*QUICK, "encoder.name=encoder", f"teach.kind={KIND}", *SETTINGS]
    sets = [word for setting in told for word in ("--set", setting)]
    return [sys.executable, "-m", "limbeck", "run", "--until", "teach", "-p", str(folder), *sets]


def steps_taken(folder):
    """Give the step of the newest checkpoint; checkpoints come and go while this looks."""
    return max((int(f.name) for f in (folder / ".limbeck" / "training").glob("*/*") if f.name.isdigit()), default=0)


def test_a_teacher_killed_in_the_middle_of_an_epoch_ends_with_the_same_probabilities(tmp_path, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    calm = teaching_project(tmp_path / "calm")
    killed = copy_of(calm, tmp_path / "killed")
    subprocess.run(command(calm), check=True, capture_output=True, timeout=280)

    deadline = time.monotonic() + 120
    process = subprocess.Popen(command(killed), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    [series] = json.loads(
        (pipeline(calm, KIND, *SETTINGS).folder("teach") / "history.json").read_text(encoding="utf-8")
    ).values()
    epoch = series[0]["step"]
    while True:
        process.send_signal(signal.SIGSTOP)  # so that nothing moves while this looks
        if steps_taken(killed) > epoch and steps_taken(killed) % epoch:
            break
        process.send_signal(signal.SIGCONT)
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert steps_taken(killed) % epoch, "the kill was to come within an epoch"
    assert pipeline(killed, KIND, *SETTINGS).folder("teach") is None
    subprocess.run(command(killed), check=True, capture_output=True, timeout=280)

    texts = [json.loads(line)["text"] for line in (calm / "test.jsonl").read_text(encoding="utf-8").splitlines()]
    folders = [pipeline(folder, KIND, *SETTINGS).folder("teach") for folder in (calm, killed)]
    one, other = (load_teacher(f, root) for f, root in zip(folders, (calm, killed), strict=True))
    assert one.card.thresholds == pytest.approx(other.card.thresholds, abs=1e-9)
    assert one.predict_proba(texts) == pytest.approx(other.predict_proba(texts), abs=1e-5)
    scores = [np.load(folder / "out_of_fold.npy") for folder in folders]
    assert scores[0] == pytest.approx(scores[1], abs=1e-5, nan_ok=True)
    history = [json.loads((folder / "history.json").read_text(encoding="utf-8")) for folder in folders]
    assert history[0] == history[1]
