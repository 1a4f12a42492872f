"""Finished runs to report on; don't change them."""

import json

import pytest
from tagging_project import tag_pipeline, tagging_project
from teaching_project import copy_of, multiclass_project, pipeline

from limbeck.cli.report import make_report

HOSTILE = "<script>alert(1)</script> & 'late' \u202e"
STUDENTS = ["distill.enough=0", "distill.steps=60", "students.size=small", 'students.kinds=["bag"]']
MORE = [*STUDENTS, 'baselines.kinds=["tfidf-logreg"]', "baselines.trials=1"]


@pytest.fixture(scope="session")
def texts_run(template, tmp_path_factory):
    folder = copy_of(template, tmp_path_factory.mktemp("report") / "p")
    file = folder / "test.jsonl"
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    for row in rows[:30]:
        row["text"] += f" {HOSTILE}"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    done = pipeline(folder, "partial", *MORE, f'data.titles={{late="{HOSTILE}"}}')
    done.run()
    return done, make_report(done)[0]


@pytest.fixture(scope="session")
def classes_run(template, tmp_path_factory):
    folder = multiclass_project(template, tmp_path_factory.mktemp("report") / "classes")
    (folder / "pool.jsonl").write_bytes((template / "pool.jsonl").read_bytes())
    done = pipeline(folder, "probe", *STUDENTS, 'data.pool=["pool.jsonl"]', "data.test=")
    done.run()
    return done, make_report(done, bench=False)[0]


@pytest.fixture(scope="session")
def entities_run(tmp_path_factory):
    folder = tagging_project(tmp_path_factory.mktemp("report") / "entities")
    done = tag_pipeline(folder, 'students.kinds=["cnn"]')
    done.run()
    return done, make_report(done)[0]
