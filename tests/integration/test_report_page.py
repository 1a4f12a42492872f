"""The report in a real browser: nothing overlaps, nothing runs over, nothing is fetched."""

import pytest
from browsers import PALE, chromium
from tagging_project import tag_pipeline, tagging_project
from teaching_project import pipeline, teaching_project

from limbeck.cli.report import make_report

STUDENTS = ["distill.enough=0", "distill.steps=60", "students.size=small", 'students.kinds=["bag"]']
TITLES = 'data.titles={late="A title that is far too long for the room that a name has beside a chart", wifi="無線"}'
# Texts of a picture that lie on each other, in pixels of the screen.
OVERLAPS = """() => [...document.querySelectorAll("figure svg")].flatMap((svg) => {
  const boxes = [...svg.querySelectorAll("text")].map((text) => [text.textContent, text.getBoundingClientRect()]);
  return boxes.flatMap(([name, a], at) => boxes.slice(at + 1).filter(([, b]) =>
    Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3
  ).map(([other]) => `${svg.querySelector("title").textContent}: ${name} / ${other}`));
})"""
OUTSIDE = """() => [...document.querySelectorAll("figure svg")].filter((svg) => {
  const frame = svg.closest("figure").getBoundingClientRect();
  return [...svg.querySelectorAll("text")].some((text) => {
    const box = text.getBoundingClientRect();
    return box.left < frame.left - 1 || box.right > frame.right + 1;
  });
}).map((svg) => svg.querySelector("title").textContent)"""


@pytest.fixture(scope="module")
def browser():
    yield from chromium()


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reports")
    texts = pipeline(teaching_project(folder / "texts"), "probe", *STUDENTS, TITLES)
    entities = tag_pipeline(tagging_project(folder / "entities"), 'students.kinds=["cnn"]')
    for done in (texts, entities):
        done.run()
    return [make_report(done)[0] for done in (texts, entities)]


@pytest.mark.parametrize(("width", "scheme"), [(400, "dark"), (1400, "light")])
def test_everything_has_its_room(browser, reports, width, scheme):
    for file in reports:
        page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        asked, problems = [], []
        page.on("request", lambda request, asked=asked: asked.append(request.url))
        page.on("console", lambda told, problems=problems: problems.append(told.text))
        page.goto(file.as_uri())
        page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate(OVERLAPS) == [] and page.evaluate(OUTSIDE) == []
        assert page.evaluate(PALE) == []
        assert asked == [file.as_uri()] and problems == []
        paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (paper == "rgb(255, 255, 255)") == (scheme == "light")
        page.close()
