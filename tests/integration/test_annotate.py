"""`limbeck annotate` as a process: it asks, learns in the background, and ends when it is told to."""

import os
import re
import signal
import subprocess
import sys
import threading
import time

import httpx
import pytest
from teaching_project import QUICK, teaching_project

from limbeck.annotate.judged import holding
from limbeck.annotate.store import open_store

SETTINGS = [*QUICK, "encoder.name=encoder", "annotate.batch=12", "annotate.candidates=40", "annotate.retrain_every=3"]


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    return teaching_project(tmp_path_factory.mktemp("annotate") / "p")


def command(project, *more):
    settings = [part for setting in SETTINGS for part in ("--set", setting)]
    return [sys.executable, "-m", "limbeck", "annotate", "-p", str(project), "--port", "0", *settings, *more]


class Page:
    """A running page."""

    def __init__(self, project, *more, key=""):
        environment = {**os.environ, **({"LIMBECK_ANNOTATE_KEY": key} if key else {})}
        self.process = subprocess.Popen(command(project, *more), stderr=subprocess.PIPE, text=True, env=environment)
        line = self.process.stderr.readline()
        found = re.search(r"http://(\S+)", line)
        assert found, line + self.process.stderr.read()
        threading.Thread(target=self.process.stderr.read, daemon=True).start()
        port = found[1].rpartition(":")[2]
        self.client = httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=30)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.client.close()
        self.process.kill()
        self.process.wait(20)

    def until(self, what):
        last = time.monotonic() + 120
        while not what():
            assert time.monotonic() < last, self.client.get("/api/progress").json()
            time.sleep(0.1)

    def rounds(self):
        return len(self.client.get("/api/progress").json()["curve"])


def test_somebody_answers_and_the_model_learns_from_it(project):
    with Page(project, "--category", "late") as page:
        assert page.client.get("/api/question").json()["mode"] == "binary"
        page.until(lambda: page.rounds() == 1)
        asked = {"annotator": "Ann", "count": 3}
        tasks = page.client.post("/api/next", json=asked).json()["tasks"]
        for _ in range(3):
            said = {
                **asked,
                "id": tasks[0]["id"],
                "verdict": "label",
                "value": "late" in tasks[0]["text"],
                "seconds": 1.0,
            }
            tasks = page.client.post("/api/answer", json=said).raise_for_status().json()["tasks"]
        assert "guess" not in tasks[0]
        page.until(lambda: page.rounds() == 2)
        told = page.client.get("/api/progress", params={"annotator": "Ann"}).json()
        assert told["labels"] == 3 and told["curve"][1]["labels"] == told["curve"][0]["labels"] + 3
        page.process.send_signal(signal.SIGINT)
        assert page.process.wait(20) in (0, 130, -signal.SIGINT)
    with open_store(project / "annotations.sqlite3") as store:
        assert len(list(holding(store, "late"))) == 3


def test_only_browsers_of_this_machine_are_answered_without_a_key(project):
    with Page(project, "--category", "heat") as page:
        assert page.client.get("/", headers={"host": "evil.example"}).status_code == 403
        assert page.client.get("/api/progress", headers={"host": "evil.example:80"}).status_code == 403
        cross = page.client.post("/api/undo", content='{"annotator": "Ann"}', headers={"content-type": "text/plain"})
        assert cross.status_code == 415
        assert page.client.post("/api/next", json={"annotator": "Ann", "count": 10**9}).status_code == 422
        broken = page.client.post("/api/next", content=b"\xff{", headers={"content-type": "application/json"})
        assert broken.status_code == 400 and broken.json()["error"]["code"] == "L725"
        assert page.client.get("/nothing").status_code == 404
        assert "default-src 'none'" in page.client.get("/").headers["content-security-policy"]


def test_with_a_key_only_those_who_have_it_are_answered(project):
    with Page(project, "--category", "heat", "--host", "0.0.0.0", key="secret") as page:
        assert page.client.get("/").status_code == 200
        assert page.client.get("/api/progress").status_code == 401
        assert page.client.get("/api/progress", headers={"authorization": "Bearer wrong"}).status_code == 401
        assert page.client.get("/api/progress", headers={"authorization": "Bearer secret"}).status_code == 200


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (["--category", "lat"], "Did you mean 'late'"),
        (["--category", "late", "--host", "0.0.0.0"], "LIMBECK_ANNOTATE_KEY"),
        (["--category", "late", "--set", "annotate.store=mysql://x/y"], "mysql"),
    ],
)
def test_what_is_wrong_is_told_before_anything_starts(project, more, told):
    done = subprocess.run(command(project, *more), capture_output=True, text=True, timeout=60)
    assert done.returncode and told in done.stderr and "Traceback" not in done.stderr
