"""Students of a small project's teacher: every kind learns, goes on, grows, and is kept."""

import json

import numpy as np
import pytest
from safetensors.torch import load_file
from small_project import make_texts
from teaching_project import add_category, copy_of, pipeline

from limbeck.data.prepare import Prepared
from limbeck.distill.course import Course
from limbeck.distill.start import pieces_for
from limbeck.distill.students import load_distilled
from limbeck.distill.train import lesson_for
from limbeck.errors import BadSetting, TooFewRows
from limbeck.measure import average_precision
from limbeck.measure.compare import load_measured
from limbeck.runtime.confidence import confidence
from limbeck.teach.calibrate import load_calibrated
from limbeck.teach.fine_tuned import FineTunedTeacher
from limbeck.training import loop

QUICK = [
    "distill.enough=0",
    "teach.folds=1",
    "distill.epochs=8",
    "distill.batch=24",
    "distill.head_rate=0.01",
    "distill.rate=0.003",
    "students.size=small",
]


def chain(folder, kinds, *more, teacher="partial"):
    return pipeline(folder, teacher, *QUICK, f"students.kinds={json.dumps(kinds)}", *more)


@pytest.fixture(scope="module")
def taught(template, tmp_path_factory):
    """A project whose teacher has taught and whose pool is scored."""
    folder = copy_of(template, tmp_path_factory.mktemp("distill") / "p")
    texts = [json.dumps({"text": text}) for text, _ in make_texts(240, seed=5)]
    (folder / "pool.jsonl").write_text("\n".join(texts) + "\n", encoding="utf-8")
    chain(folder, ["bag"]).run(until="select")
    return folder


def precision_of(student, seed=77):
    made = make_texts(80, seed)
    labels = np.array([[float(name in on) for name in student.labels] for _, on in made], dtype=np.float32)
    proba = student.predict_proba([text for text, _ in made])
    return float(np.mean([average_precision(labels[:, c], proba[:, c]) for c in range(labels.shape[1])]))


def test_every_student_learns_and_is_measured_beside_the_teacher(taught):
    kinds = ["bag", "cnn", "bilstm", "transformer", "tfidf-logreg"]
    done = chain(taught, kinds, "students.layers=1")
    figures = done.run(until="measure")[-1].figures
    for kind in kinds:
        student = load_distilled(done.folder("distill") / kind)
        assert student.labels == ("heat", "late", "wifi")
        assert precision_of(student) > 0.8, kind
        assert figures[f"student-{kind}.test.macro_f1"] > 0.6
    assert "teacher-partial.test.macro_f1" in figures


@pytest.mark.parametrize(
    "recipe",
    [
        ["distill.soft=0"],
        ["distill.task=0"],
        ["distill.soft=0", "distill.hard=1"],
        ["distill.rounds=2"],
        ["distill.hidden=0.5", "distill.relation=0.5"],
        ["pseudo.confidence=0.7", "pseudo.uncertain=unknown", "distill.mask_tokens=0.1"],
        ["students.tokens=pool", "students.vectors=pool"],
        ["students.vectors=random", "distill.temperature=2"],
    ],
    ids=lambda recipe: " ".join(recipe),
)
def test_recipes(taught, recipe):
    done = chain(taught, ["cnn"], *recipe)
    states = done.run(until="distill")
    student = load_distilled(done.folder("distill") / "cnn")
    assert precision_of(student) > 0.75
    rows, labelled = (states[-1].figures[f"cnn.{name}"] for name in ("rows", "labelled"))
    alone = recipe == ["distill.soft=0"]
    assert (rows == labelled) == alone and (labelled == 0) == (recipe == ["distill.task=0"])


def test_rows_that_watch_are_learnt_as_the_teacher_sees_them(taught):
    course = course_of(chain(taught, ["bag"]))
    pieces = pieces_for("bag", course)
    lesson = lesson_for("bag", course, pieces)
    seen, watched = len(course.seen), len(course.watched)
    assert lesson.labelled == seen and len(lesson.examples) == seen + watched + len(course.pool)
    guesses, labels = lesson.examples.guesses, lesson.examples.labels
    # The one fold that was held out watches: of the others no model is left that hasn't seen them.
    assert np.isnan(guesses[:seen]).all() and not np.isnan(guesses[seen:]).any()
    assert np.isnan(labels[seen:]).all() and not np.isnan(labels[:seen]).all(axis=1).any()
    np.testing.assert_array_equal(lesson.examples.ids[seen], pieces.encode([course.train.texts[course.watched[0]]])[0])


