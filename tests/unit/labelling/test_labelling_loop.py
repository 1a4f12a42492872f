"""From answers to the next run: labels go into training, go before the files', and touch nothing else."""

import json
import subprocess
import sys
import time
from dataclasses import asdict

import pytest
from small_project import make_texts
from teaching_project import QUICK, copy_of, pipeline

from limbeck.annotate.asked import Answer, Question, Wanted
from limbeck.annotate.desk import Desk
from limbeck.annotate.judged import holding
from limbeck.annotate.store import open_store
from limbeck.annotate.texts import UNCERTAIN, NewText
from limbeck.config import load_project
from limbeck.data.prepare import Prepared, read_corpus
from limbeck.labelling.background import Learner, round_command
from limbeck.labelling.questions import question_of
from limbeck.labelling.review import doubts, queue_doubts
from limbeck.labelling.rounds import run_round
from limbeck.labelling.run import FOLDER, folder_of
from limbeck.labelling.status import Round, hint_of, read_rounds
from limbeck.store import Store

STUDENTS = [
    "distill.enough=0",
    "distill.epochs=3",
    "distill.batch=24",
    "students.size=small",
    'students.kinds=["bag"]',
]


@pytest.fixture
def project(template, tmp_path):
    return copy_of(template, tmp_path / "p")


def label(folder, category, rows, annotator="Ann"):
    """Let an annotator answer about texts, as the page does."""
    with open_store(folder / "annotations.sqlite3") as store:
        desk = Desk(store, Question("binary", (category,)))
        desk.queue([Wanted(NewText(text, "pool", "confidence"), 1.0) for text, _ in rows])
        said = dict(rows)
        while tasks := desk.next(annotator, 10):
            for task in tasks:
                desk.answer(Answer(task.public_id, annotator, "label", said[task.text]))


def tasks(folder, kind):
    return {file.name for file in (folder / ".limbeck" / "tasks" / kind).glob("*")}


def new_rows(category, count=20, seed=31):
    return [(text, category in on) for text, on in make_texts(count, seed)]


def test_answers_are_training_rows_of_the_next_run(project):
    before = read_corpus(load_project(project)).train.dataset
    label(project, "late", new_rows("late"))
    after = read_corpus(load_project(project)).train.dataset
    assert len(after) == len(before) + 20 and after.names == before.names
    told = dict(zip(after.texts, after.column("late"), strict=True))
    assert all(told[text] == value for text, value in new_rows("late"))


def test_only_the_category_that_has_new_labels_is_taught_and_scored_again(project):
    pipeline(project, "probe", *STUDENTS).run(until="distill")
    probes, students = tasks(project, "probe"), tasks(project, "students")
    label(project, "late", new_rows("late"))
    again = pipeline(project, "probe", *STUDENTS)
    assert {s.step.name for s in again.status() if "file .limbeck/annotated/labels.jsonl changed" in s.why} == {"data"}
    again.run(until="distill")
    assert len(tasks(project, "probe") - probes) == 1
    scored = sorted(
        (json.loads((f / "manifest.json").read_text()) for f in (project / ".limbeck" / "tasks" / "scores").glob("*")),
        key=lambda manifest: manifest["finished"],
    )
    assert set(scored[-1]["identity"]) == {"late"}
    (student,) = tasks(project, "students") - students
    outcome = json.loads((project / ".limbeck" / "tasks" / "students" / student / "outcome.json").read_text())
    assert {outcome["started_from"]} == students


def test_no_new_answer_means_nothing_to_do(project):
    label(project, "late", new_rows("late"))
    pipeline(project, "probe", *STUDENTS).run(until="teach")
    assert all(s.done for s in pipeline(project, "probe", *STUDENTS).status() if s.step.name in ("data", "teach"))


