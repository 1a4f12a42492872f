"""The report: every section filled from the run's own results, nothing that a browser must fetch or run."""

import json
import re
from html.parser import HTMLParser

import pytest
from teaching_project import copy_of, pipeline

from limbeck.bench.run import kept
from limbeck.cli.report import make_report
from limbeck.errors import RunError
from limbeck.report import gather, headline
from limbeck.report.sections.students import _running
from limbeck.report.words import telling_words

ALL = "summary quality differences curves calibration speed gate mistakes labels teaching pseudo students made".split()
VOID = {"meta", "br", "hr", "img"}


class Tree(HTMLParser):
    """Checks that elements nest, and collects their texts."""

    def __init__(self):
        super().__init__()
        self.open, self.found, self.sections = [], [], []

    def handle_starttag(self, tag, attributes):
        self.found.append(tag)
        if tag == "section":
            self.sections.append(dict(attributes)["id"])
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def parsed(file):
    html = file.read_text(encoding="utf-8")
    tree = Tree()
    tree.feed(html)
    assert not tree.open
    return html, tree


def fine(file):
    """Check what holds for every report."""
    html, tree = parsed(file)
    assert len(html.encode()) < 3_000_000
    assert "script" not in tree.found and "link" not in tree.found and "img" not in tree.found
    assert not re.findall(r'(?:href|src)="(?!#)', html) and "url(" not in html and "@import" not in html
    for svg in re.findall(r"<svg.*?</svg>", html, re.DOTALL):
        assert not re.search(r'="[^"]*\b(?:nan|inf|None)\b[^"]*"', svg)
        assert re.search(r"<(?:circle|rect|path|line)\b", svg), svg[:300]
    assert ">nan<" not in html and ">None<" not in html
    return html, tree


def test_a_report_of_categories_has_every_section(texts_run):
    done, file = texts_run
    html, tree = fine(file)
    assert tree.sections == ALL
    run = gather(done, kept(done))
    for title in run.titles[:1]:
        assert title in html
    assert f"{run.chosen.f1.estimate:.3f}" in html and f"{run.teacher.f1.estimate:.3f}" in html
    for state in done.status():
        assert f"<strong>{state.step.name}</strong>" in html
    assert "F1 while it learnt" in html and "early stopping" in html
    assert "tfidf-logreg" in html


def test_figures_are_those_of_the_run(texts_run):
    done, _ = texts_run
    run = gather(done)
    told = json.loads((done.folder("measure") / "teacher-partial" / "figures.json").read_text(encoding="utf-8"))
    assert run.part == "test" and run.teacher.f1.estimate == told["figures"]["test"]["macro_f1"]
    taken = [
        t for t in json.loads((done.folder("compress") / "trials.json").read_text())["bag"]["trials"] if t["taken"]
    ]
    assert run.chosen.judging == pytest.approx(taken[0]["macro_f1"], abs=1e-9)
    assert all(one.low <= one.estimate <= one.high for one in run.chosen.intervals)
    kept_share = run.chosen.f1.estimate / run.teacher.f1.estimate
    assert headline(run).kept == f"{kept_share:.1%}" and not headline(run).speed
    assert re.match(r"\d+ × ", headline(gather(done, kept(done))).speed)


def test_what_users_wrote_is_shown_and_never_run(texts_run):
    html, _ = parsed(texts_run[1])
    assert "&lt;script&gt;alert(1)" in html and "<script" not in html


def test_texts_can_be_left_out(texts_run, tmp_path):
    done, _ = texts_run
    file, size, _ = make_report(done, tmp_path / "r.html", texts=False)
    html, _ = fine(file)
    assert size == file.stat().st_size and "Texts were left out" in html and "Surest and wrong" not in html


def test_timings_of_other_bundles_are_not_shown(texts_run, tmp_path):
    done, _ = texts_run
    found = kept(done)
    assert found is not None and {timing["tokens"] for timing in found["rows"][0]["timings"]} == {20, 40, 128}
    (done.project.workdir / "bench.json").write_text(json.dumps({**found, "compress": "another"}), encoding="utf-8")
    try:
        assert kept(done) is None
        _, tree = fine(make_report(done, tmp_path / "r.html", bench=False)[0])
        assert "speed" not in tree.sections
    finally:
        (done.project.workdir / "bench.json").write_text(json.dumps(found), encoding="utf-8")


def test_a_project_of_classes_without_test_is_judged_on_dev(classes_run):
    html, tree = fine(classes_run[1])
    assert "dev&#x27;s judging half" in html
    assert tree.sections == [name for name in ALL if name != "speed"]


def test_a_report_of_entities_goes_by_type(entities_run):
    _, file = entities_run
    html, tree = fine(file)
    assert set(ALL) - set(tree.sections) == set()
    assert "F1 by type" in html and "words a text" in html
    assert "Frequent: LOC" in html


def test_without_a_run_there_is_no_report(template, tmp_path):
    done = pipeline(copy_of(template, tmp_path / "p"), "probe")
    with pytest.raises(RunError, match="hasn't run"):
        make_report(done)


def test_a_sweep_of_positive_weights_is_found_in_earlier_runs(template, tmp_path):
    folder = copy_of(template, tmp_path / "p")
    for weight in (1.0, 3.0):
        done = pipeline(folder, "probe", f"train.positive_weight={weight}", "students.kinds=[]")
        done.run(until="measure")
    from limbeck.report.gather import sweep

    assert [weight for weight, _ in sweep(done)] == [1.0, 3.0]


def test_words_that_tell_a_category_come_first():
    texts = ["the train was late"] * 20 + ["the wifi was slow"] * 20 + ["the seat was late"] * 3
    (late,) = telling_words(texts, [[*range(20), 40, 41, 42]], 3)
    assert late[0].word in ("late", "train") and all(one.word not in ("wifi", "the") for one in late[:2])
    assert 0 < late[0].share <= 1


def test_rounds_follow_each_other_on_one_axis():
    assert _running([(10, 0.1), (20, 0.2), (10, 0.3)]) == [(10, 0.1), (20, 0.2), (30, 0.3)]


def test_the_card_tells_what_it_is_for_where_from_and_its_limits(texts_run, entities_run):
    for done, what in ((texts_run[0], "texts"), (entities_run[0], "sentences")):
        run = gather(done)
        card = (run.bundle / "README.md").read_text(encoding="utf-8")
        for heading in ("What it is for", "What it was made from", "How good", "Limits", "How to use it"):
            assert f"\n## {heading}\n" in card
        train = len(run.judged.prepared.train)
        assert f"{train:,} labelled {what}, and the teacher's answers to" in card
        table = card.partition("## What it was made from")[0].splitlines()
        table = [line for line in table if line.startswith("| ") and line.count("|") == 6]
        assert len(table) == len(run.labels) + 1, card