def test_a_small_pool_is_filled_up_with_texts_that_the_teacher_scores(taught, monkeypatch):
    done = chain(taught, ["bag"], "distill.enough=400")
    course = course_of(done)
    pool, made_up = set(course.pool.texts), course.made_up
    assert len(made_up) == 400 - len(pool) and not pool & set(made_up.texts)
    expected = load_calibrated(course.teach, course.calibrate, course.root).predict_proba(made_up.texts)
    assert np.abs(made_up.labels - expected).max() < 1e-3
    lesson = lesson_for("bag", course, pieces_for("bag", course))
    assert len(lesson.examples) == len(course.train) + 400
    np.testing.assert_array_equal(lesson.examples.labels[-1], np.full(3, np.nan))
    monkeypatch.setattr("limbeck.distill.course.score_texts", None)
    assert course_of(done).made_up.texts == made_up.texts
    filtered = course_of(
        chain(taught, ["bag"], "distill.enough=400", "pseudo.confidence=0.9", "pseudo.uncertain=unknown")
    )
    monkeypatch.undo()
    certain = confidence(filtered.made_up.labels, filtered.thresholds)
    assert (np.isnan(certain) | (certain >= 0.9)).all() and np.isnan(certain).any()


def test_few_texts_make_up_no_more_than_three_each(taught):
    course = course_of(chain(taught, ["bag"], "distill.enough=20000", "pseudo.rows=30"))
    assert 60 < len(course.made_up) <= 90


def test_a_transformer_has_a_batch_of_its_own(taught):
    done = chain(taught, ["bag"], "distill.encoder_batch=7", "students.layers=1")
    course = course_of(done)
    sizes = {
        kind: max(map(len, lesson_for(kind, course, pieces_for(kind, course)).batches(np.random.default_rng(0))))
        for kind in ("bag", "transformer")
    }
    assert sizes == {"bag": 24, "transformer": 7}


def course_of(done):
    """Give what a chain's students learn from."""
    done.run(until="select")
    folders = [done.folder(name) for name in ("data", "teach", "select")]
    project, calibrate = done.project, done.folder("calibrate")
    return Course(
        Prepared.load(folders[0]), project.config, *folders[1:], project.root, done.store, {}, calibrate=calibrate
    )


def test_the_teacher_reads_dev_and_test_once_for_all_students(taught, monkeypatch):
    chain(taught, ["bag"]).run()
    asked = []
    score = FineTunedTeacher.score_cleaned
    monkeypatch.setattr(
        FineTunedTeacher, "score_cleaned", lambda self, texts: asked.append(texts) or score(self, texts)
    )
    figures = chain(taught, ["bag"], "distill.drop_tokens=0.05").run(until="measure")[-1].figures
    assert figures["teacher-partial.test.macro_f1"] > 0.5 and not asked


def test_thresholds_lean_on_the_pool_if_they_may(taught):
    found = {}
    for how in ("pool", "steady"):
        done = chain(taught, ["bag"], f"measure.thresholds={how}")
        done.run()
        found[how] = load_measured(done.folder("measure"))
    for model in ("teacher-partial", "student-bag"):
        assert found["pool"][model]["thresholds"] != found["steady"][model]["thresholds"]


def test_what_was_raised_for_learning_is_lowered_in_the_student(taught):
    done = chain(taught, ["bag"], "distill.balance=0.9")
    done.run(until="distill")
    student = load_distilled(done.folder("distill") / "bag")
    kept = (taught / ".limbeck" / "tasks" / "students").glob("*/trained.safetensors")
    as_learnt = load_file(max(kept, key=lambda file: file.stat().st_mtime))
    assert (as_learnt["head.bias"] - student.network.head.bias > 1).all()
    # Without lowering, nine texts in ten would have every category.
    assert student.predict_proba([text for text, _ in make_texts(200, 78)]).mean() < 0.6