def test_an_answer_goes_before_what_the_files_say(project):
    train = read_corpus(load_project(project)).train.dataset
    row = train.known_for("heat")[0]
    text, was = train.texts[row], bool(train.column("heat")[row])
    label(project, "heat", [(text, not was)])
    corpus = read_corpus(load_project(project)).train
    assert corpus.dataset.column("heat")[corpus.dataset.texts.index(text)] == float(not was) and not corpus.conflicts
    others = [name for name in train.names if name != "heat"]
    for name in others:
        one, other = train.column(name)[row], corpus.dataset.column(name)[corpus.dataset.texts.index(text)]
        assert one == other or (one != one and other != other)


def test_a_category_is_born_from_answers_alone(project):
    rows = [(text, "staff were kind" in text) for text, _ in make_texts(40, 33)]
    label(project, "kind", rows)
    done = pipeline(project, "probe", *STUDENTS)
    done.run(until="teach")
    assert Prepared.load(done.folder("data")).train.names == ("heat", "kind", "late", "wifi")


def test_an_undone_answer_leaves_no_trace(project):
    label(project, "late", new_rows("late", 2))
    first = read_corpus(load_project(project)).train.dataset
    label(project, "late", new_rows("late", 3, seed=34))
    with open_store(project / "annotations.sqlite3") as store:
        for _ in range(3):
            Desk(store, Question("binary", ("late",))).undo("Ann")
    again = read_corpus(load_project(project)).train.dataset
    assert again.texts == first.texts


def settings(*more):
    return [*QUICK, "encoder.name=encoder", "annotate.batch=12", "annotate.candidates=40", *more]


def test_a_round_learns_judges_and_asks_about_what_nobody_labelled(project):
    found = load_project(project, settings())
    asked = question_of(found, "late")
    with open_store(project / "annotations.sqlite3") as store:
        server = [NewText(f"{text} now", "server", UNCERTAIN) for text, _ in make_texts(20, 41)]
        store.add(server)
        desk = Desk(store, asked.question)
        done = run_round(found, asked, desk)
        assert done.labels == 90 and done.on == "dev" and 0 <= done.low <= done.f1 <= done.high <= 1
        shown = desk.next("Ann", 12)
        pool = {json.loads(line)["text"] for line in (project / "pool.jsonl").read_text().splitlines()}
        of_server = [task for task in shown if task.text in {one.text for one in server}]
        assert len(shown) == done.asked == 12 and len(of_server) == round(0.3 * 12)
        assert all(task.text in pool for task in shown if task not in of_server)
        assert all(0 <= task.guess["probabilities"]["late"] <= 1 for task in shown)
        desk.answer(Answer(shown[0].public_id, "Ann", "label", True))
        desk.release("Ann")
        again = run_round(found, asked, desk)
        assert again.labels == 91 and shown[0].text not in [task.text for task in desk.next("Ann", 12)]
    assert [one.labels for one in read_rounds(folder_of(found, asked) / "rounds.jsonl")] == [90, 91]


def test_a_new_category_begins_with_what_its_rules_find(project):
    (project / "rules.toml").write_text("[kind]\ninclude = ['were kind']\n", encoding="utf-8")
    found = load_project(project, settings())
    asked = question_of(found, "kind")
    with open_store(project / "annotations.sqlite3") as store:
        desk = Desk(store, asked.question)
        done = run_round(found, asked, desk)
        shown = desk.next("Ann", 12)
    assert done.f1 is None and {task.strategy for task in shown} == {"rules", "diversity"}
    assert all("were kind" in task.text for task in shown if task.strategy == "rules")


def test_a_round_for_all_categories_at_once(project):
    found = load_project(project, settings())
    asked = question_of(found)
    with open_store(project / "annotations.sqlite3") as store:
        desk = Desk(store, asked.question)
        assert run_round(found, asked, desk).f1 is not None
        (task,) = desk.next("Ann")
        assert set(task.guess["probabilities"]) == {"heat", "late", "wifi"}
        desk.answer(Answer(task.public_id, "Ann", "label", ["wifi"]))
    train = read_corpus(load_project(project)).train.dataset
    assert train.labels[train.texts.index(task.text)].tolist() == [0, 0, 1]


