"""The search trains what can fit, takes the best inside, proves it on the bundle, and says what is nearest."""

import json
import sys

import pytest
from teaching_project import QUICK, copy_of
from typer.testing import CliRunner

import limbeck
from limbeck.budget import Budget, Candidate, search
from limbeck.budget.limits import FIT
from limbeck.budget.survey import bounds
from limbeck.cli import app
from limbeck.config import load_project
from limbeck.errors import BadSetting, ExtraMissing, RunError
from limbeck.pipeline import Pipeline
from limbeck.runtime.bundle import read_bundle

SETTINGS = [
    *QUICK,
    "encoder.name=encoder",
    "teach.kind=probe",
    "distill.enough=0",
    "distill.steps=40",
    'compress.recipes=["tables", "int8"]',
]


@pytest.fixture(scope="module")
def project(template, tmp_path_factory):
    return copy_of(template, tmp_path_factory.mktemp("fit") / "p")


def found_in(project, budget, kinds=("bag",), sizes=("small", "medium")):
    told = []
    return search(project, budget, SETTINGS, kinds, sizes, told.append), told


def test_the_best_inside_is_taken_and_measured_again(project):
    found, _ = found_in(project, Budget(latency_us=1_000_000, size=50_000_000))
    assert {(one.kind, one.size) for one in found.candidates} == {("bag", "small"), ("bag", "medium")}
    assert found.chosen.f1 == max(one.f1 for one in found.candidates)
    assert found.chosen in found.frontier() and len(found.frontier()) <= len(found.candidates)
    model = limbeck.load(found.bundle)
    assert model.manifest.model.recipe == found.chosen.recipe
    size = sum(file.stat().st_size for file in found.bundle.iterdir())
    assert size == found.checked_bytes == pytest.approx(found.chosen.bytes, rel=0.02)
    kept = json.loads((project / ".limbeck" / FIT).read_text())
    assert kept["chosen"]["recipe"] == found.chosen.recipe and len(kept["candidates"]) == len(found.candidates)


def test_a_limit_of_size_is_kept(project):
    wide, _ = found_in(project, Budget(size=50_000_000))
    sizes = sorted(one.bytes for one in wide.candidates)
    limit = sizes[len(sizes) // 2]
    found, _ = found_in(project, Budget(size=limit))
    inside = [one for one in found.candidates if one.bytes <= limit]
    assert found.checked_bytes <= limit and found.chosen.f1 == max(one.f1 for one in inside)


def test_with_a_least_f1_the_fastest_is_taken(project):
    found, _ = found_in(project, Budget(f1=0.01))
    assert found.chosen.p50_us == min(one.p50_us for one in found.candidates if one.f1 >= 0.01)


def test_what_can_t_fit_is_not_trained(project):
    with pytest.raises(RunError, match="at most 10 kB|at most 0.01 MB") as error:
        found_in(project, Budget(size=10_000))
    assert "MB at the least" in error.value.fix
    trained = list((project / ".limbeck" / "results" / "distill").iterdir())
    told = []
    with pytest.raises(RunError):
        search(project, Budget(latency_us=0.001), SETTINGS, ("cnn",), ("large",), told.append)
    assert any("cnn, large is not trained" in line for line in told)
    assert list((project / ".limbeck" / "results" / "distill").iterdir()) == trained


def test_what_openvino_runs_is_searched_as_well(project, monkeypatch):
    both = [*SETTINGS, 'compress.recipes=["tables"]', 'compress.backends=["onnxruntime", "openvino"]']
    assert {"float@openvino", "static-percentile@openvino"} < set(bounds(load_project(project, both).config))
    found = search(project, Budget(size=50_000_000), both, ("bag",), ("small",))
    tried = {one.recipe: one for one in found.candidates}
    assert {"float@openvino", "tables@openvino", "tables-products@openvino"} < set(tried)
    made = Pipeline(load_project(project, [*both, *tried["tables-4bit@openvino"].settings()]))
    made.run(until="compress")
    model = read_bundle(made.folder("compress") / "bag").manifest.model
    assert (model.recipe, model.backend) == ("tables-4bit@openvino", "openvino")
    monkeypatch.setitem(sys.modules, "openvino", None)
    with pytest.raises(ExtraMissing, match="openvino"):
        search(project, Budget(size=1), both, ("bag",), ("small",))


def test_what_can_t_be_searched_is_told(project):
    with pytest.raises(BadSetting, match="no student 'bga'"):
        found_in(project, Budget(size=1), kinds=("bga",))
    with pytest.raises(BadSetting, match="need a teacher and a pool"):
        search(project, Budget(size=1), [*SETTINGS, "data.pool=[]"], ("bag",))


def test_an_f1_that_nothing_has_names_the_nearest(project):
    with pytest.raises(RunError, match="F1 of at least 1") as error:
        found_in(project, Budget(f1=1.0, size=50_000_000), sizes=("small",))
    assert "The nearest is bag, small" in error.value.fix


def fit(project, *more):
    told = [part for setting in SETTINGS for part in ("--set", setting)]
    return CliRunner().invoke(app, ["fit", "-p", str(project), "--student", "bag", "--size", "small", *told, *more])


def test_the_command_puts_bundle_and_picture_in_place(project):
    done = fit(project, "--max-latency", "1s", "--max-size", "50MB")
    assert done.exit_code == 0, done.output
    assert "Frontier" in done.output and "limbeck run --set" in done.output
    assert limbeck.load(project / "bundle").predict(["the wifi dropped"]) is not None
    assert (project / "fit.svg").read_text(encoding="utf-8").count("<circle") > 2
    told = json.loads(fit(project, "--min-f1", "0.01", "--json", "--out", str(project / "other")).stdout)
    assert told["bundle"].endswith("other") and told["checked_us"] > 0
    settings = [*SETTINGS, *Candidate(**told["chosen"]).settings()]
    page = ["report", "-p", str(project), "--no-bench", *(part for one in settings for part in ("--set", one))]
    report = CliRunner().invoke(app, page)
    assert report.exit_code == 0, report.output
    assert "The budget" in (project / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "told",
    [[], ["--max-size", "big"], ["--max-latency", "3"], ["--min-f1", "1.5"], ["--max-size", "1MB", "--size", "xl"]],
)
def test_a_budget_that_is_none_is_refused(project, told):
    done = CliRunner().invoke(app, ["fit", "-p", str(project), *told])
    assert isinstance(done.exception, BadSetting)