def test_attention_maps_can_be_learnt(taught):
    done = chain(taught, ["transformer"], "students.layers=1", "distill.attention=1", "distill.epochs=3")
    done.run(until="distill")
    assert load_distilled(done.folder("distill") / "transformer").predict_proba(["late"]).shape == (1, 3)


def test_finished_students_are_kept_and_the_same_again(taught, monkeypatch):
    first = chain(taught, ["cnn"])
    first.run(until="distill")
    before = (first.folder("distill") / "cnn" / "weights.safetensors").read_bytes()
    trained = []
    fit = loop.fit
    monkeypatch.setattr("limbeck.distill.train.fit", lambda *given: trained.append(given) or fit(*given))
    both = chain(taught, ["cnn", "bag"], "distill.checkpoint_seconds=5")
    both.run(until="distill")
    assert len(trained) <= 1  # the bag at most
    again = chain(taught, ["cnn"])
    again.run(until="distill", force=False)
    assert (again.folder("distill") / "cnn" / "weights.safetensors").read_bytes() == before


def test_a_killed_training_goes_on_to_the_same_student(taught, tmp_path, monkeypatch):
    whole = copy_of(taught, tmp_path / "whole")
    told = ["distill.checkpoint_seconds=0.000001", "distill.epochs=4"]
    undisturbed = chain(whole, ["cnn"], *told)
    undisturbed.run(until="distill")
    killed = copy_of(taught, tmp_path / "killed")
    step = loop._Run._one_step

    def die(self):
        if self.progress.step == 17 and hasattr(self.job.lesson, "labelled"):
            raise KeyboardInterrupt
        step(self)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(loop._Run, "_one_step", die)
        chain(killed, ["cnn"], *told).run(until="distill")
    resumed = chain(killed, ["cnn"], *told)
    resumed.run(until="distill")
    texts = [text for text, _ in make_texts(40, 9)]
    one, other = (load_distilled(c.folder("distill") / "cnn").predict_proba(texts) for c in (undisturbed, resumed))
    assert np.allclose(one, other, atol=1e-6)


def test_a_student_goes_on_from_its_last_state_when_a_category_is_added(taught, tmp_path):
    folder = copy_of(taught, tmp_path / "p")
    first = chain(folder, ["cnn"])
    first.run(until="distill")
    add_category(folder)
    second = chain(folder, ["cnn"])
    second.run(until="distill")
    found = [json.loads(file.read_text(encoding="utf-8")) for file in _outcomes(folder)]
    assert [outcome["started_from"] is None for outcome in found] == [True, False]
    assert load_distilled(second.folder("distill") / "cnn").labels == ("heat", "kind", "late", "wifi")


def test_another_selection_is_learnt_from_the_beginning(taught, tmp_path):
    folder = copy_of(taught, tmp_path / "p")
    for rows in (0, 60):
        chain(folder, ["bag"], f"pseudo.rows={rows}").run(until="distill")
    found = [json.loads(file.read_text(encoding="utf-8")) for file in _outcomes(folder)]
    assert [outcome["started_from"] for outcome in found] == [None, None]


def test_a_student_that_learnt_a_text_that_now_judges_is_no_start(taught, tmp_path):
    folder = copy_of(taught, tmp_path / "p")
    chain(folder, ["bag"]).run(until="distill")
    add_category(folder)
    learnt = json.loads((folder / "pool.jsonl").read_text(encoding="utf-8").splitlines()[0])["text"]
    with (folder / "test.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps({"text": learnt, "labels": []}) + "\n")
    chain(folder, ["bag"]).run(until="distill")
    found = [json.loads(file.read_text(encoding="utf-8")) for file in _outcomes(folder)]
    assert [outcome["started_from"] for outcome in found] == [None, None]


def _outcomes(folder):
    files = (folder / ".limbeck" / "tasks" / "students").glob("*/outcome.json")
    return sorted(files, key=lambda file: json.loads((file.parent / "manifest.json").read_text())["finished"])


def test_what_cannot_work_says_what_to_set(taught):
    with pytest.raises(TooFewRows, match="nothing for a student to learn"):
        chain(taught, ["bag"], "distill.task=0", "distill.soft=0").run(until="distill")
    with pytest.raises(BadSetting, match="needs files"):
        chain(taught, ["bag"], "students.vectors=files").run(until="distill")