def test_the_learner_runs_a_round_in_a_process_of_its_own(project):
    found = load_project(project, settings())
    asked = question_of(found, "late")
    folder = folder_of(found, asked)
    learner = Learner(round_command(project, asdict(asked.question), settings()), folder, every=2)
    learner.answered()
    assert not learner.state()["learning"] and learner.state()["next_in"] == 1
    learner.answered()
    assert learner.state()["learning"] and not learner.start()
    until = time.monotonic() + 240
    while learner.state()["learning"]:
        assert time.monotonic() < until
        time.sleep(0.05)
    assert learner.state()["failed"] is None and len(learner.rounds()) == 1
    with open_store(project / "annotations.sqlite3") as store:
        assert Desk(store, asked.question).waiting() == 12


def test_a_round_that_falls_due_while_one_runs_is_run_after_it(tmp_path):
    script = "import sys, time; open(sys.argv[1], 'a').write('x'); time.sleep(0.5)"
    learner = Learner([sys.executable, "-c", script, str(tmp_path / "ran")], tmp_path / "l", every=1)
    for _ in range(3):
        learner.answered()
    until = time.monotonic() + 20
    while (state := learner.state())["learning"] or state["next_in"] == 0:
        assert time.monotonic() < until
        time.sleep(0.05)
    assert (tmp_path / "ran").read_text() == "xx"
    learner.stop()
    assert not learner.start()


def test_a_round_waits_for_another_category_of_its_project(project):
    found = load_project(project, settings())
    asked = question_of(found, "late")
    with Store(found.workdir / FOLDER).lock():
        round_of_late = subprocess.Popen(
            round_command(project, asdict(asked.question), settings()), stdout=subprocess.PIPE, text=True
        )
        time.sleep(1.5)
        assert round_of_late.poll() is None
    told, _ = round_of_late.communicate(timeout=120)
    assert round_of_late.returncode == 0 and json.loads(told)["asked"] == 12


def test_a_round_that_fails_says_why(project, tmp_path):
    (project / "pool.jsonl").write_bytes(b'{"text": "\xff"}\n')
    found = load_project(project, settings())
    asked = question_of(found, "late")
    told = subprocess.run(round_command(project, asdict(asked.question), settings()), capture_output=True, text=True)
    assert told.returncode and "L206" in told.stdout and "Traceback" not in told.stdout + told.stderr
    learner = Learner([sys.executable, "-c", "print('no luck'); raise SystemExit(3)"], tmp_path / "l", every=0)
    learner.start()
    until = time.monotonic() + 20
    while learner.state()["learning"] and time.monotonic() < until:
        time.sleep(0.02)
    assert learner.state()["failed"] == "no luck"


def test_labels_that_teachers_contradict_are_offered_for_review(project):
    wrong = [(text, "late" not in on) for text, on in make_texts(180, 1)[:4]]
    label(project, "late", wrong)
    done = pipeline(project, "probe", *STUDENTS)
    done.run(until="teach")
    found = doubts(done, 0.6)
    assert found == sorted(found, key=lambda one: -one.confidence)
    # A tiny encoder overlooks some of them.
    assert len({text for text, _ in wrong} & {one.text for one in found if one.category == "late"}) >= 3
    assert all(one.label != one.guess for one in found)
    with open_store(project / "annotations.sqlite3") as store:
        queue_doubts(store, done.project.config, [one for one in found if one.category == "late"], ())
        desk = Desk(store, Question("binary", ("late",)))
        (task,) = desk.next("Bob")
        assert task.strategy == "review" and task.text == found[0].text
        assert len(list(holding(store))) == 4


def test_a_flat_curve_gives_a_hint_and_a_rising_one_does_not():
    rising = [Round(100 * n, 0.5 + 0.02 * n) for n in range(8)]
    flat = [*rising, *(Round(100 * n, 0.66) for n in range(8, 14))]
    assert hint_of(rising) is None and hint_of(rising[:3]) is None
    assert "hardly help" in hint_of(flat)
