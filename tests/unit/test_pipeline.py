"""The chain: does what is out of date, says why, and keeps what is finished."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from limbeck.config import load_project
from limbeck.errors import BrokenRow, DataError, InputChanged, ProjectBusy, TooFewRows, UnknownStep
from limbeck.pipeline import Pipeline, config_of
from limbeck.store import Store


def pipeline(folder: Path, *overrides: str) -> Pipeline:
    return Pipeline(load_project(folder, overrides))


def run(folder: Path, *overrides: str, **options) -> list[tuple[str, str]]:
    events: list[tuple[str, str]] = []
    pipeline(folder, *overrides).run(on_step=lambda state, event: events.append((state.step.name, event)), **options)
    return events


def states(folder: Path, *overrides: str) -> dict[str, tuple[str, tuple[str, ...]]]:
    return {s.step.name: (s.state, s.why) for s in pipeline(folder, *overrides).status()}


ALL = [(name, event) for name in ("data", "baselines", "measure") for event in ("start", "done")]
NER = 'task = "ner"\n[teach]\nkind = "none"\n'
FRESH = [(name, "fresh") for name in ("data", "baselines", "measure")]


def test_a_second_run_has_nothing_to_do(project_folder):
    assert states(project_folder)["data"] == ("missing", ("never run",))
    assert run(project_folder) == ALL
    assert run(project_folder) == FRESH
    assert {state for state, _ in states(project_folder).values()} == {"done"}
    assert run(project_folder, force=True) == ALL


def test_a_changed_setting_makes_stale_what_it_touches_and_says_so(project_folder):
    run(project_folder)
    found = states(project_folder, "measure.rounds=200")
    assert found["baselines"][0] == "done"
    assert found["measure"] == ("stale", ("measure.rounds changed: 100 → 200",))
    found = states(project_folder, "split.folds=2")
    assert found["data"] == ("stale", ("split.folds changed: 3 → 2",))
    assert found["baselines"] == ("stale", ("step data changes",))


def test_settings_of_baselines_touch_a_teacher_only_if_it_is_one(project_folder):
    def keys(*overrides: str) -> dict[str, str]:
        return {state.step.name: state.key for state in pipeline(project_folder, *overrides).status()}

    trials = "baselines.trials=3"
    assert keys("teach.kind=probe")["teach"] == keys("teach.kind=probe", trials)["teach"]
    assert keys("teach.kind=xgboost")["teach"] != keys("teach.kind=xgboost", trials)["teach"]
    assert keys("teach.kind=probe")["baselines"] != keys("teach.kind=probe", trials)["baselines"]
    word_student = 'students.kinds=["xgboost"]'
    assert (
        keys("teach.kind=probe", word_student)["distill"] != keys("teach.kind=probe", word_student, trials)["distill"]
    )


def test_a_changed_file_makes_everything_stale_but_only_its_category_is_trained_again(project_folder):
    run(project_folder)
    tasks = project_folder / ".limbeck" / "tasks" / "baselines"
    before = set(tasks.iterdir())
    assert len(before) == 3
    with (project_folder / "labels" / "heat.csv").open("a", encoding="utf-8") as file:
        file.write("a new complaint about the draught,1\n")
    assert states(project_folder)["data"] == ("stale", ("file labels/heat.csv changed",))
    assert run(project_folder) == ALL
    assert len(set(tasks.iterdir()) - before) == 1


def test_going_back_to_old_settings_finds_the_old_result(project_folder):
    run(project_folder)
    run(project_folder, "measure.rounds=200")
    assert run(project_folder) == FRESH


def test_a_damaged_result_is_made_again(project_folder):
    run(project_folder)
    folder = pipeline(project_folder).folder("measure")
    (folder / "tfidf-logreg" / "figures.json").write_text("{}", encoding="utf-8")
    assert states(project_folder)["measure"][0] == "stale"
    assert run(project_folder)[-1] == ("measure", "done")
    assert json.loads((folder / "tfidf-logreg" / "figures.json").read_text(encoding="utf-8"))["labels"]


def test_half_written_folders_of_a_killed_run_are_swept_and_never_read(project_folder):
    left = project_folder / ".limbeck" / "tmp" / "results-data-x-1"
    left.mkdir(parents=True)
    (left / "train.parquet").write_bytes(b"half")
    run(project_folder, until="data")
    assert not left.exists()


def test_every_result_holds_the_whole_configuration(project_folder):
    run(project_folder, "seed=7", until="data")
    chain = pipeline(project_folder, "seed=7")
    manifest = chain.store.manifest("results/data", chain.status()[0].key)
    assert config_of(manifest) == chain.project.config and manifest["config"]["seed"] == 7


def test_a_file_that_changes_while_it_is_read_gives_an_error_and_no_result(project_folder):
    file = project_folder / "labels" / "heat.csv"
    before = file.read_bytes()

    chain = pipeline(project_folder)
    step = chain.steps[0]

    def read_then_meddle(context):
        figures = step.run(context)
        file.write_bytes(before + b"something new,1\n")
        return figures

    chain.steps = (replace(step, run=read_then_meddle), *chain.steps[1:])
    with pytest.raises(InputChanged, match="labels/heat.csv changed while it was read"):
        chain.run()
    assert not (project_folder / ".limbeck" / "results").exists()
    assert run(project_folder) == ALL


def test_force_trains_again_what_was_trained(project_folder):
    run(project_folder)
    tasks = sorted((project_folder / ".limbeck" / "tasks" / "baselines").iterdir())
    before = [json.loads((t / "manifest.json").read_text(encoding="utf-8"))["finished"] for t in tasks]
    run(project_folder, force=True)
    after = [json.loads((t / "manifest.json").read_text(encoding="utf-8"))["finished"] for t in tasks]
    assert all(new > old for new, old in zip(after, before, strict=True))


def test_settings_that_a_step_does_not_read_leave_it_alone(project_folder):
    run(project_folder)
    assert states(project_folder, 'data.titles={ heat = "Heat" }', "data.pool=[]")["data"][0] == "done"


def test_dev_that_is_all_in_test_says_so(project_folder):
    (project_folder / "dev.jsonl").write_bytes((project_folder / "test.jsonl").read_bytes())
    with pytest.raises(
        TooFewRows, match=r"The dev set has 0 distinct texts after 80 of 80 rows were left out that also stand in test"
    ):
        run(project_folder)


def test_until_stops_and_an_unknown_step_is_an_error(project_folder):
    assert run(project_folder, until="data") == ALL[:2]
    with pytest.raises(UnknownStep, match="Did you mean 'measure'"):
        run(project_folder, until="mesure")


def test_two_runs_exclude_each_other(project_folder):
    with Store(project_folder / ".limbeck").lock(), pytest.raises(ProjectBusy, match="Another run holds this project"):
        run(project_folder)


BAD_INPUT = {
    "a missing column": ("labels/heat.csv", b"words,label\na,1\n", "L203", 2),
    "an unknown label": ("dev.jsonl", b'{"text": "a", "labels": ["haet"]}\n', "L205", 1),
    "a label that is neither 0, 1 nor blank": ("labels/heat.csv", b"text,label\na,1\nodd,perhaps\n", "L204", 3),
    "an empty file": ("labels/heat.csv", b"", "L202", None),
    "broken UTF-8": ("test.jsonl", b'{"text": "a", "labels": []}\n{"text": "\xff", "labels": []}\n', "L206", 2),
    "a line of 10 MB": ("labels/heat.csv", b"text,label\n" + b"a" * 10_000_000 + b",1\n", "L207", 2),
    "a missing file": ("dev.jsonl", None, "L201", None),
}


@pytest.mark.parametrize("what", BAD_INPUT)
def test_bad_input_stops_the_run_with_code_file_and_line_and_writes_nothing(project_folder, what):
    name, content, code, line = BAD_INPUT[what]
    file = project_folder / name
    file.unlink() if content is None else file.write_bytes(content)
    with pytest.raises(DataError) as caught:
        run(project_folder)
    assert (caught.value.code, caught.value.place.file, caught.value.place.line) == (code, file, line)
    assert not (project_folder / ".limbeck" / "results").exists()
    assert not list((project_folder / ".limbeck").glob("tmp/*"))


def test_a_conll_line_with_a_missing_column_stops_the_run_and_writes_nothing(tmp_path):
    for name in ("train", "dev", "test"):
        (tmp_path / f"{name}.conll").write_text("In O\nBonn B-LOC\n\nAnna\n", encoding="utf-8")
    (tmp_path / "limbeck.toml").write_text(NER, encoding="utf-8")
    with pytest.raises(BrokenRow, match=r"\[L208\] .*train.conll:4"):
        run(tmp_path)
    assert not (tmp_path / ".limbeck" / "results").exists()


def test_a_missing_file_is_a_reason_not_a_crash(project_folder):
    (project_folder / "dev.jsonl").unlink()
    assert states(project_folder)["data"][0] == "missing"
    assert "dev.jsonl" in states(project_folder)["data"][1][0]


def test_ner_projects_are_read_and_split_without_overlap(tmp_path):
    for name in ("train", "dev", "test"):
        sentences = "".join(f"In O\n{name}{i} B-LOC\n\n" for i in range(12)) + "In O\nBonn B-LOC\n\n"
        (tmp_path / f"{name}.conll").write_text(sentences, encoding="utf-8")
    (tmp_path / "limbeck.toml").write_text(NER, encoding="utf-8")
    assert run(tmp_path) == ALL[:2]
    figures = pipeline(tmp_path).status()[0].figures
    assert (figures["train_sentences"], figures["dev_sentences"], figures["test_sentences"]) == (12, 12, 13)
    assert (figures["dropped_from_train"], figures["dropped_from_dev"]) == (1, 1)


def test_ner_types_that_are_not_wanted_become_o_if_they_are_ignored(tmp_path):
    for name in ("train", "dev", "test"):
        sentences = "".join(f"{name}{i} B-LOC\nAnna{i} B-PER\n\n" for i in range(12))
        (tmp_path / f"{name}.conll").write_text(sentences, encoding="utf-8")
    (tmp_path / "limbeck.toml").write_text(NER, encoding="utf-8")
    run(tmp_path, 'data.categories=["LOC"]', 'data.unknown_labels="ignore"')
    folder = pipeline(tmp_path, 'data.categories=["LOC"]', 'data.unknown_labels="ignore"').folder("data")
    for name in ("train", "dev", "test"):
        assert all(
            s["tags"] == ["B-LOC", "O"] for s in json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
        )


def test_multiclass_projects_run_to_the_figures(tmp_path):
    for name, count in (("train", 40), ("dev", 30), ("test", 30)):
        rows = [
            f"the {'bus' if i % 2 else 'train'} number {name}{i} came,{'bus' if i % 2 else 'train'}"
            for i in range(count)
        ]
        (tmp_path / f"{name}.csv").write_text("text,label\n" + "\n".join(rows), encoding="utf-8")
    (tmp_path / "limbeck.toml").write_text(
        'task = "multiclass"\n[data]\nlabels = ["train.csv"]\ndev = "dev.csv"\ntest = "test.csv"\n[baselines]\nkinds = ["tfidf-logreg"]\n[teach]\nkind = "none"\n',
        encoding="utf-8",
    )
    assert run(tmp_path, "compress.baselines=false") == ALL
    assert pipeline(tmp_path, "compress.baselines=false").status()[-1].figures["tfidf-logreg.test.macro_f1"] == 1.0
