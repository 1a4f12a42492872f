"""A search is part of the report: every trial as a line, what matters, and what it gave on the judging half."""

import json
import re
import shutil

import pytest

from limbeck.cli.report import make_report
from limbeck.config import load_project
from limbeck.pipeline import Pipeline
from limbeck.report.charts import Axis, Look, Strand, parallel, positions
from limbeck.tune import tune


@pytest.fixture(scope="module")
def tuned(texts_run, tmp_path_factory):
    """Give the finished run with its settings, tuned, and the page."""
    done, _ = texts_run
    folder = tmp_path_factory.mktemp("tuned") / "p"
    shutil.copytree(done.project.root, folder)
    config = done.project.config.model_dump(mode="json")
    told = [f"{section}={json.dumps(values)}" for section, values in config.items() if not isinstance(values, dict)]
    told += [
        f"{section}.{name}={json.dumps(value)}"
        for section, values in config.items()
        if isinstance(values, dict)
        for name, value in values.items()
        if name != "titles"
    ]
    titles = ", ".join(f"{name}={json.dumps(title)}" for name, title in config["data"]["titles"].items())
    told.append(f"data.titles={{{titles}}}")
    found = tune(folder, "baselines", told, trials=7, seconds=0)
    page = make_report(Pipeline(load_project(folder, told)), bench=False)[0]
    return found, page.read_text(encoding="utf-8")


def test_the_report_shows_the_trials_and_what_matters(tuned):
    found, html = tuned
    section = re.search(r'<section id="tuning">.*?</section>', html, re.DOTALL)[0]
    assert "Trials of baselines" in section and "What matters for baselines" in section
    lines = re.findall(r'<path class="line [^>]*|<path [^>]*class="line [^"]*"', section)
    assert len(lines) == len(found.trials) == 7
    assert f"{found.best.score:.3f}" in section and "logreg_words" in section
    assert "All trials of baselines" in section
    assert not re.search(r'="[^"]*\b(?:nan|inf|None)\b[^"]*"', section)


def test_a_strand_goes_through_the_places_of_its_values():
    axes = [Axis("rate", 0.001, 0.1, log=True), Axis("size", one_of=("small", "medium", "large")), Axis("F1", 0.5, 0.9)]
    values = {"rate": 0.01, "size": "medium", "F1": None}
    places = [positions(axis, values) for axis in axes]
    assert places == [0.01, 1.0, None]
    svg = parallel("trials", axes, [Strand(places, Look("bundle"), "trial 1")])
    [path] = re.findall(r'd="(M[^"]*)"', svg)
    first, second = (float(x) for x in re.findall(r"[ML]([0-9.]+) ", path))
    # The middle of an axis whose values are powers of ten, and of one with three values side by side.
    assert first == second and svg.count("<circle") == 2


def test_equal_scores_and_values_that_an_axis_lacks_are_drawn():
    axes = [Axis("size", one_of=("small",)), Axis("F1", 0.5, 0.5)]
    assert positions(axes[0], {"size": "huge"}) is None
    svg = parallel("trials", axes, [Strand([None, 0.5], Look("quiet"), "trial 0", faint=True)])
    assert "nan" not in svg and 'd="M' in svg
