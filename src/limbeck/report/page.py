"""One HTML page that needs nothing else: no script, no network, light or dark as the reader has it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import cache
from pathlib import Path

from limbeck.report.blocks import Block, Legend, Marked, Picture, Remark, Section, Small, Table
from limbeck.report.charts.frame import mark
from limbeck.report.markup import Markup, element, joined
from limbeck.report.run import Run

STYLE = Path(__file__).with_name("page.css")


def page(run: Run, sections: Sequence[Section]) -> str:
    """Put sections together."""
    title = f"{run.name}: report"
    made = datetime.now().astimezone().strftime("%Y-%m-%d %H:%M")
    links = [element("a", section.title, href=f"#{section.key}") for section in sections]
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    head = joined(
        Markup('<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'),
        Markup(f'<meta http-equiv="Content-Security-Policy" content="{policy}">'),
        Markup('<meta name="color-scheme" content="light dark">'),
        element("title", title),
        element("style", Markup(_style())),
    )
    body = joined(
        element("header", element("h1", run.name), element("p", f"Report of {made}")),
        element("nav", *links),
        element("main", *(_section(section) for section in sections)),
    )
    return f'<!doctype html>\n<html lang="en"><head>{head}</head><body>{body}</body></html>\n'


@cache
def _style() -> str:
    return STYLE.read_text(encoding="utf-8")


def _section(section: Section) -> Markup:
    return element(
        "section",
        element("h2", section.title),
        element("p", section.lead, class_="lead"),
        *_laid_out(section.blocks),
        id=section.key,
    )


def _laid_out(blocks: Sequence[Block]) -> list[Markup]:
    """Put pictures that follow each other side by side; all else has the page's width."""
    found: list[Markup] = []
    beside: list[Markup] = []
    for block in blocks:
        if isinstance(block, Picture):
            beside.append(_picture(block))
            continue
        if beside:
            found.append(element("div", *beside, class_="pictures"))
            beside = []
        found.append(_wide(block))
    if beside:
        found.append(element("div", *beside, class_="pictures"))
    return found


def _wide(block: Small | Table | Remark | Marked) -> Markup:
    if isinstance(block, Small):
        inside = element("div", *block.svgs, class_="small")
        return element("figure", element("h3", block.title), inside, element("figcaption", block.caption))
    if isinstance(block, Table):
        return _table(block)
    return element("p", block.text, class_="remark") if isinstance(block, Remark) else block.inside


def _picture(block: Picture) -> Markup:
    caption = element("figcaption", block.caption) if block.caption else ""
    return element("figure", element("h3", block.title), _legend(block.legend), block.svg, caption)


def _legend(legend: Legend) -> Markup | str:
    if not legend:
        return ""
    items = [
        element("li", element("svg", mark(7, 7, look), viewBox="0 0 14 14", class_="key", aria_hidden="true"), name)
        for look, name in legend
    ]
    return element("ul", *items, class_="legend")


def _table(block: Table) -> Markup:
    head = element("tr", *(element("th", name, scope="col") for name in block.head))
    rows = [element("tr", *(_cell(value) for value in row)) for row in block.rows]
    kind = "texts" if block.texts else None
    table = element(
        "div", element("table", element("thead", head), element("tbody", *rows), class_=kind), class_="table"
    )
    caption = element("p", block.caption, class_="caption") if block.caption else ""
    if block.folded:
        return element("details", element("summary", block.title), table, caption)
    return element("div", element("h3", block.title), table, caption)


def _cell(value: object) -> Markup:
    text = str(value)
    number = bool(text) and all(c in "0123456789.,+-–−%µms×[] kMBG" for c in text)
    return element("td", text, class_="number" if number else None, dir=None if number else "auto")
